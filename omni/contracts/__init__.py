"""Shapes that other processes, versions and languages read; the lowest floor of the house."""
