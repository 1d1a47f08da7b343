"""What stands around every screen: its mark, its style, the drawer of a phone."""
