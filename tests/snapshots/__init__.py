"""The output of views, pages, reports and commands for a few runs, kept as text so that a change shows in a diff."""
