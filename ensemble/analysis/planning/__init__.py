"""How many members for how many epochs: what committees of every size come to at each epoch."""
