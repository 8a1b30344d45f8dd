"""Omni: a self-hosted platform for AI agents that people can trust with real work."""

__version__ = "0.1.0"
