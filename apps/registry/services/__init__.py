"""What changes rows of the registry: one file per noun, one transaction per function."""
