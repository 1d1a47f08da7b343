"""The commands that ask what a run is worth: plans."""
