"""Slurm's own words for why a task waits, or was refused, in words that say what to do."""

# Slurm's code of a reason to wait: what it means to whoever waits.
WAIT_REASONS = {
    "None": "",
    "Resources": "no node is free",
    "Priority": "others come first",
    "BeginTime": "it is started again within two minutes",
    "Dependency": "it comes after another task",
    "JobHeldUser": "it is held: scontrol release lets it go",
    "JobHoldMaxRequeue": "it was started too often and is held: scontrol release lets it go",
    "launch failed requeued held": (
        "it could not be started and is held: scontrol release lets it go"
    ),
    "JobHeldAdmin": "whoever runs the cluster holds it",
    "JobArrayTaskLimit": "as many of its tasks work as may at once",
    "PartitionDown": "the partition takes no tasks now",
    "PartitionInactive": "the partition takes no tasks now",
    "PartitionTimeLimit": "it asks for more time than the partition gives",
    "PartitionNodeLimit": "it asks for more nodes than the partition gives",
    "PartitionConfig": "the partition has not what it asks for",
    "NodeDown": "a node that it needs is down",
    "ReqNodeNotAvail": "a node that it needs is not available",
    "Licenses": "a licence is not free",
    "Reservation": "its reservation has not begun",
    "QOSMaxJobsPerUserLimit": "as many of your tasks work as may at once",
    "QOSMaxCpuPerUserLimit": "you use as many CPUs as you may",
    "QOSMaxGRESPerUser": "you use as many GPUs as you may",
    "AssocGrpCpuLimit": "your account uses as many CPUs as it may",
    "AssocGrpGRES": "your account uses as many GPUs as it may",
    "AssocMaxJobsLimit": "as many of your tasks work as may at once",
    (
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
        "partitions"
    ): "nodes that it needs are down, or reserved for others",
}

# What stands in a refusal: what to do.
REFUSAL_REMEDIES = {
    "Invalid partition": "Choose a partition that sinfo names.",
    "Invalid account": "Choose an account that you may charge, or none.",
    "Invalid qos": "Choose an account that may use this partition.",
    "time limit": "Ask for less time.",
    "job array": "The cluster takes fewer tasks at once: use fewer groups.",
    "Memory specification": "Ask for less memory.",
    "generic resource": "Ask for as many GPUs on a node as the cluster has.",
    "TRES": "Ask for as many GPUs on a node as the cluster has.",
    "CPU count": "Ask for fewer CPUs.",
    "configuration is not available": "Ask for fewer CPUs, less memory or fewer nodes.",
    "Access/permission denied": "These are not yours.",
    "Job violates accounting": "Ask for less, or wait until others of your tasks have ended.",
    "Unable to contact": "Try again in a while, or ask who runs the cluster.",
    "timed out": "Try again in a while, or ask who runs the cluster.",
}


def describe_wait_reason(words: str) -> str:
    """Why a task waits; what is not known here as Slurm has it."""
    words = words.strip().strip("()")
    code = words.partition(",")[0].partition(" ")[0]
    return WAIT_REASONS.get(words, WAIT_REASONS.get(code, words))


def find_refusal_remedy(words: str) -> str:
    """What to do about a refusal; "" where that is not known."""
    lower = words.lower()
    return next((says for part, says in REFUSAL_REMEDIES.items() if part.lower() in lower), "")
