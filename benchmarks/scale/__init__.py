"""What a run in many groups costs besides its training, and what that comes to on a cluster."""
