"""The screen Devices."""
