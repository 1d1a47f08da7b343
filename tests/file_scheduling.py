"""Distribution of test files to the processes of pytest-xdist when some of them use a browser."""

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

MOST_BROWSERS = 2
BROWSER = "tests/browser/"


class FileScheduling(LoadFileScheduling):
    """Gives each process one file at a time, in the order of collection.

    One process runs the browser tests, which spend much of their time waiting for pages. A second process joins it when
    no other files are left. More browsers at a time would slow each other down.
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
    """Return whether a process has browser tests left to run."""
    return any(scope.startswith(BROWSER) and not all(tests.values()) for scope, tests in units.items())
