"""Servers that speak the Model Context Protocol: reached, catalogued, distrusted."""
