"""Training on the screen Numbers: the table, its settings, the launch, and what is drawn live."""
