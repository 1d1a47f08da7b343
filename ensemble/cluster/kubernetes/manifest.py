"""The manifest as YAML: what `kubectl apply` takes, with what a person has to know above it."""

import re

import yaml

from ensemble.cluster.kubernetes.dashboard import DASHBOARD_PORT, build_dashboard_deployment
from ensemble.cluster.kubernetes.pods import Resource
from ensemble.cluster.kubernetes.settings import KubernetesConfig
from ensemble.cluster.kubernetes.training import TrainingSpec, build_training_job
from ensemble.cluster.kubernetes.volumes import build_volume_claims

# What every reader of YAML, of whatever version, takes for a string without quotes.
_PLAIN_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9/]*([.-][A-Za-z0-9/]+)*")
_YAML_KEYWORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})


class _QuotingDumper(yaml.SafeDumper):
    """Strings in quotes where they could be taken for anything else; everything written out."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _represent_string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # PyYAML reads 1e-05 as a string, kubectl as a number: neither is asked.
    plain = _PLAIN_PATTERN.fullmatch(text) and text.lower() not in _YAML_KEYWORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_QuotingDumper.add_representer(str, _represent_string)


def build_manifest_resources(config: KubernetesConfig, training: TrainingSpec) -> list[Resource]:
    """What the manifest asks Kubernetes for: claims if they are wanted, a Job and a Deployment."""
    return [
        *build_volume_claims(config),
        build_training_job(config, training),
        build_dashboard_deployment(config, training.networks),
    ]


def render_manifest(config: KubernetesConfig, training: TrainingSpec) -> str:
    """The manifest of a run's training and of a dashboard: YAML documents with comments."""
    parts = zip(_render_comments(config, training), build_manifest_resources(config, training), strict=True)
    return "".join(f"{comment}---\n{_render_yaml(document)}" for comment, document in parts)


def _render_yaml(resource: Resource) -> str:
    return str(yaml.dump(resource, Dumper=_QuotingDumper, sort_keys=False, width=10_000, allow_unicode=False))


def _render_comments(config: KubernetesConfig, training: TrainingSpec) -> tuple[str, ...]:
    size = config.volume_size
    claims: tuple[str, ...] = ()
    if size:
        claims = (
            f"# The runs, {size} GiB. Whoever deletes a claim may delete what is in its volume.\n",
            f"# Datasets and compiled programs, {size} GiB.\n",
        )
    groups = f"each of its {training.groups} groups" if training.groups > 1 else "all its members"
    return (
        *claims,
        f"# Trains the run {training.run_id}, with one pod for {groups}:\n"
        "#   kubectl apply -f FILE\n"
        f"# These claims {'are above' if size else 'have to exist'}, "
        f"{'as ReadWriteMany' if size else 'as ReadWriteMany if pods run on several nodes'}:\n"
        f"#   {config.runs_claim}\n#   {config.data_claim}\n"
        "# After a stop or a failure, this continues from the last checkpoint:\n"
        f"#   kubectl delete job {config.name}; kubectl apply -f FILE\n"
        "# Kubernetes 1.29 or newer.\n",
        "# The dashboard. It can only be reached from within its pod; to open it on your machine:\n"
        f"#   kubectl port-forward deployment/{config.name}-dashboard {DASHBOARD_PORT}\n"
        f"# and then http://localhost:{DASHBOARD_PORT}.\n",
    )
