"""Attacks that may lose nothing: kills, uploads, sessions, launches, disks, clock steps."""
