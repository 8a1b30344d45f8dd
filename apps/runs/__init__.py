"""What HAPPENS: the workers and beat that execute runs, and whether they are alive."""
