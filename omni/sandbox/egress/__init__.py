"""What may leave: addresses that are checked before anything connects to them."""
