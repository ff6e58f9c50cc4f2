"""Tables in terminals of 80 and 120 columns: no word is broken, no line is too long."""

import json
import re

import pytest

import dumbbell
from dumbbell.terminal.console import error, print_line, print_table

WIDTHS = [80, 120]
LONG = "copa:mode_window_rtts=5,mode_switching=0"
HEADS = ("name", "goodput\nMbit/s", "retrans.\n%", "RTOs")


@pytest.fixture(params=WIDTHS)
def width(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two sweeps that can be compared; a congestion control of one has a long name."""
    place = tmp_path_factory.mktemp("tables")
    for name, cc in (("a", "copa"), ("b", LONG)):
        base = dumbbell.Scenario([cc, "cubic"], time="1s")
        axes = {"buffer": "1bdp,2bdp", "jitter": "0ms,50ms"}
        dumbbell.Sweep(base, axes, reps=3).run(out=place / name)
    return place


def check(out: str, width: int, words: list[str]) -> None:
    lines = out.splitlines()
    table = [line for line in lines if line.startswith(" ")]
    assert table
    assert max(len(line.rstrip()) for line in table) <= width
    for word in words:
        assert re.search(rf"(^|\s){re.escape(word)}(\s|$)", out), f"`{word}` is broken:\n{out}"


def test_a_run_fits(cli, width):
    out = cli("run", "copa", "cubic", "bbr_fca", "--time", "1s").out
    check(out, width, ["goodput", "copa", "bbr_fca", "inflight", "retrans."])
    if width == 120:
        assert "not shown" not in out
        assert "RTOs" in out


def test_long_names_push_columns_out(cli, width):
    out = cli("run", LONG, LONG + ",default_inv_delta=3", "--time", "1s").out
    check(out, width, ["goodput", "group", "share", "mode_switching=0,"])
    assert ("not shown in 80 columns: " in out) == (width == 80)
    short = cli("run", "copa:loss_mode=0", "cubic", "--time", "1s").out
    assert (" copa:loss_mode=0 " in short) == (width == 120)


def test_a_sweep_fits(cli, width):
    arguments = ("sweep", "copa", "cubic", "--axis", "copa.mode_window_rtts=2,4", "--reps", "3")
    out = cli(*arguments, "--buffer", "1bdp,2bdp", "--time", "1s").out
    check(out, width, ["copa.mode_window_rtts", "buffer", "Mbit/s/flow", "verdict"])


def test_a_comparison_fits(cli, width, saved):
    out = cli("compare", str(saved / "a"), str(saved / "b"), "--metric", "all").out
    check(out, width, ["retransmission", "cell", "metric", "interval"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "metrics"), ["retransmission_rate", "goodput_per_flow_bps", "metric"]),
        (("cc", "list", "copa"), ["mode_max_window_rtts", "competitive_decrease_extra", "range"]),
        (("gate", "--list"), ["regression", "rfc9743", "suite"]),
        (("model",), ["cubic-interval", "model", "source"]),
        (("model", "copa"), ["queueing", "N_crit"]),
    ],
)
def test_lists_fit(cli, width, arguments, words):
    check(cli(*arguments).out, width, words)


def test_leaves_out_the_first_optional_column_first(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "35")
    print_table(HEADS, [("a" * 12, "1.00", "2.00", "3")], optional=("RTOs", "retrans.\n%"))
    out = capsys.readouterr().out
    assert "not shown in 35 columns: RTOs\n" in out
    assert "retrans." in out
    monkeypatch.setenv("COLUMNS", "20")
    print_table(HEADS, [("a" * 12, "1.00", "2.00", "3")], optional=("RTOs", "retrans.\n%"))
    out = capsys.readouterr().out
    assert "not shown in 20 columns: retrans. %, RTOs\n" in out
    assert "a" * 12 in out  # wider than the terminal, and whole


def test_json_does_not_depend_on_the_width(cli, width):
    assert json.loads(cli("list", "metrics", "jain", "--json").out)[0]["name"] == "jain"


def test_a_terminal_acts_on_nothing_in_a_name(capsys):
    print_table(["\x1b[2Jname"], [["\x1b]0;owned\x07one"], ["two\u202eowt"]], title="\x9b1m")
    print_line("three\r\x1b[1Afour\nfive")
    error("\x1b[31msix")
    captured = capsys.readouterr()
    for text in (r"\x1b]0;owned\x07one", r"two\u202eowt", r"three\r\x1b[1Afour", r"\x9b1m"):
        assert text in captured.out
    assert captured.err == "error: \\x1b[31msix\n"
    assert not set("\x1b\x07\r\x9b\u202e") & set(captured.out)


def test_colons_in_a_name_make_no_emoji(capsys):
    print_table(["a:x:b"], [["root:x:0"]], title="t:x:t")
    print_line("l:x:l")
    error("e:x:e")
    captured = capsys.readouterr()
    for text in ("a:x:b", "root:x:0", "t:x:t", "l:x:l"):
        assert text in captured.out
    assert captured.err == "error: e:x:e\n"


def test_datagrams_have_no_rtt(cli):
    words = cli("run", "cubic", "reno", "--traffic", "datagram:rate=1mbit,bulk", "--time", "2s").out
    rows = [line.split() for line in words.splitlines()]
    of_datagrams = next(row for row in rows if row[:1] == ["datagram"])
    of_reno = next(row for row in rows if row[:1] == ["reno"])
    assert of_datagrams[5] == "–"
    assert float(of_reno[5]) > 40


def test_an_address_is_not_broken(width, capsys):
    address = "[fd64:756d:6262::a00:2]:34080"
    cells = [(f"0 cubic {address}\n→ {address}", *["1,234,567 (0.25 %)"] * 5)]
    print_table(("connection", *(f"column {i}" for i in range(5))), cells)
    assert f" {address} " in capsys.readouterr().out
