"""Members that predict a number and its spread: loss, step and trainer."""

from ensemble.engine.numeric.numeric_networks import NumericNetwork, bind_numeric_network
from ensemble.engine.numeric.numeric_trainer import (
    JudgedRows,
    NumericEvaluation,
    NumericMetrics,
    NumericTrainer,
    TrainingRows,
    predict_rows,
)

__all__ = [
    "JudgedRows",
    "NumericEvaluation",
    "NumericMetrics",
    "NumericNetwork",
    "NumericTrainer",
    "TrainingRows",
    "bind_numeric_network",
    "predict_rows",
]
