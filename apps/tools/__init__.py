"""What MAY be done: secrets by reference now; manifests and policies build on them."""
