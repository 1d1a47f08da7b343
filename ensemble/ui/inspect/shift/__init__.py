"""Views on images unlike those of training."""
