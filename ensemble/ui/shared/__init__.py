"""What screens share: the address, panels, loaders, the theme."""
