"""Attacks that may lose nothing: kills, uploads, sessions, launches, a full disk, clock steps."""
