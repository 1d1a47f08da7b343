"""The forms that an ensemble leaves in, each a module of its own."""

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


def find_export_format(name: str) -> ExportFormat:
    """The form of this name.

    Raises:
      ConfigError: there is none.
    """
    if name not in EXPORT_FORMATS:
        raise ConfigError(f"format is {name!r:.40}: it has to be one of {', '.join(EXPORT_FORMATS)}.")
    return EXPORT_FORMATS[name]
