"""A run that was recorded, for screens that have none yet: never among a person's own."""
