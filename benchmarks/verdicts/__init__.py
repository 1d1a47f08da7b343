"""How often each verdict of the app is wrong, by simulation."""
