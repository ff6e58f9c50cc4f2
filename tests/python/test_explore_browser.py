"""The page of `dumbbell explore` in a real browser: dragged, pinned, reloaded, exported."""

from __future__ import annotations

import json
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cli.explore import scenario_named
from dumbbell.explore import ExploreServer, write_export
from dumbbell.explore.live_page import LivePage
from dumbbell.explore.redirect import redirect_page
from dumbbell.scenario import Scenario
from tests.python.browser import CHROMIUM, Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt install chromium"),
]
RENO = (Path(__file__).parents[2] / "cc" / "reno.bpf.c").read_text(encoding="utf-8")
#: Moves a slider to a stop, as a pointer does.
MOVE = """(function (name, value) {
  const control = document.getElementById("control-" + name);
  control.value = value;
  const kind = control.tagName === "SELECT" ? "change" : "input";
  control.dispatchEvent(new Event(kind, { bubbles: true }));
})"""
#: Makes the next request fail as one without a server does.
FAIL_ONCE = """(function () {
  const fetch = window.fetch;
  window.fetch = function () { window.fetch = fetch; throw new TypeError("not sent"); };
})()"""
#: Answers the next request of a path as the server does when another one overtook it.
OVERTAKE_ONCE = """(function (path) {
  const fetch = window.fetch;
  window.fetch = function (asked, how) {
    if (asked !== path) { return fetch(asked, how); }
    window.fetch = fetch;
    return Promise.resolve(new Response('{"kind": "overtaken"}\\n'));
  };
})"""
#: Sends the next request only after a while, as of a run that is compiled first.
DELAY_ONCE = """(function (ms) {
  const fetch = window.fetch;
  window.fetch = async function (asked, how) {
    window.fetch = fetch;
    await new Promise(function (done) { setTimeout(done, ms); });
    return fetch(asked, how);
  };
})"""
#: Moves every slider and picker that there is to random places, from a seed, without waiting.
SHAKE = """(async function (count) {
  let seed = 7;
  const random = function (most) { seed = (seed * 48271) % 2147483647; return seed % most; };
  for (let step = 0; step < count; step += 1) {
    const all = Array.from(document.querySelectorAll("#controls :is(input[type=range], select)"));
    const left = ["control-time", "control-rate", "add-group"];
    const one = all[random(all.length)];
    if (left.includes(one.id)) { continue; } // a run of a minute
    if (one.tagName === "SELECT") {
      one.selectedIndex = random(one.options.length);
      one.dispatchEvent(new Event("change", { bubbles: true }));
    } else {
      one.value = random(Number(one.max) + 1);
      one.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await new Promise(function (done) { setTimeout(done, 15); });
  }
})"""
#: The canvases of the run that is shown, and what is on them.
CANVASES = "Array.from(document.querySelectorAll('#side-b .panel canvas'))"
PIXELS = f"{CANVASES}.map(each => each.toDataURL())"

