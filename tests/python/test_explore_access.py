"""Who may ask the server of `explore`: the page that it served, on this machine."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dumbbell.explore import ExploreServer, redirect
from dumbbell.explore.redirect import redirect_page
from dumbbell.scenario import Scenario
from tests.python.explore_server import served


@pytest.fixture
def serving() -> Iterator[ExploreServer]:
    with served(Scenario(["copa", "cubic"], time="2s")) as server:
        yield server


def status(
    server: ExploreServer, path: str, headers: Mapping[str, str], method: str = "POST"
) -> int:
    """Return the status of a request with headers of a stranger's."""
    there = urlsplit(server.url)
    connection = HTTPConnection(str(there.hostname), there.port)
    connection.request(method, path, b"{}", headers={"Content-Length": "2", **headers})
    code = connection.getresponse().status
    connection.close()
    return code


def test_only_the_page_itself_is_answered(serving):
    own = urlsplit(serving.url).path + "show"
    host = f"127.0.0.1:{serving.http.server_port}"
    assert status(serving, own, {"Host": host}) == 200
    assert status(serving, own, {"Host": host, "Origin": f"http://{host}"}) == 200
    assert status(serving, own, {"Host": host, "Origin": "http://example.org"}) == 403
    assert status(serving, own, {"Host": host, "Origin": "null"}) == 403
    assert status(serving, own, {"Host": host, "Sec-Fetch-Site": "cross-site"}) == 403
    # Names of headers have no case.
    assert status(serving, own, {"host": host, "origin": f"http://{host}"}) == 200
    assert status(serving, own, {"host": host, "origin": "http://example.org"}) == 403
    assert status(serving, own, {"host": host, "sec-fetch-site": "cross-site"}) == 403
    # DNS rebinding: a name of the web's that leads here.
    rebound = f"example.org:{serving.http.server_port}"
    assert status(serving, own, {"Host": rebound, "Origin": f"http://{rebound}"}) == 403
    assert status(serving, "/show", {"Host": host}) == 403
    assert status(serving, "/wrong-token/show", {"Host": host}) == 403
    assert status(serving, own + "/other", {"Host": host}) == 404


def test_a_link_with_the_token_is_followed_from_anywhere_and_nothing_else_is_asked(serving):
    host = f"127.0.0.1:{serving.http.server_port}"
    link = {"Host": host, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    page = {**link, "Sec-Fetch-Dest": "document"}
    own = urlsplit(serving.url).path
    assert status(serving, own, page, method="GET") == 200
    assert status(serving, "/wrong-token/", page, method="GET") == 403
    assert status(serving, own, {**link, "Sec-Fetch-Dest": "iframe"}, method="GET") == 403
    # A form of another page's.
    assert status(serving, own + "show", {**page, "Origin": "null"}) == 403


def test_the_file_that_leads_to_the_page_is_private_and_removed():
    with redirect_page("http://127.0.0.1:1/token/") as address:
        path = Path(urlsplit(address).path)
        assert "url=http://127.0.0.1:1/token/" in path.read_text(encoding="utf-8")
        assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]
        assert "token" not in address
    assert not path.parent.exists()


def test_browsers_of_snaps_are_led_from_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setattr(redirect, "SNAPS", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with redirect_page("http://127.0.0.1:1/token/") as address:
        path = Path(urlsplit(address).path)
        assert path.parent.parent == tmp_path
        assert not path.parent.name.startswith(".")


def test_it_listens_on_the_loopback_interface_alone(serving):
    assert serving.http.server_address[0] == "127.0.0.1"


def test_nonsense_is_refused(serving):
    for body in (b"", b"[]", b"{", b'{"changes": 7}', b'{"changes": [["a"]]}', b'{"toml": "x"}'):
        request = urllib.request.Request(serving.url + "sweep", body)  # noqa: S310 -- our own
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)  # noqa: S310 -- our own
        assert refused.value.code == 400
        refused.value.close()
