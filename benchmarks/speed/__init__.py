"""How fast training is, beside other libraries and other ways."""
