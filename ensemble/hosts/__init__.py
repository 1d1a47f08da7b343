"""Several hosts as one program: who is there, what they tell each other, how they end together.

One process a host takes part, by `jax.distributed`. Process 0 leads: it alone decides and writes.
It tells the others what to do next by messages of its own (`wire`), since a collective gives up on
whoever comes half a minute late; collectives are left to the figures of all devices.
"""

from ensemble.hosts.distributed_session import is_distributed_requested, join_process_group
from ensemble.hosts.process_group import ProcessGroup, get_process_group, guard_current_collective

__all__ = [
    "ProcessGroup",
    "get_process_group",
    "guard_current_collective",
    "is_distributed_requested",
    "join_process_group",
]
