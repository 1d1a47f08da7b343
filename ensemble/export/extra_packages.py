"""Packages that some forms take, and that are installed only by who wants these: `[export]`."""

import importlib.util

from ensemble.errors import ConfigError
from ensemble.export.export_format import ExportFormat


def find_missing_packages(export_format: ExportFormat) -> tuple[str, ...]:
    """What a form takes and this Python does not have; nothing is imported."""
    return tuple(name for name in export_format.packages if importlib.util.find_spec(name) is None)


def describe_missing_packages(export_format: ExportFormat) -> str:
    """What has to be installed for a form, and how, in a sentence; "" where all is there."""
    missing = find_missing_packages(export_format)
    if not missing:
        return ""
    what, verb = ("package", "is") if len(missing) == 1 else ("packages", "are")
    return (
        f"{export_format.name} takes the {what} {' and '.join(missing)}, which {verb} not "
        f"installed here: pip install {' '.join(missing)}"
    )


def require_packages(export_format: ExportFormat) -> None:
    """Let a form be written only where all that it takes is installed.

    Raises:
      ConfigError: something is not.
    """
    if sentence := describe_missing_packages(export_format):
        raise ConfigError(f"{sentence}.")
