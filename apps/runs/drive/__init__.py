"""Carries out what the engine decides: under a lease, intent first, every result an event."""
