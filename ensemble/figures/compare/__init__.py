"""What several runs come to beside each other: their curves, and settings against figures."""
