"""Operations of HTTP APIs as tools: OpenAPI documents compiled, calls sent, answers checked."""
