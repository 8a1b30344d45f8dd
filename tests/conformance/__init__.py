"""Judges that others wrote: what they say about our parts, run by `make conformance`."""
