"""The guide, scenarios and notebooks that come with the code."""

import json
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

import dumbbell.guide as guide
from dumbbell.cli.wrapped_commands import wrap_commands

WITHOUT_BREAKS = re.compile(r"[\s\\]+")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """What a wheel has, as in an installation without a checkout."""
    (tmp_path / "lib/dumbbell/guide").mkdir(parents=True)
    monkeypatch.setattr(guide, "HERE", tmp_path / "lib/dumbbell/guide")
    monkeypatch.syspath_prepend(ROOT / "tools")
    monkeypatch.setattr(sys, "argv", ["ship_guide.py"])
    runpy.run_path(str(ROOT / "tools/ship_guide.py"), run_name="__main__")
    monkeypatch.setattr(guide, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)


def test_a_wheel_has_every_page_scenario_and_notebook(shipped):
    for kind, (there, pattern) in {
        "pages": ("docs", "*.md"), "scenarios": ("scenarios", "*.toml"),
        "notebooks": ("examples", "*.ipynb"),
    }.items():  # fmt: skip
        expected = {path.name for path in (ROOT / there).glob(pattern)} - {
            path.name for path in (ROOT / there).glob(pattern) if path.is_symlink()
        }
        found = {path.name for path in guide.place_of(kind).glob(pattern)}
        assert found == expected
        assert str(guide.place_of(kind)).startswith(str(guide.HERE))
    notebook = next(guide.place_of("notebooks").glob("*.ipynb"))
    assert all(not cell.get("outputs") for cell in json.loads(notebook.read_text())["cells"])


def test_shipped_pages_have_their_tables_and_link_to_each_other(shipped):
    pages = guide.place_of("pages")
    text = (pages / "queues.md").read_text()
    assert "{include}" not in text
    assert "fq_codel" in text
    html = (pages / "index.html").read_text()
    assert 'href="queues.html"' in html
    assert ".md" not in html


def test_shipped_pages_have_their_pictures(shipped):
    pages = guide.place_of("pages")
    pictures = [
        picture
        for page in pages.glob("*.html")
        for picture in re.findall(r'<img[^>]* src="([^"]+)"', page.read_text())
    ]
    assert "report.png" in pictures
    for picture in pictures:
        assert (pages / picture).is_file(), picture


def test_help_shows_a_page_in_the_terminal(cli, shipped, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = cli("help", "queues")
    assert (shown.code, shown.err) == (0, "")
    assert "Queue disciplines" in shown.out
    assert "dumbbell list queues" in shown.out
    assert ".md" not in shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80


def test_help_cuts_no_word_of_a_page(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for topic in guide.topics():
        shown = cli("help", topic).out
        page = guide.topic_page(topic) or ""
        assert shown.count("…") <= page.count("…"), topic
        # A line of code that cannot be broken is as it is in the page; all else fits.
        code = {line.strip() for line in page.splitlines()}
        wide = [line for line in shown.splitlines() if len(line) > 80]
        assert [line for line in wide if line.strip() not in code] == [], topic
    shown = cli("help", "coming-from").out
    assert "'outage:on=2s,off=100ms,exponential=on'" in shown
    assert "duplicate:probability=1%+corrupt:probability=0.1%" in shown


def test_help_knows_commands_too_and_the_singular(cli):
    assert cli("help", "emulate", "set").out == cli("emulate", "set", "--help").out
    assert "Sweeps" in cli("help", "sweep").out.splitlines()[0]
    listed = cli("help").out
    for topic in ("getting-started", "queues", "emulate"):
        assert f"\n{topic} " in listed
    unknown = cli("help", "quues")
    assert (unknown.code, unknown.out) == (2, "")
    assert "did you mean `queues`?" in unknown.err


def test_docs_says_where_the_guide_is(cli, shipped, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    outcome = cli("docs")
    assert outcome.code == 0
    page = outcome.out.splitlines()[-1].removeprefix("open file://")
    assert Path(page).name == "index.html"
    assert Path(page).is_file()
    assert cli("docs", "emulat").err.endswith("did you mean `emulate`?\n")


def test_a_scenario_that_comes_with_dumbbell_runs_by_its_name(cli, shipped):
    run = json.loads(cli("run", "@incast", "--time", "100ms", "--json").out)
    assert run["scenario"]["name"] == "incast of 32 servers"
    assert (
        cli("run", "@incasd").err == "error: unknown scenario `@incasd`; did you mean `incast`?\n"
    )
    assert "incast of 32 servers" in cli("list", "scenarios").out
    assert "32 servers answer at once" in cli("list", "scenarios", "incast").out


def test_commands_of_a_page_can_be_pasted(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.strip() for line in cli("help", "gate").out.splitlines()]
    at = lines.index("# once; commit baseline/")
    assert lines[at + 1] == "dumbbell gate regression --cc ./mine.bpf.c --record baseline"
    shown = cli("help", "emulate").out
    assert " --with cubic:2 \\\n      --queue fq_codel -- sh -c" in shown
    long = "dumbbell run copa:a=1 'two words' cubic --time 30s"
    narrow = wrap_commands(long, 24)
    assert shlex.split(narrow.replace("\\\n", "")) == shlex.split(long)
    assert max(map(len, narrow.splitlines())) <= 24
    assert wrap_commands("dumbbell emulate -- sh -c 'of two", 10).endswith(" sh -c 'of two")


@pytest.mark.parametrize("topic", ["scenario", "sweeps", "security", "score"])
def test_no_code_of_a_page_is_cut(cli, monkeypatch, topic):
    """Of Python, TOML and output nothing can be broken: its lines are longer than the terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    page = guide.topic_page(topic)
    assert page is not None
    shown = WITHOUT_BREAKS.sub("", cli("help", topic).out)
    wide = [
        line
        for line in "".join(page.split("```")[1::2]).splitlines()
        if len(line) > 80 and "  #" not in line
    ]
    assert wide, "the page has no wide code"
    for line in wide:
        assert WITHOUT_BREAKS.sub("", line) in shown


def test_what_pages_refer_to_is_found(cli):
    assert "(`" not in cli("help", "reports").out
    assert "dumbbell help data-format" in " ".join(cli("help", "reports").out.split())
    assert cli("help", "fidelity").code == 0
    assert "(`dumbbell help media`)" in " ".join(cli("sweep", "--help-all").out.split())


def test_a_note_that_is_not_installed_is_said_to_be_one(cli, shipped):
    for note in ("fidelity", "findings"):
        assert cli("help", note).err == (
            f"error: `{note}` is a laboratory note, which is not installed: it is "
            f"`docs/notes/{note}.md` in dumbbell's sources\n"
        )
