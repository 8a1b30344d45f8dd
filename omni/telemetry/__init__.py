"""What the platform says about itself: structured logs from which secrets are removed."""
