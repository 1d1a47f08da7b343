"""The images of a pool that wait for a label, in an order that does not tell the arms apart."""

from dataclasses import dataclass

from ensemble.datasets.decisions.decision_log import DecisionLog
from ensemble.datasets.decisions.label_decision import LabelDecision
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_batches import LabelBatch, list_batches
from ensemble.datasets.own.pools.pool_labels import build_pool_decision, list_pool_decisions, open_pool_log


@dataclass(frozen=True, eq=False)
class PoolQueue:
    """What is asked about the images of a pool.

    Attributes:
      pool: which.
      batches: what was chosen of it, the oldest first.
      decisions: what was said of its images, the oldest first.
    """

    pool: LabelPool
    batches: tuple[LabelBatch, ...]
    decisions: tuple[LabelDecision, ...]

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(self.pool.note.class_names)

    @property
    def log(self) -> DecisionLog:
        return open_pool_log(self.pool)

    @property
    def numbers(self) -> list[int]:
        order = [number for batch in self.batches for number in batch.list_in_drawn_order()]
        return list(dict.fromkeys(order))

    @property
    def pending(self) -> list[int]:
        decided = {decision.number for decision in self.decisions}
        return [number for number in self.numbers if number not in decided]

    def find_batch(self, number: int) -> LabelBatch | None:
        return next((batch for batch in reversed(self.batches) if number in batch.numbers), None)

    def build_decision(self, number: int, decision: str, new_label: int) -> LabelDecision:
        batch = self.find_batch(number)
        return build_pool_decision(self.pool, number, decision, new_label, batch.run if batch else "")


def read_pool_queue(pool: LabelPool) -> PoolQueue:
    """The queue as it stands by now, in this tab or any other.

    Raises:
      StorageError: what was chosen or said cannot be read.
    """
    return PoolQueue(pool, list_batches(pool), list_pool_decisions(pool))
