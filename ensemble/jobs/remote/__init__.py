"""A job that one task on a cluster does: submitted, followed and mirrored by its worker here.

The task runs the same hidden command as a worker of this machine would, and keeps its own status,
lock and stop file in the job's folder `task` (task_process.py). The job's worker here submits it,
or finds the one that is there (task_record.py), and is the only writer of the job's status
(follower.py).
"""
