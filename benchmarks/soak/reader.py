"""A process that reads pictures as Classify does: python -m benchmarks.soak.reader RUN

A line of stdin is a file's path; a line of stdout says as JSON what came of it, in how many
seconds, and how much memory was taken at the peak above what was there before.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ensemble.recognition.classifier import open_classifier
from ensemble.ui.classify.answer.reading_cache import prepare_input_picture
from ensemble.ui.classify.state import PreparationOverrides

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def memory(name: str) -> int:
    """Bytes: VmRSS, what is taken now, or VmHWM, the most since `forget_peak`; 0 if unknown."""
    match = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text()) if STATUS.exists() else None
    return 1024 * int(match[1]) if match else 0


def forget_peak() -> None:
    """Have the peak begin again from what is taken now, where the system can do that."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def main(run_id: str) -> None:
    classifier = open_classifier(run_id)
    for line in sys.stdin:
        content = Path(line.rstrip("\n")).read_bytes()
        figures = measured(
            lambda content=content: prepare_input_picture(classifier, content, PreparationOverrides()).problem
        )
        print(json.dumps(figures), flush=True)


def measured(read: Callable[[], str]) -> dict[str, Any]:
    """What came of it: the sentence of a refusal, or the exception that should not have been."""
    forget_peak()
    before, began = memory("VmRSS"), time.perf_counter()
    refused = raised = ""
    try:
        refused = read()
    except Exception as error:  # Whatever it is, it is what is looked for.
        raised = repr(error)
    seconds = time.perf_counter() - began
    return {"refused": refused, "raised": raised, "seconds": seconds, "bytes": memory("VmHWM") - before}


if __name__ == "__main__":
    main(*sys.argv[1:])
