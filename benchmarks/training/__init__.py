"""Whether training comes out right, and what it takes."""
