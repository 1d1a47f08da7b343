"""Signing in to a shared server, with a real provider: who comes in, and what others get."""

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from ensemble import datasets
from ensemble.access import owners
from ensemble.datasets import registry
from ensemble.runs.imported_run import create_imported_run
from ensemble.ui.sign_in import visitor_tabs
from tests.browser.conftest import App
from tests.browser.serving import Server
from tests.browser.shared_server import PEOPLE, SECRET, draw_page, serving_people

LIST = "ann@example.org=member\neve@example.org=viewer\n"
SEEN = ("stTopNavLink", "stSidebarNavLink", "stPlotlyChart", "stDataFrame")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The list of who may come in, which a test may change."""
    file = tmp_path_factory.mktemp("people") / "people.txt"
    file.write_text(LIST + "bob@example.org=viewer\n")
    return file


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, people: Path) -> Iterator[Server]:
    """A server that others sign in to."""
    with serving_people(tmp_path_factory.mktemp("shared"), people) as started:
        yield started


@pytest.fixture(scope="module")
def run_id(server: Server) -> str:
    """A run of the member's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(server.runs))
        data = datasets.load_dataset("digits")
        sure = np.eye(10, dtype=np.float32)[data.test_labels]
        probabilities = np.stack([0.9 * sure + 0.01, 0.5 * sure + 0.05])
        run = create_imported_run(
            [probabilities],
            data.test_labels,
            registry.find_dataset_entry("digits"),
            name="Nobody else's",
            images=data.test_images,
        )
    (run.path / owners.OWNER_FILE).write_text('{"owner": "ann@example.org"}')
    return run.id


def sign_in(app: App, person: str, path: str = "") -> None:
    """As a person does: the button, and the provider's page."""
    app.open(path)
    app.page.get_by_role("button", name="Sign in").click()
    app.page.get_by_role("button", name=person, exact=True).click()
    app.page.wait_for_url(f"{app.server.url}/**")
    app.rest()


def asked(server: Server, path: str, cookie: str = "", method: str = "GET") -> int:
    """The status of an answer."""
    port = int(server.url.rpartition(":")[2])
    with closing(http.client.HTTPConnection("localhost", port)) as connection:
        connection.request(method, path, headers={"Cookie": cookie} if cookie else {})
        return connection.getresponse().status


def cookies(app: App) -> str:
    given = app.page.context.cookies(app.server.url)
    return "; ".join(f"{one['name']}={one['value']}" for one in given)


def sees_nothing(app: App, run_id: str) -> None:
    """Neither the menu nor a run's name, wherever in the page it might stand."""
    expect(app.page.get_by_role("button", name="Sign in")).to_be_visible()
    for one in SEEN:
        expect(app.page.get_by_test_id(one)).to_have_count(0)
    assert run_id not in app.page.content()
    assert app.page.title() in ("Deep ensembles", "Train")


def test_signed_out_there_is_a_way_in_and_nothing_else(app: App, run_id: str) -> None:
    for path in ("", "train", "runs", f"inspect?run={run_id}"):
        app.open(path)
        sees_nothing(app, run_id)
        # Nothing is left free for a sidebar that does not come.
        box = app.page.get_by_test_id("stMain").bounding_box()
        assert box
        assert box["x"] == 0


def test_silent_connections_lock_nobody_out(app: App, run_id: str) -> None:
    where = f"{app.server.url.replace('http', 'ws', 1)}/_stcore/stream"
    with ExitStack() as stack:
        for _ in range(visitor_tabs.MAX_VISITORS + 10):
            tab = connect(where, subprotocols=[Subprotocol("streamlit")], close_timeout=1)
            stack.enter_context(tab)
        app.open("")
        expect(app.page.get_by_role("button", name="Sign in")).to_be_visible()
        sign_in(app, "member")
        expect(app.page.get_by_test_id("stTopNavLink").first).to_be_visible()


