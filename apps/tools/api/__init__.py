"""The tools app's door for programs."""
