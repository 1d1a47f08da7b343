"""Encoded pictures, in files or within larger ones: decoded, surveyed."""
