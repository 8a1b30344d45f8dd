"""Operations of HTTP APIs as tools."""
