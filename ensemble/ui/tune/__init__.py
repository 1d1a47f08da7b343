"""Tune: a sweep is set up, launched, watched, and its best settings used."""
