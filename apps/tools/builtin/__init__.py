"""Tools that come with the platform: plain functions, each behind a manifest of its own."""
