"""What is SHARED: the highest app floor, above apps.runs."""
