"""Tests in a real browser: a package, whose fixtures end with it."""
