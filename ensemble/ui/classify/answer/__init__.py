"""What the ensemble says of a picture."""