#: Whether a canvas has a pixel of a colour.
HAS_COLOR = """(function (selector, red, green, blue) {
  const canvas = document.querySelector(selector), context = canvas.getContext("2d");
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at] === red && pixels[at + 1] === green && pixels[at + 2] === blue) { return true; }
  }
  return false;
})"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def server() -> Iterator[ExploreServer]:
    found = ExploreServer(Scenario(["copa", "cubic"], time="2s"), language="en")
    failures: list[str] = []
    vars(found.http)["handle_error"] = lambda *_: failures.append(traceback.format_exc())
    thread = threading.Thread(target=found.serve)
    thread.start()
    yield found
    found.http.shutdown()
    thread.join()
    assert failures == []


@pytest.fixture
def page(browser: Browser, server: ExploreServer) -> Browser:
    """The page, newly opened, with its first picture."""
    browser.errors.clear()
    browser.size(1280, 900)
    browser.call("Page.navigate", url="about:blank")
    browser.open(server.url)
    settle(browser)
    return browser


def settle(page: Browser) -> None:
    """Wait until the page shows the whole run of what its controls say.

    On a busy machine the beginning of a run is drawn first, also of the first one.
    """
    page.until("document.querySelector('#stage[aria-busy=false]')")
    page.until("document.querySelectorAll('#side-b .panel canvas').length > 3")


def move(page: Browser, name: str, value: object) -> None:
    """Move a control and wait for the picture of its run."""
    page.js(f"{MOVE}({json.dumps(name)}, {json.dumps(value)})")
    settle(page)


def text(page: Browser, selector: str) -> str:
    found: str = page.js(f"document.querySelector({json.dumps(selector)}).innerText")
    return found


def test_a_dragged_slider_draws_another_run_and_says_it(page):
    said = text(page, "#answer")
    rows = text(page, "#side-b table")
    move(page, "buffer", 16)
    assert text(page, "#answer") != said
    assert text(page, "#side-b table") != rows
    page.until("decodeURIComponent(location.hash).includes('buffer = \"48bdp\"')")
    assert "Packets wait" in page.js("document.getElementById('said').textContent")
    assert page.errors == []


def test_the_first_picture_is_as_wide_as_its_box(page):
    # Drawn before the controls are there, it has their place beside it already.
    widths = f"{CANVASES}.map(each => each.clientWidth - each.closest('.plot').clientWidth)"
    assert set(page.js(widths)) == {0}


def test_a_private_file_leads_to_the_page(browser, server):
    browser.errors.clear()
    with redirect_page(server.url) as address:
        browser.call("Page.navigate", url=address)
        settle(browser)
    assert browser.js("location.href").startswith(server.url)
    assert browser.errors == []


def test_a_picked_queue_brings_its_parameters(page):
    assert page.js("document.getElementById('control-queue_target')") is None
    move(page, "queue", "codel")
    page.until("document.getElementById('control-queue_target')")
    move(page, "queue_target", 0)
    page.until("decodeURIComponent(location.hash).includes('codel:target=0s')")
    assert page.errors == []


def test_a_link_opens_the_same_run(page, server):
    move(page, "rtt", 4)
    page.until("decodeURIComponent(location.hash).includes('rtt = \"4ms\"')")
    link, rows = page.js("location.href"), text(page, "#side-b table")
    page.call("Page.navigate", url="about:blank")
    page.open(link)
    settle(page)
    assert text(page, "#side-b table") == rows
    assert page.js("document.getElementById('control-rtt').getAttribute('aria-valuetext')") == "4ms"


def test_a_plot_that_takes_other_numbers_looks_as_a_new_one_does(page):
    move(page, "buffer", 7)  # the first change of a figure replaces its plot
    page.js(f"window.kept = {CANVASES}")
    move(page, "buffer", 11)
    assert page.js(f"{CANVASES}.every((each, at) => each === window.kept[at])")
    page.js("new Promise(requestAnimationFrame)")
    taken = page.js(PIXELS)
    page.js("document.querySelector('.language').click()")
    page.js("document.querySelector('.language').click()")
    page.js("new Promise(requestAnimationFrame)")
    assert not page.js(f"{CANVASES}.some((each, at) => each === window.kept[at])")
    assert page.js(PIXELS) == taken
    assert page.errors == []


def test_a_pinned_run_stays_beside_the_next_on_the_same_axes(page):
    rows = text(page, "#side-b table")
    page.js("document.getElementById('pin').click()")
    move(page, "1_cc", "bbr")
    assert text(page, "#side-a table") == rows
    assert "BBR" in text(page, "#side-b table")
    assert "cc cubic" in text(page, "#side-a h2")
    # Beside one another, not one below the other.
    tops = "Array.from(document.querySelectorAll('#sides .panel.first')).map(e => e.offsetTop)"
    assert len(set(page.js(tops))) == 1
    page.js("document.getElementById('pin').click()")
    assert page.js("document.getElementById('side-a').hidden")
    assert page.errors == []


def test_the_sweep_fills_in_and_a_click_on_it_moves_the_slider(page):
    page.until("Number(document.getElementById('sweep-plot').dataset.points) > 10")
    assert page.js(f"{HAS_COLOR}('#sweep-plot canvas', 0, 114, 178)")  # CUBIC's
    page.js("document.dispatchEvent(new CustomEvent('pick', { detail: 0 }))")
    page.until("decodeURIComponent(location.hash).includes('buffer = \"0.1bdp\"')")
    page.js(
        "document.getElementById('axis').value = '1.cc';"
        "document.getElementById('axis').dispatchEvent(new Event('change'))"
    )
    page.until("Number(document.getElementById('sweep-plot').dataset.points) > 15")
    assert page.errors == []


def test_what_an_older_request_overtook_is_asked_again(page):
    page.until("Number(document.getElementById('sweep-plot').dataset.points) > 10")
    page.js(f"{OVERTAKE_ONCE}('show')")
    move(page, "buffer", 16)
    assert "48bdp" in page.js("document.getElementById('control-buffer').ariaValueText")
    page.until("decodeURIComponent(location.hash).includes('buffer = \"48bdp\"')")
    page.js(f"{OVERTAKE_ONCE}('sweep')")
    page.js(
        "document.getElementById('axis').value = 'rtt';"
        "document.getElementById('axis').dispatchEvent(new Event('change'))"
    )
    page.until("document.getElementById('sweep-plot').dataset.axis === 'rtt'")
    assert page.errors == []


def test_what_is_moved_while_a_run_takes_long_is_not_instead_of_it(page):
    page.js(f"{DELAY_ONCE}(1500)")
    page.js(f"{MOVE}('rtt', 4)")
    time.sleep(0.7)  # longer than the page's patience
    move(page, "buffer", 7)
    page.until("decodeURIComponent(location.hash).includes('rtt = \"4ms\"')")
    assert "buffer = " in page.js("decodeURIComponent(location.hash)")
    assert page.js("document.getElementById('control-rtt').getAttribute('aria-valuetext')") == "4ms"
    assert page.errors == []


def test_what_cannot_be_set_is_said_and_the_picture_stays(page):
    page.js(
        "const box = document.querySelector('#control-rate').nextElementSibling;"
        "box.value = '50'; box.dispatchEvent(new Event('change'))"
    )
    page.until("!document.getElementById('problem').hidden")
    assert "has no unit" in text(page, "#problem")
    assert page.js("document.getElementById('control-rate').getAttribute('aria-invalid')") == "true"
    # The command would be of what was valid before.
    assert page.js("document.querySelector('[data-text=command]').disabled")
    move(page, "rate", 12)
    assert page.js("document.getElementById('problem').hidden")
    assert not page.js("document.querySelector('[data-text=command]').disabled")


def test_the_pointer_names_the_state(page):
    page.js(
        "const over = document.querySelector('#side-b .panel .u-over');"
        "const box = over.getBoundingClientRect();"
        "window.at = [box.left + box.width / 2, box.top + box.height / 2]"
    )
    x, y = page.js("window.at")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    page.until("!document.querySelector('.tip').hidden")
    assert " since " in text(page, ".tip")
    assert "Copa: " in text(page, ".tip")


def test_texts_and_numbers_are_there_to_take_away(page):
    page.js("document.querySelector('[data-text=command]').click()")
    assert text(page, "#text pre").startswith("dumbbell run copa cubic --time 2s")
    page.js("document.getElementById('close').click()")
    page.js("document.querySelector('#side-b .panel details').open = true")
    page.until("document.querySelectorAll('#side-b .panel details tbody tr').length > 10")


def test_a_saved_file_runs_again_beside_its_older_curves_and_an_error_says_its_line(
    page, tmp_path, monkeypatch
):
    file = tmp_path / "mine.bpf.c"
    file.write_text(RENO, encoding="utf-8")
    state = Scenario([str(file), "cubic"], time="2s").to_toml()
    page.js(f"location.hash = '#' + encodeURIComponent({json.dumps(state)})")
    page.until("document.querySelector('#side-b table').innerText.includes('mine')")
    broken = RENO.replace("u32 BPF_PROG(", "u33 BPF_PROG(", 1)
    line = 1 + RENO[: RENO.index("u32 BPF_PROG(")].count("\n")
    file.write_text(broken, encoding="utf-8")
    page.until("!document.getElementById('problem').hidden")
    assert text(page, "#problem p").startswith(f"mine.bpf.c:{line}: unknown type name")
    file.write_text(RENO + "/* saved */\n", encoding="utf-8")
    page.until("document.getElementById('problem').hidden")
    page.until("document.querySelector('#side-b .legend').innerText.includes('before saving')")
    page.errors[:] = []


def test_random_drags_leave_no_error_and_the_last_one_counts(page):
    page.js(f"{SHAKE}(500)")
    page.js("document.getElementById('again').click()")
    page.until("document.querySelector('#side-b table').innerText.includes('Copa')")
    page.until("decodeURIComponent(location.hash).startsWith('#rate = \"50mbit\"')")
    assert page.errors == []
    move(page, "buffer", 3)


def test_a_server_that_ended_is_said_and_the_link_opens_in_the_next(browser):
    first = ExploreServer(Scenario(["reno"], time="2s"), language="en")
    thread = threading.Thread(target=first.serve)
    thread.start()
    browser.open(first.url)
    settle(browser)
    browser.until("location.hash")
    link = browser.js("location.href")
    first.http.shutdown()
    thread.join()
    browser.js(f"{MOVE}('rtt', 3)")
    browser.until("!document.getElementById('problem').hidden")
    assert "dumbbell explore LINK" in text(browser, "#problem")
    again = scenario_named([link], {}, None, None, None)
    assert again.to_dict() == Scenario(["reno"], time="2s").to_dict()


def test_windows_do_not_disturb_one_another(page, server):
    page.js(
        "const asked = { window: 'another', slot: 'b', changes: [['rtt', '9ms']] };"
        "window.others = [1, 2].map(async function (number) {"
        "  const body = JSON.stringify(Object.assign({}, asked, { window: String(number) }));"
        "  return (await fetch('show', { method: 'POST', body: body })).text();"
        "})"
    )
    move(page, "buffer", 2)
    others = page.js("Promise.all(window.others)")
    assert ['"kind": "end"' in each for each in others] == [True, True]
    page.until("decodeURIComponent(location.hash).includes('buffer = \"0.25bdp\"')")


def test_a_phone_shows_all_of_it(page):
    page.size(390, 844, scale=1)
    page.until("document.documentElement.clientWidth === 390")
    assert page.js("document.documentElement.scrollWidth") == 390
    page.size(390, 844, dark=True)
    dark = "getComputedStyle(document.body).backgroundColor"
    assert page.js(dark) == "rgb(22, 24, 26)"
    # The pinned run is below what is shown now, not mixed with it.
    page.js("document.getElementById('pin').click()")
    top = "document.querySelector('{}').getBoundingClientRect().top"
    places = ["#side-b > h2", "#side-b .panel:last-child", "#side-b table", "#side-a > h2"]
    places += ["#side-a .panel", "#side-a table"]
    tops = [page.js(top.format(place)) for place in places]
    assert tops == sorted(tops)


def test_every_control_has_a_name_and_japanese(page):
    unnamed = (
        "Array.from(document.querySelectorAll('#controls input, select, button')).filter(e => "
        "!(e.labels && e.labels.length) && !e.getAttribute('aria-label') && "
        "!e.textContent.trim()).length"
    )
    assert page.js(unnamed) == 0
    page.js("document.querySelector('.language').click()")
    assert page.js("document.querySelector('#controls label').innerText") == "帯域"
    assert "パケット" in text(page, "#answer")
    title = "document.getElementById('control-buffer').closest('.control').title"
    assert page.js(title).startswith("リンクの手前で待てるデータの量")
    page.js("document.querySelector('.language').click()")


def test_a_scenario_s_strings_are_text(page):
    state = Scenario(["cubic"], time="2s", name="</script><img src=x onerror=alert(1)>").to_toml()
    page.js(f"location.hash = '#' + encodeURIComponent({json.dumps(state)})")
    page.until("document.getElementById('title').textContent.includes('onerror')")
    assert page.js("document.querySelectorAll('img').length") == 0
    assert page.errors == []


def test_an_exported_page_needs_no_server(browser, tmp_path):
    path = tmp_path / "page.html"
    scenario = Scenario(["copa", "cubic"], time="2s", name="who wins")
    write_export(scenario, path, ["buffer=1..4bdp", "1.cc=cubic,bbr"], language="en")
    browser.errors.clear()
    browser.size(1280, 900)
    browser.open(path.as_uri())
    settle(browser)
    move(browser, "1_cc", "bbr")
    assert "BBR" in text(browser, "#side-b table")
    move(browser, "buffer", 2)
    browser.js("document.querySelector('[data-text=command]').click()")
    assert "dumbbell run copa bbr --buffer 4bdp" in text(browser, "#text pre")
    browser.js("document.getElementById('close').click()")
    browser.until("document.getElementById('sweep-plot').dataset.points === '3'")
    browser.js(
        "const box = document.querySelector('#control-buffer').nextElementSibling;"
        "box.value = '3bdp'; box.dispatchEvent(new Event('change'))"
    )
    browser.until("!document.getElementById('problem').hidden")
    assert "`3bdp` was not run; this page has 1bdp, 2bdp, 4bdp" in text(browser, "#problem")
    assert browser.errors == []


def test_a_page_follows_a_run_in_real_time_and_changes_its_path(browser):
    scenario = Scenario(["copa", "cubic"], rate="10mbit", rtt="40ms")
    began = time.monotonic()
    changes: list[dict[str, str]] = []

    def look() -> dict[str, Any]:
        now_s = time.monotonic() - began
        link = {
            "name": "bottleneck", "rate_bps": 10_000_000, "forwarded_bytes": int(1e6 * now_s),
            "dropped_pkts": 7, "marked_pkts": 0, "backlog_bytes": 50_000, "backlog_pkts": 33,
        }  # fmt: skip
        flows = [
            {"flow": at, "arrived_bytes": int(5e5 * now_s), "rtt_us": 60_000} for at in range(2)
        ]
        return {"time_s": now_s, "links": [link], "flows": flows}

    browser.errors.clear()
    browser.size(1280, 900)
    with LivePage(scenario, look, lambda **fields: changes.append(fields), can_end=True) as page:
        browser.open(page.url)
        browser.until("document.querySelectorAll('.panel canvas').length === 3")
        assert "bottleneck: 7 dropped" in text(browser, "#caption")
        browser.js(f"{MOVE}('rate', 3)")
        while not changes:
            time.sleep(0.01)
        assert list(changes[0]) == ["rate"]
        # A request that does not get through is said, and the next is sent.
        browser.js(FAIL_ONCE)
        browser.js(f"{MOVE}('rate', 4)")
        browser.until("document.querySelector('#problem p').textContent === 'not sent'")
        browser.js(f"{MOVE}('rate', 5)")
        while len(changes) < 2:
            time.sleep(0.01)
        browser.until("document.getElementById('problem').hidden")
        browser.js("document.getElementById('end').click()")
        assert page.is_ended.wait(30)
    browser.until("document.getElementById('progress').innerText.includes('has ended')")
    assert browser.errors == []
