"""How fast training is, beside other libraries and other training loops."""
