"""An ensemble that answers over HTTP: concurrent requests in batches, limits, and a token."""
