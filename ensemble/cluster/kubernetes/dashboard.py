"""The Deployment of the dashboard, on the same volumes as the training.

It answers its own pod alone, as the app does everywhere: `kubectl port-forward` reaches it there,
and asks Kubernetes who may. Nothing else does, so Kubernetes looks after it from within as well.
"""

from ensemble.cluster.kubernetes.pods import Resource, environment, labels, pod
from ensemble.cluster.kubernetes.settings import KubernetesConfig

PORT = 8501
CORES = 2
HEALTH = (
    "from http.client import HTTPConnection as to; at = to('127.0.0.1', {port}, timeout=5); "
    "at.request('GET', '/_stcore/health'); raise SystemExit(at.getresponse().status != 200)"
)


def dashboard(config: KubernetesConfig) -> Resource:
    """The Deployment: one pod, and never two at once."""
    marks = labels(config, "dashboard")
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
                "spec": pod(config, _container()),
            },
        },
    }


def health_command(port: int = PORT) -> list[str]:
    """A command that succeeds where the dashboard answers on this port of its own pod."""
    return ["python", "-c", HEALTH.format(port=port)]


def _container() -> Resource:
    probe = {"exec": {"command": health_command()}, "timeoutSeconds": 10, "periodSeconds": 15}
    return {
        "command": [
            "python",
            "-P",
            "-m",
            "ensemble",
            "app",
            "--server.port",
            str(PORT),
            "--server.headless",
            "true",
        ],
        # What is launched on its pages works in this pod: no process waits for that.
        "env": [*environment(CORES), {"name": "ENSEMBLE_WARM_WORKER", "value": "0"}],
        # No liveness probe: a server that is slow for a while is not killed, nor what it works on.
        "readinessProbe": probe,
        "resources": {
            "requests": {"cpu": "500m", "memory": "1Gi"},
            "limits": {"cpu": str(CORES), "memory": "4Gi"},
        },
    }
