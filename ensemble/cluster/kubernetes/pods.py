"""What all pods have in common: where they keep things, as whom they run, what they may do."""

from typing import Any

from ensemble.architectures import NETWORKS_VARIABLE
from ensemble.cluster.kubernetes.settings import KubernetesConfig

Resource = dict[str, Any]

_RUNS_MOUNT, _DATA_MOUNT, _TEMPORARY_MOUNT = "/runs", "/data", "/tmp"
CONTAINER_NAME = "ensemble"


def build_component_labels(config: KubernetesConfig, component: str) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "ensemble",
        "app.kubernetes.io/instance": config.name,
        "app.kubernetes.io/component": component,
    }


def build_pod_spec(config: KubernetesConfig, container: Resource) -> Resource:
    """A pod of one container, which is no root, has no token and can write its volumes only.

    Args:
      config: what is asked for.
      container: what is peculiar to it: `command`, `resources` and so on.
    """
    secrets = [{"name": config.pull_secret}] if config.pull_secret else []
    return {
        "automountServiceAccountToken": False,
        # Else a Service of this name would set variables that begin like those of this program.
        "enableServiceLinks": False,
        **({"imagePullSecrets": secrets} if secrets else {}),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": config.user,
            "runAsGroup": config.user,
            "fsGroup": config.user,
            # Or every start would go through all files of all runs.
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{**_build_base_container(config), **container}],
        "volumes": [
            {"name": "runs", "persistentVolumeClaim": {"claimName": config.runs_claim}},
            {"name": "data", "persistentVolumeClaim": {"claimName": config.data_claim}},
            {"name": "temporary", "emptyDir": {}},
        ],
    }


def build_container_environment(cores: int, networks: str = "") -> list[Resource]:
    """The variables of every container.

    Args:
      cores: that it may use. A limit of Kubernetes leaves all of the node's in sight, and JAX
        would make a device of each.
      networks: of a person's own, whose code it may import, separated by commas.
    """
    values = {
        "ENSEMBLE_RUNS": _RUNS_MOUNT,
        "ENSEMBLE_DATA": _DATA_MOUNT,
        "HOME": _TEMPORARY_MOUNT,
        "XDG_CACHE_HOME": f"{_TEMPORARY_MOUNT}/cache",
        "JAX_NUM_CPU_DEVICES": str(cores),
        **({NETWORKS_VARIABLE: networks} if networks else {}),
    }
    return [{"name": name, "value": value} for name, value in values.items()]


def _build_base_container(config: KubernetesConfig) -> Resource:
    return {
        "name": CONTAINER_NAME,
        "image": config.image,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {"name": "runs", "mountPath": _RUNS_MOUNT},
            {"name": "data", "mountPath": _DATA_MOUNT},
            {"name": "temporary", "mountPath": _TEMPORARY_MOUNT},
        ],
    }
