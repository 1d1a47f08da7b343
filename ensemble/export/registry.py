"""The forms that an ensemble leaves in, each a module of its own."""

from pathlib import Path

from ensemble.errors import ConfigError
from ensemble.export import csv_table, npz_weights, predict_folder, safetensors_weights, tensorboard_events
from ensemble.export.export_format import ExportFormat
from ensemble.export.programs import onnx_model, stablehlo_program


def _build_format_registry(*formats: ExportFormat) -> dict[str, ExportFormat]:
    """Forms by name.

    Raises:
      ValueError: a name comes twice.
    """
    registry = {export_format.name: export_format for export_format in formats}
    if len(registry) < len(formats):
        raise ValueError("Two forms of export have one name.")
    return registry


EXPORT_FORMATS = _build_format_registry(
    safetensors_weights.FORMAT,
    npz_weights.FORMAT,
    onnx_model.FORMAT,
    stablehlo_program.FORMAT,
    predict_folder.FORMAT,
    csv_table.FORMAT,
    tensorboard_events.FORMAT,
)


def choose_export_format(path: Path, name: str | None) -> ExportFormat:
    """Return the format of this name, or the one of the path's ending; npz without an ending.

    Raises:
      ConfigError: no format has that name or ending, or the ending belongs to another format.
    """
    by_suffix = {each.suffix: each for each in EXPORT_FORMATS.values() if each.suffix}
    by_ending = by_suffix.get(path.suffix.lower())
    if name is None:
        if by_ending is None and path.suffix:
            raise ConfigError(
                f"No export format has the ending of {path.name!r:.60}: choose one of {', '.join(by_suffix)}, or name "
                "the format."
            )
        return by_ending or EXPORT_FORMATS["npz"]
    chosen = find_export_format(name)
    if chosen.suffix and by_ending not in (None, chosen):
        raise ConfigError(
            f"{path.name!r:.60} has the ending of the format {by_ending.name}, and the format is {name}: leave the "
            f"format out, or choose a name with {chosen.suffix}."
        )
    return chosen


def find_export_format(name: str) -> ExportFormat:
    """The form of this name.

    Raises:
      ConfigError: there is none.
    """
    if name not in EXPORT_FORMATS:
        raise ConfigError(f"format is {name!r:.40}: it has to be one of {', '.join(EXPORT_FORMATS)}.")
    return EXPORT_FORMATS[name]
