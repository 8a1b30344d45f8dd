"""What changes and finds memories."""
