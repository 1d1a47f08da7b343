"""The two arms in which images are labelled: what they are called."""

NO_ARM, CHOSEN_ARM, RANDOM_ARM, BOTH_ARMS = "", "chosen", "random", "both"
