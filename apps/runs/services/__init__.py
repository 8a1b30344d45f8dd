"""What changes rows of the runs app."""
