"""The dashboard: page config, navigation and what a page shows when it fails."""

from ensemble.ui import warm
from ensemble.ui.entry import configure, navigation
from ensemble.ui.guard import guarded

configure()
page = navigation()
with guarded():
    page.run()
    warm.start()
