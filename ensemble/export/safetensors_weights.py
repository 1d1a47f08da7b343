"""The members' weights as safetensors, which every framework reads without running anything."""

from pathlib import Path

from ensemble.errors import PredictionsError
from ensemble.export.export_format import EnsembleContent, ExportFormat, judge_probabilities
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.safetensors import read_safetensors, write_safetensors


def _write_safetensors_weights(content: EnsembleContent, path: Path, replace: bool) -> None:
    write_safetensors(path, content.name_arrays(), content.describe_as_text())


def _judge_safetensors_weights(content: EnsembleContent, path: Path) -> tuple[dict[str, float], float | None]:
    most = sum(array.nbytes for array in content.arrays.values())
    try:
        arrays = read_safetensors(path, most)
    except DamagedFileError as error:
        raise PredictionsError(f"{path} was not written whole ({error}): try again.") from error
    return judge_probabilities(content, content.predict_from_arrays(arrays))


FORMAT = ExportFormat(
    name="safetensors",
    title="Weights, safetensors",
    gloss="For PyTorch, JAX, Rust or anything else: arrays by name, and nothing that runs.",
    suffix=".safetensors",
    holds_weights=True,
    write=_write_safetensors_weights,
    judge=_judge_safetensors_weights,
)
