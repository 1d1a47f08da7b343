"""The engine: an ensemble of networks, trained on whatever devices there are."""

from ensemble.engine.activations import Activations, activations
from ensemble.engine.draws.batches import steps_per_epoch
from ensemble.engine.figures import Evaluation, StepFigures
from ensemble.engine.forward import Forward
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.networks.network import Network
from ensemble.engine.networks.registry import network_of
from ensemble.engine.pace import Pace
from ensemble.engine.predict import predict_probabilities, sample_probabilities
from ensemble.engine.step import MemberState, blank_members, parameter_shapes
from ensemble.engine.trainer import Trainer

__all__ = [
    "Activations",
    "Evaluation",
    "Forward",
    "Layout",
    "MemberState",
    "Network",
    "Pace",
    "StepFigures",
    "Trainer",
    "activations",
    "blank_members",
    "choose_devices",
    "network_of",
    "parameter_shapes",
    "predict_probabilities",
    "sample_probabilities",
    "steps_per_epoch",
]
