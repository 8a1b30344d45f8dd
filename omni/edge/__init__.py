"""What every request passes: limits, ids, headers, clean errors, health and metrics."""
