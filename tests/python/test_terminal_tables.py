"""Tables in terminals of 80 and 120 columns: no word is broken, no line is too long."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dumbbell
from dumbbell import Scenario, Sweep, SweepResult
from dumbbell.cli.sweep_table import print_sweep
from dumbbell.terminal.console import error, print_line
from dumbbell.terminal.table import print_table

WIDTHS = [80, 120]
SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
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
    assert max(len(line) for line in lines) <= width
    assert all(lines[at].strip() for at in (0, -1)), "an empty line before or after"
    assert not any(line.isspace() for line in lines)
    for word in words:
        assert re.search(rf"(^|\s){re.escape(word)}(\s|$)", out), f"`{word}` is broken:\n{out}"


def test_a_run_fits(cli, width):
    out = cli("run", "copa", "cubic", "bbr_fca", "--time", "1s").out
    check(out, width, ["goodput", "copa", "bbr_fca", "inflight", "retrans."])
    if width == 120:
        assert "not shown" not in out
        assert "RTOs" in out


NAMED = "link.down.queue=bfifo,fq_codel"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run",), ["download", "call", "pages", "R", "MOS"]),
        (("sweep", "--axis", NAMED, "--metric", "mos"), ["call", "in", "opinion", "bfifo"]),
        (
            ("sweep", "--axis", NAMED, "--metric", "mos,page_load_time_p95_s,goodput_bps"),
            ["pages", "goodput", "download"],
        ),
        (
            ("sweep", "--axis", NAMED, "--reps", "3", "--metric", "goodput_bps,rtt_p95_us,share"),
            ["download", "upload", "95th"],
        ),
    ],
)
def test_many_groups_fit(cli, width, arguments, words):
    command, *options = arguments
    scenario = str(SCENARIOS / "which-queue.toml")
    out = cli(command, scenario, *options, "--time", "2s").out
    check(out, width, words)


def test_columns_without_a_value_go_and_those_with_one_value_are_said(capsys, monkeypatch):
    heads = ("group", "flows", "MOS", "goodput\nMbit/s", "RTOs")
    rows = [("cubic", "1", "–", "1.00", "0"), ("bbr", "1", "–", "2.00", "0")]
    monkeypatch.setenv("COLUMNS", "40")
    print_table(heads, rows)
    shown = capsys.readouterr().out
    assert "MOS" not in shown
    assert shown.splitlines()[1].split() == ["group", "flows", "Mbit/s", "RTOs"]
    monkeypatch.setenv("COLUMNS", "22")
    print_table(heads, rows, optional=("RTOs",))
    shown = capsys.readouterr().out
    assert shown.splitlines()[1].split() == ["group", "flows", "Mbit/s"]
    assert shown.endswith("\nthe same in every row:\nRTOs 0\n")


def test_what_is_too_wide_goes_on_below_with_the_first_column_again(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    print_table(("cell", "a", "b", "c"), [("x", "1" * 8, "2" * 8, "3" * 8)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if "─" not in line] == [
        ["cell", "a"], ["x", "1" * 8], ["cell", "b"], ["x", "2" * 8], ["cell", "c"], ["x", "3" * 8],
    ]  # fmt: skip


def test_lines_are_broken_between_words_on_a_terminal_alone(capsys, monkeypatch):
    line = "bottleneck   50mbit, 92.3 % used; queueing delay [fd64:756d:6262:0:1:2:a00:2]:34080"
    monkeypatch.delenv("COLUMNS", raising=False)
    print_line(line)
    assert capsys.readouterr().out == f"{line}\n"
    monkeypatch.setenv("COLUMNS", "40")
    print_line(line)
    assert capsys.readouterr().out.splitlines() == [
        "bottleneck   50mbit, 92.3 % used;",
        "             queueing delay",
        "             [fd64:756d:6262:0:1:2:a00:2]:34080",
    ]


def test_a_sweep_says_what_its_signs_mean(cli, width):
    arguments = ("sweep", "copa", "--buffer", "1bdp", "--time", "1s", "--reps", "3")
    out = cli(*arguments, "--metric", "goodput_bps,mos").out
    assert "±: 95 % confidence interval of the mean\n" in out
    assert "[ ]" not in out
    two = cli("sweep", "copa", "--buffer", "1bdp", "--time", "1s", "--reps", "2").out
    assert "( ): the values of the two repetitions\n" in two
    ten = cli("sweep", "copa", "--buffer", "1bdp", "--time", "1s", "--reps", "10").out
    assert re.search(r"^\[ \]: 95 % confidence interval of the mean", ten, re.MULTILINE)
    assert "no run has a value of `mos`\n" in out


def test_long_names_push_columns_out(cli, width):
    out = cli("run", LONG, LONG + ",default_inv_delta=3", "--time", "1s").out
    check(out, width, ["goodput", "group", "share"] + ["mode_switching=0,"] * (width == 80))
    assert ("not shown in 80 columns: " in out) == (width == 80)
    short = cli("run", "copa:loss_mode=0", "cubic", "--time", "1s").out
    assert "\ncopa:loss_mode=0 " in short


def test_a_sweep_fits(cli, width):
    arguments = ("sweep", "copa", "cubic", "--axis", "copa.mode_window_rtts=2,4", "--reps", "3")
    out = cli(*arguments, "--buffer", "1bdp,2bdp", "--time", "1s").out
    check(out, width, ["copa.mode_window_rtts", "buffer", "Mbit/s/flow", "verdict"])


def test_a_comparison_fits(cli, width, saved):
    out = cli("compare", str(saved / "a"), str(saved / "b"), "--metric", "all").out
    check(out, width, ["retransmitted,", "metric", "interval"])


def test_a_comparison_of_80_columns_has_both_sides(cli, saved, tmp_path, monkeypatch):
    """The cell is above its metrics, whose names are short: numbers have the room."""
    base = dumbbell.Scenario(["reno", "cubic"], time="1s")
    axes = {"buffer": "1bdp,2bdp", "jitter": "0ms,50ms"}
    dumbbell.Sweep(base, axes, reps=3).run(out=tmp_path / "b")
    monkeypatch.setenv("COLUMNS", "80")
    out = cli("compare", str(saved / "a"), str(tmp_path / "b")).out
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"^metric +group +A +B +B - A +95 % interval", out, re.MULTILINE)
    assert len(re.findall(r"^buffer=[12]bdp, ", out, re.MULTILINE)) == 4
    assert len(re.findall(r"^  share, % +0 +[\d.]+ +[\d.]+ ", out, re.MULTILINE)) == 4
    assert len(re.findall(r"^  queueing delay ", out, re.MULTILINE)) == 4


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


@pytest.mark.parametrize("name", ["cake", "fq_codel", "gilbert_elliott"])
def test_an_element_fits(cli, width, name):
    check(cli("list", "queues", name).out, width, [name, "parameter"])


def test_leaves_out_the_first_optional_column_first(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "35")
    print_table(HEADS, [("a" * 12, "1.00", "2.00", "3")], optional=("RTOs", "retrans.\n%"))
    out = capsys.readouterr().out
    assert "not shown in 35 columns: RTOs\n" in out
    assert "retrans." in out
    monkeypatch.setenv("COLUMNS", "20")
    print_table(HEADS, [("a" * 12, "1.00", "2.00", "3")], optional=("RTOs", "retrans.\n%"))
    out = capsys.readouterr().out
    assert "not shown in 20 columns: retrans. %, RTOs" in " ".join(out.split())
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


def swept(**columns: Any) -> SweepResult:
    """Return a sweep of two cells, two groups and two repetitions, with other values in columns."""
    sweep = Sweep(Scenario(["cubic", "reno"], time="1s"), {"rate": "5mbit,10mbit"}, reps=2)
    result = sweep.run()
    rows = result.rows
    for name, values in columns.items():
        at = rows.column_names.index(name) if name in rows.column_names else rows.num_columns
        rows = rows.remove_column(at) if at < rows.num_columns else rows
        rows = rows.add_column(at, name, pa.array(values))
    return replace(result, rows=rows)


def test_what_programs_got_is_said_of_each_way(capsys):
    down = [4e6, 1e6] * 4
    up = [2e6, None] * 4
    ways = {"server_to_client_goodput_bps": down, "client_to_server_goodput_bps": up}
    print_sweep(swept(**ways, jain=pa.array([None] * 8, pa.float64())))
    out = capsys.readouterr().out
    assert "cubic → client" in out
    assert "cubic → server" in out
    assert "reno → client" in out
    assert "reno → server" not in out
    assert "Mbit/s/flow" not in out
    assert "Jain" not in out
    # One run without data upwards: the sum of both ways is what all runs have.
    print_sweep(swept(**{**ways, "client_to_server_goodput_bps": [None, None, *up[2:]]}))
    assert "Mbit/s/flow" in capsys.readouterr().out


def test_a_metric_without_a_value_is_a_dash(capsys):
    print_sweep(swept(jain=[None, None, None, None, 0.5, 0.5, 0.5, 0.5]))
    out = capsys.readouterr().out
    assert "nan" not in out
    assert re.search(r"5mbit .* – +OK", out)


def test_invalid_runs_are_in_no_number_of_the_table(capsys):
    verdicts = ["INVALID"] * 4 + ["INVALID", "INVALID", "OK", "OK"]
    goodput = [1e6] * 4 + [1e6, 1e6, 9e6, 9e6]
    print_sweep(swept(verdict=verdicts, goodput_per_flow_bps=goodput))
    out = capsys.readouterr().out
    assert re.search(r"5mbit +– +– .* INVALID\n", out)
    assert re.search(r"10mbit +9.00 +9.00 .* OK, 1 INVALID\n", out)
    assert "runs that are INVALID are in no number\n" in out


def test_axes_that_are_alike_everywhere_are_one_column(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    words = ("sweep", "cubic", "--up-rate", "5mbit", "--time", "1s", "--zip", "queue,up_queue")
    out = cli(*words, "--queue", "bfifo,codel", "--up-queue", "bfifo,codel").out
    assert "link.bottleneck.queue, " in out
    assert "\nbfifo " in out
    assert not re.search(r"bfifo +bfifo", out)
    out = cli(*words, "--queue", "bfifo,codel", "--up-queue", "codel,bfifo").out
    assert re.search(r"bfifo +codel", out)


def test_what_is_not_shown_is_not_explained(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    out = cli(
        "sweep",
        "cubic",
        "reno",
        "bbr",
        "--up-rate",
        "5mbit",
        "--rate",
        "5mbit,10mbit",
        "--time",
        "1s",
    ).out
    absent = out.partition("not shown in 44 columns:")[2].partition("\nJ")[0]
    assert "used %" in absent
    assert "used, queueing" not in out
