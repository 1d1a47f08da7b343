"""What several runs, or trials of a sweep, come to: their curves, settings against figures."""
