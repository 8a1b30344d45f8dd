"""Live streams: what is logged reaches every reader once and in order, whatever fails between."""
