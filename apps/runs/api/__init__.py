"""The runs app's door for programs."""
