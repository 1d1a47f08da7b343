"""The dashboard: page config, navigation and what a page shows when it fails."""

from streamlit.starlette import App

from ensemble.ui.shared import preload, server
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.navigation import build_navigation, configure_page
from ensemble.ui.sign_in import page as sign_in
from ensemble.ui.sign_in import visitors

if __name__ == "__main__":  # a page that is drawn
    configure_page()
    visit = visitors.identify_tab_visitor()
    page = build_navigation(hidden=not visit.is_admitted)
    with guard_page():
        if visit.is_admitted:
            sign_in.show_visitor_line(visit)
            page.run()
            preload.start_preload()
        else:
            sign_in.show_sign_in_page(visit)
else:  # `streamlit run`, which looks for this name and serves it
    app = App(__file__, middleware=server.build_middleware(), lifespan=server.lifespan)
