"""Plan: how many members for how many epochs, from what a run has kept."""