def test_a_picture_is_answered_by_its_address_to_who_signed_in_alone(app: App, run_id: str) -> None:
    sign_in(app, "member")
    with app.page.expect_request(f"{app.server.url}/media/*") as picture:
        app.open("predictions", run=run_id, digit="3")
    expect(app.page.get_by_text("ann\u2060@example.org · member")).to_be_visible()
    path, mine = picture.value.url.removeprefix(app.server.url), cookies(app)
    assert asked(app.server, path, mine) == 200
    assert asked(app.server, path) == 401
    assert asked(app.server, "/_stcore/upload_file/tab/file", method="PUT") == 401
    app.open("runs")
    app.page.get_by_role("button", name="Sign out").click()
    app.page.get_by_role("button", name="End session").click()
    app.page.wait_for_url(f"{app.server.url}/**")
    app.rest()
    sees_nothing(app, run_id)
    assert asked(app.server, path, mine) == 401, "the cookie of before is good no longer"


@pytest.mark.parametrize("person", ["of another domain", "unverified"])
def test_whoever_is_not_on_the_list_is_told_so_and_sees_nothing(person: str, app: App, run_id: str) -> None:
    sign_in(app, person)
    said = "is not allowed to sign in here" if person != "unverified" else "does not confirm"
    expect(app.page.get_by_text(said)).to_be_visible()
    sees_nothing(app, run_id)
    assert asked(app.server, "/media/0a1b.png", cookies(app)) == 401


def test_who_is_taken_off_the_list_is_shown_out_of_an_open_tab(app: App, run_id: str, people: Path) -> None:
    sign_in(app, "leaving")
    app.open("predictions", run=run_id)
    expect(app.page.get_by_text("Nobody else's").first).to_be_visible()
    people.write_text(LIST)
    expect(app.page.get_by_text("is not allowed to sign in here")).to_be_visible()
    sees_nothing(app, run_id)


def test_who_has_been_signed_in_for_too_long_signs_in_again(app: App, run_id: str) -> None:
    said = {
        "sub": "member",
        "iat": time.time() - 13 * 3600,
        "is_logged_in": True,
        "origin": app.server.url,
        "provider": "default",
        **PEOPLE["member"],
    }
    value = create_signed_value(SECRET, "_streamlit_user", json.dumps(said)).decode()
    app.page.context.add_cookies([{"name": "_streamlit_user", "value": value, "url": app.server.url}])
    app.open("runs")
    expect(app.page.get_by_text("Your sign-in has expired")).to_be_visible()
    sees_nothing(app, run_id)
    assert asked(app.server, "/media/0a1b.png", cookies(app)) == 401


@contextmanager
def handmade(app: App) -> Iterator[ClientConnection]:
    """A tab without a browser: it sends whatever it is told to, be it behind a disabled button."""
    token = {one["name"]: one["value"] for one in app.page.context.cookies(app.server.url)}
    with connect(
        f"{app.server.url.replace('http', 'ws')}/_stcore/stream",
        max_size=None,
        origin=Origin(app.server.url),
        additional_headers={"Cookie": cookies(app)},
        subprotocols=[Subprotocol("streamlit"), Subprotocol(token["_streamlit_xsrf"])],
    ) as tab:
        yield tab


def test_a_viewer_launches_nothing_not_even_by_a_request_made_by_hand(app: App, run_id: str) -> None:
    sign_in(app, "viewer")
    app.open("train")
    launch = app.page.get_by_role("button", name="Launch", exact=False).first
    expect(launch).to_be_disabled()
    expect(app.page.get_by_text("viewer: you may look and classify")).to_be_visible()
    before = sorted(app.server.runs.iterdir())
    with handmade(app) as tab:
        elements = [one.delta.new_element for one in draw_page(tab, "train") if one.HasField("delta")]
        buttons = {one.button.label: one.button.id for one in elements if one.HasField("button")}
        button = next(one for label, one in buttons.items() if label.startswith("Launch"))
        answer = draw_page(tab, "train", press=button)
    assert b"look and classify here, but not launch" in b"".join(one.SerializeToString() for one in answer)
    assert sorted(app.server.runs.iterdir()) == before
