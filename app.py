"""The dashboard: page config, navigation and what a page shows when it fails."""

from streamlit.starlette import App

from ensemble.ui.shared import preload, serving
from ensemble.ui.shared.entry import configure, navigation
from ensemble.ui.shared.guard import guarded
from ensemble.ui.sign_in import page as sign_in
from ensemble.ui.sign_in import visitors

if __name__ == "__main__":  # a page that is drawn
    configure()
    visit = visitors.here()
    page = navigation(hidden=not visit.admitted)
    with guarded():
        if visit.admitted:
            sign_in.line(visit)
            page.run()
            preload.start()
        else:
            sign_in.show(visit)
else:  # `streamlit run`, which looks for this name and serves it
    app = App(__file__, middleware=serving.middleware(), lifespan=serving.lifespan)
