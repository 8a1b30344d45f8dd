"""`omni` as people and scripts use it."""
