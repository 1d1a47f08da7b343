"""Networks of a person's own: brought to a module, checked, advised against what harms them."""
