"""How well a person's pictures are read, on photographs that are rendered here."""
