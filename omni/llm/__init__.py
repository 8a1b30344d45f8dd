"""Language models behind one interface; so far, whether the configured endpoint answers."""
