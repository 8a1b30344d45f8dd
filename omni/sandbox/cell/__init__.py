"""What runs on the other side; started without packages, it imports the standard library only."""
