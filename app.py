"""The dashboard: page config, navigation and what a page shows when it fails."""

from ensemble.ui.shared import preload
from ensemble.ui.shared.entry import configure, navigation
from ensemble.ui.shared.guard import guarded

configure()
page = navigation()
with guarded():
    page.run()
    preload.start()
