"""The Deployment of the dashboard, on the same volumes as the training.

It answers its own pod alone, as the app does everywhere: `kubectl port-forward` reaches it there,
and asks Kubernetes who may. Nothing else does, so Kubernetes looks after it from within as well.
"""

from ensemble.cluster.kubernetes.pods import (
    Resource,
    build_component_labels,
    build_container_environment,
    build_pod_spec,
)
from ensemble.cluster.kubernetes.settings import KubernetesConfig

DASHBOARD_PORT = 8501
_DASHBOARD_CORES = 2
_HEALTH_SCRIPT = (
    "from http.client import HTTPConnection as to; at = to('127.0.0.1', {port}, timeout=5); "
    "at.request('GET', '/_stcore/health'); raise SystemExit(at.getresponse().status != 200)"
)


def build_dashboard_deployment(config: KubernetesConfig, networks: str = "") -> Resource:
    """The Deployment: one pod, and never two at once."""
    marks = build_component_labels(config, "dashboard")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"{config.name}-dashboard", "labels": marks},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": marks},
            "template": {
                "metadata": {"labels": marks},
                "spec": build_pod_spec(config, _build_dashboard_container(networks)),
            },
        },
    }


def build_health_command(port: int = DASHBOARD_PORT) -> list[str]:
    return ["python", "-c", _HEALTH_SCRIPT.format(port=port)]


def _build_dashboard_container(networks: str) -> Resource:
    probe = {"exec": {"command": build_health_command()}, "timeoutSeconds": 10, "periodSeconds": 15}
    return {
        "command": [
            "python",
            "-P",
            "-m",
            "ensemble",
            "app",
            "--server.port",
            str(DASHBOARD_PORT),
            "--server.headless",
            "true",
        ],
        # What is launched on its pages works in this pod: no process waits for that.
        "env": [
            *build_container_environment(_DASHBOARD_CORES, networks),
            {"name": "ENSEMBLE_WARM_WORKER", "value": "0"},
        ],
        # No liveness probe: a server that is slow for a while is not killed, nor what it works on.
        "readinessProbe": probe,
        "resources": {
            "requests": {"cpu": "500m", "memory": "1Gi"},
            "limits": {"cpu": str(_DASHBOARD_CORES), "memory": "4Gi"},
        },
    }
