"""Files from outside: one reader for each kind of content, used by every entry point."""
