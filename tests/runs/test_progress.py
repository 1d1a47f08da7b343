"""Lines of a history stand at the same steps however training is cut into calls."""

from typing import Any

import numpy as np
import pytest

from ensemble.engine import TrainingMetrics
from ensemble.runs.training.progress import Progress
from ensemble.runs.training.task_records import ClassificationRecords


@pytest.mark.parametrize("calls", [[7], [5, 2], [1, 6], [2, 2, 2, 1]], ids=str)
def test_lines_of_three_steps_each_end_with_the_epoch(calls: list[int]) -> None:
    lines: list[dict[str, Any]] = []
    records = ClassificationRecords()
    progress, begin = Progress.blank(None, 1, steps=7), 0
    for count in calls:
        losses = np.arange(begin, begin + count, dtype=np.float32)
        metrics = TrainingMetrics(losses[None], losses[None], losses, losses)
        lines += progress.record_history_lines(metrics, count, records.summarize_steps, line_steps=3)
        begin += count
    assert [(line["step"], *line["train_loss"]) for line in lines] == [(3, 1.0), (6, 4.0), (7, 6.0)]
