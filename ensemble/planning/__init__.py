"""What a run's own predictions say of cheaper ones: fewer members, or fewer epochs."""
