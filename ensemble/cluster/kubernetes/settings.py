"""What is asked of Kubernetes for a run: image, claims, resources; checked before it is printed.

Everything that a person types ends up in a manifest that gives a program rights on a cluster: a
value that is not of its form is refused, so that none can become another field of it.
"""

import dataclasses
from dataclasses import dataclass

from ensemble.cluster.kubernetes.value_formats import (
    OWN_LABEL_PREFIX,
    VALUE_FORMATS,
    Toleration,
    parse_pair,
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
    runs_claim: str = declare_setting("", "The PersistentVolumeClaim of the folder of runs; all pods write it at once.")
    data_claim: str = declare_setting(
        "", "The PersistentVolumeClaim of datasets and compiled programs; not that of the runs."
    )
    pull_secret: str = declare_setting("", "The Secret that opens the image's registry.")
    cpus: int = declare_setting(2, "Processor cores of each group's pod.", low=1, high=1024)
    memory: int = declare_setting(4, "Memory of each group's pod, in GiB.", low=1, high=16384)
    gpus: int = declare_setting(0, "Cards of each group's pod.", low=0, high=64)
    gpu_resource: str = declare_setting("nvidia.com/gpu", "What the cluster calls a card.")
    ephemeral_storage: int = declare_setting(
        0, "Room of each group's pod on its node's disk, in GiB; 0 asks for none.", low=0, high=16384
    )
    retries: int = declare_setting(
        20, "How often a failed group is started again, besides restarts for a lost node.", low=0, high=1000
    )
    grace: int = declare_setting(
        120, "Seconds that a pod gets to write its checkpoint when told to end.", low=10, high=3600
    )
    user: int = declare_setting(1000, "User and group number that the pods run as; never root.", low=1, high=2**31 - 1)
    node_selector: tuple[str, ...] = declare_setting((), "KEY=VALUE: only nodes with this label; can be repeated.")
    toleration: tuple[str, ...] = declare_setting(
        (), "KEY[=VALUE][:EFFECT]: also nodes with this taint; can be repeated."
    )
    label: tuple[str, ...] = declare_setting((), "KEY=VALUE: a label of the Job and its pods; can be repeated.")
    annotation: tuple[str, ...] = declare_setting(
        (), "KEY=VALUE: an annotation of the Job and its pods; can be repeated."
    )
    priority_class: str = declare_setting("", "The PriorityClass of the groups' pods.")
    volume_size: int = declare_setting(
        0, "Print the two claims as well, of so many GiB each; 0 prints none.", low=0, high=1048576
    )
    storage_class: str = declare_setting(
        "", "The StorageClass of the claims that are printed; the cluster's default if left out."
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
        for option, pairs in (
            ("node-selector", self.node_selector),
            ("label", self.label),
            ("annotation", self.annotation),
        ):
            keys = [parse_pair(option, pair)[0] for pair in pairs]
            for key in keys:
                if keys.count(key) > 1:
                    raise ConfigError(f"{option} names {key} twice: give each once.")
                if option == "label" and key.startswith(OWN_LABEL_PREFIX):
                    raise ConfigError(f"label names {key}, which this program sets: leave it out.")
        if self.storage_class and not self.volume_size:
            raise ConfigError(
                "storage-class is of the claims that are printed: give their size with --volume-size, or leave it out."
            )
        for taint_text in self.toleration:
            parse_toleration(taint_text)

    @property
    def node_labels(self) -> dict[str, str]:
        """The labels that a node has to have for the groups' pods."""
        return dict(parse_pair("node-selector", label) for label in self.node_selector)

    @property
    def job_labels(self) -> dict[str, str]:
        """The labels that a person gives the Job and its pods."""
        return dict(parse_pair("label", label) for label in self.label)

    @property
    def job_annotations(self) -> dict[str, str]:
        """The annotations that a person gives them."""
        return dict(parse_pair("annotation", annotation) for annotation in self.annotation)

    @property
    def tolerations(self) -> list[Toleration]:
        """The taints that the groups' pods bear, as Kubernetes has them."""
        return [parse_toleration(taint_text) for taint_text in self.toleration]
