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
    """The form of this name, or the one that the ending of the path says; npz if it has none.

    Raises:
      ConfigError: there is none of that name or ending, or the ending is that of another form.
    """
    by_ending = next((each for each in EXPORT_FORMATS.values() if each.suffix == path.suffix.lower() != ""), None)
    if name is not None:
        chosen = find_export_format(name)
        if chosen.suffix and by_ending not in (None, chosen):
            raise ConfigError(
                f"{path.name!r:.60} has the ending of the format {by_ending.name}, and the format is {name}: leave the "
                f"format out, or choose a name with {chosen.suffix}."
            )
        return chosen
    if by_ending is None and path.suffix:
        endings = ", ".join(each.suffix for each in EXPORT_FORMATS.values() if each.suffix)
        raise ConfigError(
            f"No format of export has the ending of {path.name!r:.60}: choose one of {endings}, or name the format."
        )
    return by_ending or EXPORT_FORMATS["npz"]


def find_export_format(name: str) -> ExportFormat:
    """The form of this name.

    Raises:
      ConfigError: there is none.
    """
    if name not in EXPORT_FORMATS:
        raise ConfigError(f"format is {name!r:.40}: it has to be one of {', '.join(EXPORT_FORMATS)}.")
    return EXPORT_FORMATS[name]
