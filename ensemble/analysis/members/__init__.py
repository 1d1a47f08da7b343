"""What members are to each other: disagreement, diversity, gain, committees, combining."""
