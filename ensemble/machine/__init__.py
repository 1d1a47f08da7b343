"""The machine: its processor, its devices, and what JAX is told before it starts."""
