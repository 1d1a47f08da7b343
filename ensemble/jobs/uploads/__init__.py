"""What people hand in on the page: read by a process of its own, looked at, then added."""
