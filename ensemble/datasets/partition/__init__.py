"""Which training images a member learns from: validation, folds, and what is left for a batch."""
