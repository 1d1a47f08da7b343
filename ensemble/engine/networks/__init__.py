"""Networks, a file an architecture, and the forms of their layers that a CPU does fastest."""
