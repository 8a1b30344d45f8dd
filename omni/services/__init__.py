"""Embedded PostgreSQL and Valkey, and the supervisor that runs every process of an installation.

Nothing here imports Django: these modules run before it can.
"""
