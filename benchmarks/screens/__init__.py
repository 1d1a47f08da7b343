"""How long a person waits: screens in a real browser."""
