"""Which process of pytest-xdist tests which file, where some are in a browser and the others are not."""

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

MOST_BROWSERS = 2
BROWSER = "tests/browser/"


class FileScheduling(LoadFileScheduling):
    """A file at a time for each process, by the order of collection.

    One process has the files in a browser, which waits for its pages a good part of the time; once no others are
    left, a second one helps it. More at a time would keep one another from answering.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        is_for_browser = node is self.nodes[0]
        scopes = sorted(self.workqueue, key=lambda scope: scope.startswith(BROWSER) is not is_for_browser)
        self.workqueue.move_to_end(scopes[0], last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        only_browser = all(scope.startswith(BROWSER) for scope in self.workqueue)
        if self.workqueue and only_browser and not node.shutting_down:
            others = (units for other, units in self.assigned_work.items() if other is not node)
            if sum(map(has_browser_files, others)) >= MOST_BROWSERS:
                node.shutdown()
                return
        super()._reschedule(node)


def has_browser_files(units: dict[str, dict[str, bool]]) -> bool:
    """Whether a process still has to test some of the files that it was given in a browser."""
    return any(scope.startswith(BROWSER) and not all(tests.values()) for scope, tests in units.items())
