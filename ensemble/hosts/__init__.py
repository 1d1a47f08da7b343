"""Several hosts as one program: who is there, what they tell each other, how they end together.

One process a host takes part, by `jax.distributed`. Process 0 leads: it alone decides and writes.
It tells the others what to do next by messages of its own (`wire`), since a collective gives up on
whoever comes half a minute late; collectives are left to the figures of all devices.
"""

from ensemble.hosts.company import Company, current, together
from ensemble.hosts.joining import asked, joined

__all__ = ["Company", "asked", "current", "joined", "together"]
