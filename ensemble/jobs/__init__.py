"""Jobs of every kind: status and heartbeat, queue, worker, launch, stop, the warm worker."""
