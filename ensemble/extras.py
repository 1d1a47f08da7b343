"""Packages that only some uses take, by the extra of the distribution that installs them.

A plain install has every screen; what an extra adds is named in a sentence where it is missing.
"""

import importlib.util

from ensemble.errors import ConfigError

CLUSTER, EXPORT, SHARE = "cluster", "export", "share"
# Handing tasks to Slurm; signing in by OpenID Connect, which Streamlit leaves to these.
CLUSTER_PACKAGES = ("submitit",)
SHARE_PACKAGES = ("authlib", "httpx")


def _find_missing_packages(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Those that this Python does not have; nothing is imported."""
    return tuple(name for name in packages if importlib.util.find_spec(name) is None)


def describe_missing_packages(purpose: str, packages: tuple[str, ...], extra: str) -> str:
    """What has to be installed for a purpose, and how, in a sentence; "" where all is there.

    Args:
      purpose: what takes them, at the beginning of the sentence.
      packages: what it takes.
      extra: the extra that has them.
    """
    missing = _find_missing_packages(packages)
    if not missing:
        return ""
    what, verb = ("package", "is") if len(missing) == 1 else ("packages", "are")
    return (
        f"{purpose} takes the {what} {' and '.join(missing)}, which {verb} not installed here: "
        f"pip install {' '.join(missing)} (the extra “{extra}”)"
    )


def require_packages(purpose: str, packages: tuple[str, ...], extra: str) -> None:
    """Go on only where all packages are installed; the arguments are those of the sentence.

    Raises:
      ConfigError: one is not.
    """
    if sentence := describe_missing_packages(purpose, packages, extra):
        raise ConfigError(f"{sentence}.")
