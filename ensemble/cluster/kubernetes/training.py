"""The Indexed Job that trains a run: one index, and so one pod at a time, a group of members."""

from dataclasses import dataclass

from ensemble.cluster.kubernetes.pods import (
    CONTAINER_NAME,
    Resource,
    build_component_labels,
    build_container_environment,
    build_pod_spec,
)
from ensemble.cluster.kubernetes.settings import KubernetesConfig

# Each submission has a number of its own here: so a pod that is started again can tell a Stop that
# was meant for it from one that the person who applied the manifest again has done with.
SUBMISSION_VARIABLE = "ENSEMBLE_SUBMISSION"
_SUBMISSION_LABEL = "metadata.labels['batch.kubernetes.io/controller-uid']"
# What no second try would mend: a bad value, and numbers that diverge (`ensemble.cli.program`).
_EXIT_REFUSED, EXIT_DIVERGED = 2, 3


@dataclass(frozen=True)
class TrainingSpec:
    """What the pods are to train.

    Attributes:
      run_id: of the run, which the first pod makes.
      groups: how many groups of members it has.
      arguments: its settings, as words of the command line.
      networks: of a person's own, whose code the pods may import, separated by commas.
    """

    run_id: str
    groups: int
    arguments: tuple[str, ...]
    networks: str = ""


def build_training_job(config: KubernetesConfig, training: TrainingSpec) -> Resource:
    """The Job; fields as of batch/v1 from Kubernetes 1.29 on."""
    marks = {**config.job_labels, **build_component_labels(config, "training")}
    metadata: Resource = {"labels": marks}
    if config.annotation:
        metadata["annotations"] = config.job_annotations
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": config.name, **metadata},
        "spec": {
            "completionMode": "Indexed",
            "completions": training.groups,
            "parallelism": training.groups,
            "backoffLimitPerIndex": config.retries,
            # One group that has failed for good does not end the others.
            "maxFailedIndexes": training.groups,
            # Two pods at one group would only wait for each other.
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {"rules": _build_failure_rules()},
            "template": {
                "metadata": metadata,
                "spec": {
                    # A policy for failures asks for it: a new pod each time, on any node.
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": config.grace,
                    **({"nodeSelector": config.node_labels} if config.node_selector else {}),
                    **({"tolerations": config.tolerations} if config.toleration else {}),
                    **({"priorityClassName": config.priority_class} if config.priority_class else {}),
                    **build_pod_spec(config, _build_training_container(config, training)),
                },
            },
        },
    }


def _build_failure_rules() -> list[Resource]:
    """Which failures count as one of the retries: neither a lost node nor what none would mend."""
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {
            "action": "FailJob",
            "onExitCodes": {"containerName": CONTAINER_NAME, "operator": "In", "values": [_EXIT_REFUSED]},
        },
        {
            "action": "FailIndex",
            "onExitCodes": {"containerName": CONTAINER_NAME, "operator": "In", "values": [EXIT_DIVERGED]},
        },
    ]


def _build_training_container(config: KubernetesConfig, training: TrainingSpec) -> Resource:
    cards = {config.gpu_resource: str(config.gpus)} if config.gpus else {}
    disk = config.ephemeral_storage
    room = {"ephemeral-storage": f"{disk}Gi"} if disk else {}
    # As much as at most: whoever gets cores of their own has members pinned to them.
    resources = {"cpu": str(config.cpus), "memory": f"{config.memory}Gi", **cards, **room}
    submission = {"name": SUBMISSION_VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": _SUBMISSION_LABEL}}}
    return {
        "command": ["python", "-P", "-m", "ensemble", "work-pod", training.run_id, *training.arguments],
        "env": [*build_container_environment(config.cpus, training.networks), submission],
        "resources": {"requests": resources, "limits": resources},
    }
