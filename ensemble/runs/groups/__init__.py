"""A run whose members are shared out: each group of them is trained by a task of its own.

Members exchange nothing while they learn. So a group has its own folder with its own checkpoints,
predictions and history (group.py), and a task that trains it and nothing else (worker.py), here or
on a cluster (tasks.py). The run's own worker trains nothing: it sees to it that every group has a
task and passes Stop on (coordinator.py), and merges what the groups have written (merging.py).
"""
