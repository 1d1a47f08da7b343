"""Tables of pixels, a row a picture."""
