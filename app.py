"""The dashboard: page config, navigation and what a page shows when it fails."""

from streamlit.starlette import App

from ensemble.ui.shared import preload, serving
from ensemble.ui.shared.entry import configure, navigation
from ensemble.ui.shared.guard import guarded

if __name__ == "__main__":  # a page that is drawn
    configure()
    page = navigation()
    with guarded():
        page.run()
        preload.start()
else:  # `streamlit run`, which looks for this name and serves it
    app = App(__file__, middleware=serving.middleware(), lifespan=serving.lifespan)
