"""What the server counts, as Prometheus reads it.

Source: "Prometheus text-based format", version 0.0.4, and the naming rules of its documentation.
"""

import bisect
from collections import Counter
from collections.abc import Callable, Sequence

from ensemble.serving.limits import BATCH_SIZES

TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LATENCY_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class _Histogram:
    """How many observations were at most each bound, their sum and their number."""

    def __init__(self, name: str, help_text: str, bounds: Sequence[float]) -> None:
        self._name, self._help_text, self._bounds = name, help_text, tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe_value(self, value: float) -> None:
        """Count one observation."""
        self._counts[bisect.bisect_left(self._bounds, value)] += 1
        self._sum += value

    def format_lines(self) -> list[str]:
        """The histogram in Prometheus's text."""
        lines, total = _format_header(self._name, self._help_text, "histogram"), 0
        for bound, count in zip((*self._bounds, "+Inf"), self._counts, strict=True):
            total += count
            lines.append(f'{self._name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{self._name}_sum {self._sum:.9g}", f"{self._name}_count {total}"]


class ServerMetrics:
    """All that is counted since the server began; used in one event loop.

    Args:
      read_waiting_images: how many images wait for the members now.
      read_body_bytes: returns the bytes of request bodies in memory.
    """

    def __init__(
        self, read_waiting_images: Callable[[], int] = lambda: 0, read_body_bytes: Callable[[], int] = lambda: 0
    ) -> None:
        self.read_waiting_images, self._read_body_bytes = read_waiting_images, read_body_bytes
        self.requests_in_hand = self.predictions_in_hand = 0
        self._requests: Counter[tuple[str, int]] = Counter()
        self._images = self._rejected = 0
        self._latency = _Histogram(
            "ensemble_request_seconds", "Seconds from a request for predictions to its answer.", _LATENCY_BOUNDS_S
        )
        self._batches = _Histogram("ensemble_batch_images", "Images that the members were shown at once.", BATCH_SIZES)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """A request was answered; `path` is one of the server's own, or "other"."""
        self._requests[path, status] += 1
        if path == "/predict":
            self._latency.observe_value(seconds)

    def count_batch(self, images: int) -> None:
        """The members were shown a batch."""
        self._batches.observe_value(images)

    def count_images(self, images: int, rejected: int) -> None:
        """Images were answered, of which some were rejected."""
        self._images += images
        self._rejected += rejected

    def format_text(self) -> str:
        """Everything in Prometheus's text."""
        lines = _format_header("ensemble_requests_total", "Requests answered.", "counter")
        for (path, status), count in sorted(self._requests.items()):
            lines.append(f'ensemble_requests_total{{path="{path}",status="{status}"}} {count}')
        errors = sum(count for (_, status), count in self._requests.items() if status >= 400)
        for name, help_text, kind, value in (
            ("errors_total", "Requests answered with a status from 400.", "counter", errors),
            ("images_total", "Images that were answered.", "counter", self._images),
            ("rejected_images_total", "Of them those rejected.", "counter", self._rejected),
            ("requests_in_hand", "Requests not answered yet.", "gauge", self.requests_in_hand),
            (
                "predictions_in_hand",
                "Prediction requests whose images have been received.",
                "gauge",
                self.predictions_in_hand,
            ),
            ("body_bytes_in_hand", "Bytes of request bodies in memory.", "gauge", self._read_body_bytes()),
            ("waiting_images", "Images that wait for the members.", "gauge", self.read_waiting_images()),
        ):
            lines += _format_header(f"ensemble_{name}", help_text, kind)
            lines.append(f"ensemble_{name} {value}")
        lines += [*self._latency.format_lines(), *self._batches.format_lines()]
        return "\n".join(lines) + "\n"


def _format_header(name: str, help_text: str, kind: str) -> list[str]:
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
