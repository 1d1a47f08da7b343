"""How right an ensemble will be on images that nobody has labelled, and when that can be told."""
