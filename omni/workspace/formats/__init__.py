"""How dates and times read."""
