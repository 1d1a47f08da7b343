"""What is asked of Kubernetes for a run: image, claims, resources; checked before it is printed.

Everything that a person types ends up in a manifest that gives a program rights on a cluster: a
value that is not of its form is refused, so that none can become another field of it.
"""

import dataclasses
from dataclasses import dataclass

from ensemble.cluster.kubernetes.value_formats import (
    VALUE_FORMATS,
    Toleration,
    parse_node_label,
    parse_toleration,
)
from ensemble.errors import ConfigError
from ensemble.settings import Settings, coerce_setting_value, declare_setting


@dataclass(frozen=True)
class KubernetesConfig(Settings):
    """What a run's pods are made of, checked when made.

    Raises:
      ConfigError: a value that Kubernetes would not take, named with what it has to be.
    """

    name: str = declare_setting("", "Name of the Job; the dashboard is called NAME-dashboard.")
    image: str = declare_setting("", "The container image; this package has to be installed in it.")
    runs_claim: str = declare_setting(
        "", "The PersistentVolumeClaim of the folder of runs; all pods write it at once."
    )
    data_claim: str = declare_setting(
        "", "The PersistentVolumeClaim of datasets and compiled programs; not that of the runs."
    )
    pull_secret: str = declare_setting("", "The Secret that opens the image's registry.")
    cpus: int = declare_setting(2, "Processor cores of each group's pod.", low=1, high=1024)
    memory: int = declare_setting(4, "Memory of each group's pod, in GiB.", low=1, high=16384)
    gpus: int = declare_setting(0, "NVIDIA cards of each group's pod.", low=0, high=64)
    retries: int = declare_setting(
        20,
        "How often a failed group is started again, besides restarts for a lost node.",
        low=0,
        high=1000,
    )
    grace: int = declare_setting(
        120,
        "Seconds that a pod gets to write its checkpoint when told to end.",
        low=10,
        high=3600,
    )
    user: int = declare_setting(
        1000, "User and group number that the pods run as; never root.", low=1, high=2**31 - 1
    )
    node_selector: tuple[str, ...] = declare_setting(
        (), "KEY=VALUE: only nodes with this label; can be repeated."
    )
    toleration: tuple[str, ...] = declare_setting(
        (), "KEY[=VALUE][:EFFECT]: also nodes with this taint; can be repeated."
    )

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Bring every field to its type; ConfigError where one is not of its form or range."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in VALUE_FORMATS:
                VALUE_FORMATS[field.name].check(field.name.replace("_", "-"), value)
            elif field.metadata["low"] is not None:
                object.__setattr__(self, field.name, coerce_setting_value(field, value))
        if self.data_claim == self.runs_claim:
            raise ConfigError(
                f"runs-claim and data-claim are both {self.runs_claim}: files among the runs "
                "would be mistaken for runs. Name a separate claim for the data."
            )
        keys = [parse_node_label(label)[0] for label in self.node_selector]
        for key in keys:
            if keys.count(key) > 1:
                raise ConfigError(f"node-selector names {key} twice: give each label once.")
        for taint_text in self.toleration:
            parse_toleration(taint_text)

    @property
    def node_labels(self) -> dict[str, str]:
        """The labels that a node has to have for the groups' pods."""
        return dict(parse_node_label(label) for label in self.node_selector)

    @property
    def tolerations(self) -> list[Toleration]:
        """The taints that the groups' pods bear, as Kubernetes has them."""
        return [parse_toleration(taint_text) for taint_text in self.toleration]
