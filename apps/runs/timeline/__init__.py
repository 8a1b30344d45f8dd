"""A run's events as people read them; a reload and the live stream use the same rendering."""
