"""An ensemble as one ONNX graph: images in, every member's probabilities and their average out.

It is written from what JAX traces of the network, by onnx_translation.py, so that a network of a
person's own comes along as the built-in ones do. (The package jax2onnx would do this for more
programs; its releases ask for older versions of Orbax than checkpoints here take.)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble import __version__
from ensemble.errors import ConfigError
from ensemble.export.export_format import EnsembleContent, ExportFormat, judge_answers
from ensemble.storage.atomic_files import write_bytes

if TYPE_CHECKING:
    import onnx

    from ensemble.engine.networks.network import Network, Params
    from ensemble.export.programs.onnx_graph import GraphBuilder


def _write_onnx_model(content: EnsembleContent, path: Path, replace: bool) -> None:
    """The members' weights are constants of the graph; what is said of them is its metadata."""
    from onnx import helper

    from ensemble.export.programs import ensemble_program as program

    members = program.nest_member_parameters(content)
    model = program.trace_for_export(
        content.network, members, lambda: build_onnx_model(content.network, members, content.temperature)
    )
    helper.set_model_props(model, program.describe_program(content))
    write_bytes(path, model.SerializeToString())


def build_onnx_model(network: "Network", members: Sequence["Params"], temperature: float | None) -> "onnx.ModelProto":
    """The graph of an ensemble, as ONNX's own checker takes it.

    Args:
      network: what the members are.
      members: the parameters of each.
      temperature: of the average; None is as it is.

    Raises:
      ConfigError: the network computes what is not written here.
    """
    import onnx
    from onnx import TensorProto, helper

    from ensemble.export.programs import ensemble_program as program
    from ensemble.export.programs import onnx_graph
    from ensemble.export.programs.onnx_operators import UnknownPrimitiveError

    graph = onnx_graph.GraphBuilder(program.IMAGES)
    try:
        _add_ensemble(graph, network, members, temperature)
    except UnknownPrimitiveError as error:
        raise ConfigError(
            f"The network {network.name} computes {error}, which is not written as ONNX here: "
            "take it as --format stablehlo, or its weights as safetensors."
        ) from error
    classes = network.classes
    images = _describe_edge(program.IMAGES, TensorProto.UINT8, program.BATCH, *network.image_shape)
    answers = [
        _describe_edge(program.PROBABILITIES, TensorProto.FLOAT, len(members), program.BATCH, classes),
        _describe_edge(program.AVERAGE, TensorProto.FLOAT, program.BATCH, classes),
    ]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "ensemble", [images], answers, graph.initializers),
        opset_imports=[helper.make_opsetid("", onnx_graph.OPSET)],
        ir_version=onnx_graph.IR_VERSION,
        producer_name="ensemble",
        producer_version=__version__,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def _describe_edge(name: str, kind: int, *shape: int | str) -> "onnx.ValueInfoProto":
    from onnx import helper

    return helper.make_tensor_value_info(name, kind, shape)


def _add_ensemble(
    graph: "GraphBuilder", network: "Network", members: Sequence["Params"], temperature: float | None
) -> None:
    """Images are prepared once; then come the members one after the other, and the average."""
    import jax

    from ensemble.engine.networks.arithmetic import scale_to_unit
    from ensemble.export.programs import ensemble_program as program
    from ensemble.export.programs.onnx_graph import Value, make_known_value
    from ensemble.export.programs.onnx_translation import translate_program

    images = program.describe_images(network)
    given = Value(program.IMAGES, images.shape)
    (scaled,) = translate_program(graph, jax.make_jaxpr(scale_to_unit)(images), [given])
    of_member = jax.make_jaxpr(lambda params, x: program.predict_member(network, params, x))(
        members[0], jax.ShapeDtypeStruct(images.shape, np.float32)
    )
    answers = []
    for member in members:
        weights = [make_known_value(np.asarray(leaf)) for leaf in jax.tree.leaves(member)]
        (answer,) = translate_program(graph, of_member, [*weights, scaled])
        place = np.zeros(1, np.int64)
        answers.append(graph.add_node("Unsqueeze", graph.spread_out(answer), place))
    graph.add_named_node("Concat", program.PROBABILITIES, *answers, axis=0)
    shape = (len(members), images.shape[0], network.classes)
    of_all = jax.make_jaxpr(lambda each: program.average_members(each, temperature))(
        jax.ShapeDtypeStruct(shape, np.float32)
    )
    (average,) = translate_program(graph, of_all, [Value(program.PROBABILITIES, shape)])
    graph.add_named_node("Identity", program.AVERAGE, graph.spread_out(average))


def _judge_onnx_model(content: EnsembleContent, path: Path) -> tuple[dict[str, float], float | None]:
    import onnxruntime

    from ensemble.export.programs import ensemble_program as program

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def predict(images: Any) -> Any:
        names = [program.PROBABILITIES, program.AVERAGE]
        return tuple(session.run(names, {program.IMAGES: images}))

    return judge_answers(content, *program.ask_in_blocks(content, predict))


FORMAT = ExportFormat(
    name="onnx",
    title="A program for anything, ONNX",
    gloss="For onnxruntime, browsers, telephones and cards: images in, probabilities out, in one file.",
    suffix=".onnx",
    holds_weights=True,
    write=_write_onnx_model,
    judge=_judge_onnx_model,
    packages=("onnx", "onnxruntime"),
    averages=True,
)
