"""What the figures of an ensemble come to, in sentences: each carried by its interval."""
