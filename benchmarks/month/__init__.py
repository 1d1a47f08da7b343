"""A folder as a month of work leaves it, and the app opened on it."""
