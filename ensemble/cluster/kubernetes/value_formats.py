"""The forms that Kubernetes has for names, images, labels and taints, and what is said of others.

Names: https://kubernetes.io/docs/concepts/overview/working-with-objects/names. Images: the
grammar of github.com/distribution/reference.
"""

import re
from dataclasses import dataclass

from ensemble.errors import ConfigError

Toleration = dict[str, str]

_PART = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_SUBDOMAIN = rf"{_PART}(\.{_PART})*"
_HOST = r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
_PATH = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_WORD = r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
_KEY = rf"({_SUBDOMAIN}/)?{_WORD}"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True)
class _ValueFormat:
    """What a word has to be.

    Attributes:
      pattern: the whole of it matches this.
      max_length: the most characters.
      expectation: it has to be this, in words.
      optional: whether it may be left empty.
    """

    pattern: re.Pattern[str]
    max_length: int
    expectation: str
    optional: bool = False

    def check(self, name: str, value: object) -> None:
        """ConfigError where the option `name` has another form."""
        if self.optional and value == "":
            return
        fits = isinstance(value, str) and len(value) <= self.max_length
        if not fits or not self.pattern.fullmatch(str(value)):
            raise ConfigError(f"{name} is {_format_value(value)}: it has to be {self.expectation}.")


_CLAIM = "a name that Kubernetes allows: lower-case letters, digits, hyphens and dots, at most 253"
VALUE_FORMATS = {
    # The longest pod's name is made of it: NAME-dashboard and what the cluster adds.
    "name": _ValueFormat(
        re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?"),
        40,
        "lower-case letters, digits and hyphens, a letter first, at most 40 characters",
    ),
    "image": _ValueFormat(
        re.compile(
            rf"({_HOST}(\.{_HOST})*(:[0-9]{{1,5}})?/)?{_PATH}(/{_PATH})*"
            r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?"
        ),
        400,
        "an image's name, such as registry.example.org/ensemble:1.0",
    ),
    "runs_claim": _ValueFormat(re.compile(_SUBDOMAIN), 253, _CLAIM),
    "data_claim": _ValueFormat(re.compile(_SUBDOMAIN), 253, _CLAIM),
    "pull_secret": _ValueFormat(re.compile(_SUBDOMAIN), 253, _CLAIM, optional=True),
    "priority_class": _ValueFormat(re.compile(_SUBDOMAIN), 253, _CLAIM, optional=True),
    "storage_class": _ValueFormat(re.compile(_SUBDOMAIN), 253, _CLAIM, optional=True),
    "gpu_resource": _ValueFormat(
        re.compile(rf"{_SUBDOMAIN}/{_WORD}"), 317, "a resource of Kubernetes, such as nvidia.com/gpu or amd.com/gpu"
    ),
}


# What a pair of each option is, with an example.
_PAIRS = {
    "node-selector": "a label of a node such as cloud.example.org/pool=gpu",
    "label": "a label such as kueue.x-k8s.io/queue-name=team",
    "annotation": "an annotation such as kueue.x-k8s.io/queue-name=team, at most 4,096 characters",
}
OWN_LABEL_PREFIX = "app.kubernetes.io/"
_MAX_ANNOTATION_LENGTH = 4096


def parse_pair(option: str, text: str) -> tuple[str, str]:
    """A label or an annotation and its value from "KEY=VALUE".

    Raises:
      ConfigError: it is not of that form.
    """
    key, between, value = text.partition("=")
    fits = _is_label_value(value)
    if option == "annotation":
        fits = value.isprintable() and len(value) <= _MAX_ANNOTATION_LENGTH
    if not between or not _is_label_key(key) or not fits:
        raise ConfigError(f"{option} is {_format_value(text)}: it has to be KEY=VALUE, {_PAIRS[option]}.")
    return key, value


def parse_toleration(text: str) -> Toleration:
    """A toleration as Kubernetes has it from "KEY", "KEY=VALUE", either with ":EFFECT" after it.

    Raises:
      ConfigError: it is not of that form.
    """
    taint, colon, effect = text.partition(":")
    key, between, value = taint.partition("=")
    if not _is_label_key(key) or not _is_label_value(value) or (colon and effect not in _EFFECTS):
        raise ConfigError(
            f"toleration is {_format_value(text)}: it has to be KEY, KEY=VALUE, or one of them "
            f"with :EFFECT, which is {', '.join(_EFFECTS[:-1])} or {_EFFECTS[-1]}; such as "
            "nvidia.com/gpu:NoSchedule."
        )
    equal = {"operator": "Equal", "value": value} if between else {"operator": "Exists"}
    return {"key": key, **equal, **({"effect": effect} if colon else {})}


def _is_label_key(text: str) -> bool:
    prefix, _, name = text.rpartition("/")
    return len(prefix) <= 253 and len(name) <= 63 and bool(re.fullmatch(_KEY, text))


def _is_label_value(text: str) -> bool:
    return not text or (len(text) <= 63 and bool(re.fullmatch(_WORD, text)))


def _format_value(value: object) -> str:
    return f"{value!r:.60}"
