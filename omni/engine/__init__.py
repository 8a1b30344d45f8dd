"""The pure heart: what happened goes in, what to do next comes out. No clock, no database."""
