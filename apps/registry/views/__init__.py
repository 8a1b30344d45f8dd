"""The registry's pages, one file per noun."""
