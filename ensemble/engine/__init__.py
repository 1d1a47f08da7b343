"""The engine: an ensemble of networks, trained on whatever devices there are."""

from ensemble.engine.activations import Activations, compute_activations
from ensemble.engine.call_pacer import CallPacer
from ensemble.engine.draws.batches import count_steps_per_epoch
from ensemble.engine.forward_pass import ForwardPass
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.metrics import Evaluation, TrainingMetrics
from ensemble.engine.networks.network import Network
from ensemble.engine.networks.registry import build_network
from ensemble.engine.predict import predict_probabilities
from ensemble.engine.step import MemberState, create_blank_members
from ensemble.engine.trainer import Trainer

__all__ = [
    "Activations",
    "CallPacer",
    "Evaluation",
    "ForwardPass",
    "Layout",
    "MemberState",
    "Network",
    "Trainer",
    "TrainingMetrics",
    "build_network",
    "choose_devices",
    "compute_activations",
    "count_steps_per_epoch",
    "create_blank_members",
    "predict_probabilities",
]
