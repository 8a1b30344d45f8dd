"""The pages of runs, one file per noun."""
