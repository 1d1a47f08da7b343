"""What a run draws at random: its keys, the order of its images, and how they are moved."""
