"""Slurm's own words for why a task waits, or was refused, in words that say what to do."""

# Slurm's code of a reason to wait: what it means to whoever waits.
_WAIT_REASONS = {
    "None": "",
    "Resources": "no node is free",
    "Priority": "other tasks come first",
    "BeginTime": "it is started again within two minutes",
    "Dependency": "it waits for another task",
    "JobHeldUser": "it is held: scontrol release frees it",
    "JobHoldMaxRequeue": "it was restarted too often and is held: scontrol release frees it",
    "launch failed requeued held": ("it could not be started and is held: scontrol release frees it"),
    "JobHeldAdmin": "an administrator of the cluster holds it",
    "JobArrayTaskLimit": "its limit of running tasks is reached",
    "PartitionDown": "the partition accepts no tasks now",
    "PartitionInactive": "the partition accepts no tasks now",
    "PartitionTimeLimit": "it asks for more time than the partition allows",
    "PartitionNodeLimit": "it asks for more nodes than the partition allows",
    "PartitionConfig": "the partition does not have what it asks for",
    "NodeDown": "a node that it needs is down",
    "ReqNodeNotAvail": "a node that it needs is not available",
    "Licenses": "a licence is not free",
    "Reservation": "its reservation has not started",
    "QOSMaxJobsPerUserLimit": "your limit of running tasks is reached",
    "QOSMaxCpuPerUserLimit": "your limit of CPUs is reached",
    "QOSMaxGRESPerUser": "your limit of GPUs is reached",
    "AssocGrpCpuLimit": "your account's limit of CPUs is reached",
    "AssocGrpGRES": "your account's limit of GPUs is reached",
    "AssocMaxJobsLimit": "your limit of running tasks is reached",
    (
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
    ): "nodes that it needs are down, or reserved for others",
}

# Slurm's word for a task that has a node and does nothing: what it means.
PAUSE_REASONS = {
    "SUSPENDED": "suspended by Slurm: scontrol resume lets it go on",
    "STOPPED": "stopped by Slurm: scancel --signal=CONT lets it go on",
}

# What stands in a refusal: what to do.
_REFUSAL_REMEDIES = {
    "Invalid partition": "Choose a partition that sinfo names.",
    "Invalid account": "Choose an account that you may use, or none.",
    "Invalid qos": "Choose another --qos, or none.",
    "Invalid feature": "Choose a --constraint that sinfo lists, or none.",
    "partition not available": "Choose another partition, or wait until this one is up.",
    "job submit limit": "Your account allows fewer tasks at once: use fewer groups or workers, or wait.",
    "time limit": "Ask for less time.",
    "job array": "The cluster accepts fewer tasks at once: use fewer groups or workers.",
    "Memory specification": "Ask for less memory.",
    "generic resource": "Ask for no more GPUs on a node than the cluster has.",
    "TRES": "Ask for no more GPUs on a node than the cluster has.",
    "CPU count": "Ask for fewer CPUs.",
    "configuration is not available": "Ask for fewer CPUs, less memory or fewer nodes.",
    "Access/permission denied": "These tasks belong to another user.",
    "Job violates accounting": "Ask for less, or wait until other tasks of yours have ended.",
    "Unable to contact": "Try again later, or ask whoever runs the cluster.",
    "timed out": "Try again later, or ask whoever runs the cluster.",
}


def describe_wait_reason(words: str) -> str:
    """Why a task waits; what is not known here as Slurm has it."""
    words = words.strip().strip("()")
    code = words.partition(",")[0].partition(" ")[0]
    return _WAIT_REASONS.get(words, _WAIT_REASONS.get(code, words))


def find_refusal_remedy(words: str) -> str:
    """What to do about a refusal; "" if that is not known."""
    lower = words.lower()
    return next((says for part, says in _REFUSAL_REMEDIES.items() if part.lower() in lower), "")
