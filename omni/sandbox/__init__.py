"""Isolation of what agents run; so far, which kind this machine can offer."""
