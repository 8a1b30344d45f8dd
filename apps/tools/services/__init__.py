"""What changes rows of the tools app."""
