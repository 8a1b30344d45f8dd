"""Isolation of what agents run: `job` is the door, `cell` is what runs on the other side of it."""
