"""Kubernetes: a manifest of the pods that train a run, a group each, and of its dashboard.

    from ensemble.cluster.kubernetes import KubernetesConfig, TrainingSpec, render_manifest
    print(render_manifest(KubernetesConfig(name="digits", …), TrainingSpec(run_id, 4, words)))

Nothing here talks to a cluster: `kubectl apply` does, with what is printed.
"""

from ensemble.cluster.kubernetes.manifest import build_manifest_resources, render_manifest
from ensemble.cluster.kubernetes.settings import KubernetesConfig
from ensemble.cluster.kubernetes.training import TrainingSpec

__all__ = ["KubernetesConfig", "TrainingSpec", "build_manifest_resources", "render_manifest"]
