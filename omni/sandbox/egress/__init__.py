"""What leaves the platform for the network: which hosts and addresses, and how."""
