"""The claims of the volumes, for who wants them printed: all pods write the same ones at once."""

from ensemble.cluster.kubernetes.pods import Resource
from ensemble.cluster.kubernetes.settings import KubernetesConfig


def build_volume_claims(config: KubernetesConfig) -> list[Resource]:
    """The PersistentVolumeClaims of the runs and of the data; none where no size is asked for."""
    if not config.volume_size:
        return []
    storage = {"storageClassName": config.storage_class} if config.storage_class else {}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": claim},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                **storage,
                "resources": {"requests": {"storage": f"{config.volume_size}Gi"}},
            },
        }
        for claim in (config.runs_claim, config.data_claim)
    ]
