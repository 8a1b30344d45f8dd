"""What is REMEMBERED: the floor beside apps.tools, below apps.runs."""
