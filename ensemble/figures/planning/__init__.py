"""Plans: what they come to, what they lose, and what predictions are worth in members."""
