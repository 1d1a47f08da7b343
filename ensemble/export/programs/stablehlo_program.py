"""An ensemble as one program in StableHLO, for which JAX is enough: no Flax, no code of ours."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.export.export_format import EnsembleContent, ExportFormat, judge_answers
from ensemble.storage.atomic_files import write_bytes

_PLATFORMS = ("cpu", "cuda", "tpu")


def _write_stablehlo_program(content: EnsembleContent, path: Path, replace: bool) -> None:
    """The members' weights are constants of the program; JAX writes it (`jax.export`)."""
    import jax
    from jax import export

    from ensemble.export.programs import ensemble_program as program

    members = program.nest_member_parameters(content)
    function = program.build_ensemble_function(content.network, members, content.temperature)

    def serialize_program() -> bytearray:
        exported = export.export(jax.jit(function), platforms=_PLATFORMS)
        return exported(program.describe_images(content.network)).serialize()

    text = program.trace_for_export(content.network, members, serialize_program)
    write_bytes(path, bytes(text))


def _judge_stablehlo_program(content: EnsembleContent, path: Path) -> tuple[dict[str, float], float | None]:
    import jax
    from jax import export

    from ensemble.export.programs import ensemble_program

    call = jax.jit(export.deserialize(bytearray(path.read_bytes())).call)

    def predict(images: NDArray[np.uint8]) -> Any:
        answers = call(images)
        return tuple(np.asarray(answers[name]) for name in (ensemble_program.PROBABILITIES, ensemble_program.AVERAGE))

    return judge_answers(content, *ensemble_program.ask_in_blocks(content, predict))


FORMAT = ExportFormat(
    name="stablehlo",
    title="A program for JAX, StableHLO",
    gloss="For JAX on a CPU, an NVIDIA card or a TPU: images in, probabilities out, in one file.",
    suffix=".stablehlo",
    holds_weights=True,
    write=_write_stablehlo_program,
    judge=_judge_stablehlo_program,
    averages=True,
)
