"""Every face of a result works with its defaults on every kind of result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import dumbbell
from dumbbell import Group, Run, Scenario
from dumbbell.cli.run import print_groups
from dumbbell.export import export_csv
from dumbbell.export.group_rows import group_rows
from dumbbell.metrics import METRICS
from dumbbell.run.connections import connections_schema
from tests.python.conftest import Outcome
from tests.python.emulated import EMULATE, PYTHON
from tests.python.kinds_of_runs import KINDS

#: Commands on a result, and the files that they write.
FACES = {
    "plot": ("plot {run} --out {out}/plots", "plots/*.svg"),
    "report": ("report {run} --out {out}/page.html", "page.html"),
    "report against": ("report {run} --against {run} --out {out}/two.html", "two.html"),
    "export": ("report export {run} --csv --out {out}/csv", "csv/flows.csv"),
    "compare": ("compare {run} {run}", ""),
    "archive": ("archive {run} -o {out}/run.tar.zst", "run.tar.zst"),
}
#: What a kind does not have.
LACKS = {
    ("without_series", "plot"): "the run recorded no time series; run it with a sample interval",
}


@pytest.fixture(scope="module", params=KINDS)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of a kind, in a directory of its name."""
    place: Path = tmp_path_factory.mktemp("kind") / request.param
    KINDS[request.param](place)
    return place


@pytest.mark.parametrize("face", FACES)
def test_a_face_works_with_its_defaults(
    face: str, result: Path, tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    words, file = FACES[face]
    outcome = cli(*words.format(run=result, out=tmp_path).split())
    lacks = LACKS.get((result.name, face))
    if lacks is not None:
        assert outcome.code == 2
        assert lacks in outcome.err
        return
    assert outcome.code == 0, outcome.err
    if file == "csv/flows.csv" and result.name == "without_series":
        file = "csv/groups.csv"
    if file:
        assert all(path.stat().st_size > 100 for path in tmp_path.glob(file))
        assert list(tmp_path.glob(file))


def test_a_trace_of_what_a_run_captured(tmp_path: Path, cli: Callable[..., Outcome]) -> None:
    KINDS["captured"](tmp_path / "run")
    outcome = cli("analyze", str(tmp_path / "run"), "--json", "--out", str(tmp_path / "analysis"))
    assert outcome.code == 0, outcome.err
    assert len(json.loads(outcome.out)["connections"]) == 2
    assert cli("report", str(tmp_path / "analysis")).code == 0


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that sends upwards beside CUBIC flows, fabricated."""
    place: Path = tmp_path_factory.mktemp("emulated") / "run"
    KINDS["emulated"](place)
    return place


def test_the_page_of_an_emulated_run_is_headed_by_its_command_and_the_time_it_took(
    emulated: Path, tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    page = tmp_path / "page.html"
    assert cli("report", str(emulated), "--out", str(page)).code == 0
    text = page.read_text(encoding="utf-8")
    heading = re.search(r"<h1>(.*?)</h1>", text)
    assert heading is not None
    assert heading[1] == "python3 rtc.py send server over 50mbit, 40ms"
    assert "<strong>2s</strong>" in text
    assert "86400s" not in text
    # Rules of sharing say nothing of programs, which send what they like.
    assert "max-min" not in text


def of_groups(name: str, run: Run) -> list[float | None]:
    """Return a metric of a run's groups."""
    values = METRICS[name].of(run)
    assert isinstance(values, list)
    return values


def test_what_a_program_sends_upwards_counts(emulated: Path) -> None:
    run = dumbbell.Run.load(emulated)
    group = run.groups[0]
    assert group["goodput_bps"] > 1e6
    from dumbbell.run.directions import ways_of

    # What was lost upwards is in the group's counts; that of each way in the flow's.
    counts = [group[key] for key in ("sent_pkts", "retransmitted_pkts", "dropped_pkts")]
    assert counts == [1008, 3, 3]
    assert of_groups("retransmission_rate", run)[0] == pytest.approx(3 / 1008)
    flow = run.summary["flows"][0]
    both_bps = flow["throughput_bps"] + flow["requests"]["throughput_bps"]
    assert group["throughput_bps"] == pytest.approx(both_bps, rel=1e-3)

    ways = {way.links: way for way in ways_of(run)}
    assert set(ways) == {("bottleneck",), ("up",)}
    down, up = ways[("bottleneck",)], ways[("up",)]
    assert [got.group for got in down.groups] == [1]
    assert [got.group for got in up.groups] == [0, 2]
    for way in ways.values():
        assert sum(got.share for got in way.groups) == pytest.approx(1)
    assert up.groups[0].goodput_bps == pytest.approx(run.groups[0]["goodput_bps"])
    assert up.jain is not None
    assert 0.5 <= up.jain <= 1


def test_what_a_run_did_not_record_of_uploads_is_not_known(emulated: Path) -> None:
    document = dumbbell.Run.load(emulated).to_dict()
    flows = json.loads(json.dumps(document["flows"]))
    del flows[0]["requests"]["throughput_bps"]
    run = dumbbell.Run.from_dict({**document, "flows": flows}, {})
    assert run.groups[0]["throughput_bps"] is None
    assert of_groups("throughput_bps", run)[0] is None


def test_shares_are_of_one_way_in_every_face(
    emulated: Path, tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    """Of 100 % each way: nothing is a part of both links together."""
    run = dumbbell.Run.load(emulated)
    ways = {"server_to_client_share": [1], "client_to_server_share": [0, 2]}
    for name, groups in ways.items():
        shares = of_groups(name, run)
        assert [at for at, share in enumerate(shares) if share is not None] == groups
        assert sum(share for share in shares if share is not None) == pytest.approx(1)
    without = ("share", "jain", "fair_share_ratio")
    assert [METRICS[name].of(run) for name in without] == [[None] * 3, None, [None] * 3]
    up_bps = of_groups("client_to_server_goodput_bps", run)
    assert up_bps[0] == pytest.approx(run.groups[0]["goodput_bps"])
    # The terminal, figures, LaTeX, CSV.
    assert cli("report", "export", str(emulated), "--latex", "--out", str(tmp_path)).code == 0
    table = (tmp_path / "table.tex").read_text(encoding="utf-8")
    heads = table[table.index("toprule") : table.index("midrule")]
    assert heads.count("share,") == heads.count("goodput,") == 2, "of each way"
    assert heads.count(r"$\to$") == 4
    assert "throughput" not in heads
    assert "per flow" not in heads
    words = ("plot", str(emulated), "--kind", "bar", "--out", str(tmp_path / "figures"))
    assert cli(*words).code == 0
    drawn = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert "client_to_server_share-bar" in drawn
    assert not drawn & {"share-bar", "goodput_per_flow_bps-bar"}
    assert {row["share"] for row in group_rows(run)} == {None}
    page = tmp_path / "page.html"
    assert cli("report", str(emulated), "--out", str(page)).code == 0
    text = page.read_text(encoding="utf-8")
    assert "share, client → server" in text
    assert "throughput share" not in text.replace("mean difference of throughput shares", "")


def test_a_program_that_sends_nothing_competes_with_nobody() -> None:
    from types import SimpleNamespace

    from dumbbell.run.directions import ways_of

    quiet, busy = Group(client="sleep 5"), Group("cubic")
    scenario = Scenario([quiet, busy, busy], rate="10mbit")
    ends = {"start_us": 0, "end_us": 10**6, "rtt_min_us": 0, "requests": None}
    flows = [
        {"group": at, "received_bytes": bytes_, "goodput_bps": 8 * bytes_, **ends}
        for at, bytes_ in enumerate((0, 900, 900))
    ]
    run: Any = SimpleNamespace(scenario=scenario, summary={"flows": flows})
    (way,) = ways_of(run)
    assert way.jain == pytest.approx(1)
    assert Run(scenario, {"flows": flows}, {}).jain == pytest.approx(1)


def test_who_asks_for_transfers_of_programs_learns_what_there_is(
    emulated: Path, cli: Callable[..., Outcome]
) -> None:
    outcome = cli("plot", str(emulated), "--series", "fct", "--kind", "cdf")
    assert outcome.code == 2
    assert "what programs transfer is not known; use `run_time_us`" in outcome.err


def test_acks_of_a_download_do_not_count_for_how_equally_uploads_share() -> None:
    from types import SimpleNamespace

    from dumbbell.run.directions import ways_of

    links = [dumbbell.Link(name, rate="10mbit") for name in ("down", "up")]
    groups = [
        dumbbell.Group(client=client, route=["down"], back=["up"])
        for client in ("curl", "push", "push")
    ]
    ends = {"start_us": 0, "end_us": 10**6, "rtt_min_us": 0}
    flows = [
        {"group": at, "received_bytes": 1000, "requests": {"received_bytes": up}, **ends}
        for at, up in enumerate((20, 900, 900))
    ]
    scenario = dumbbell.Scenario(groups, links=links)
    run: Any = SimpleNamespace(scenario=scenario, summary={"flows": flows})
    down, up = ways_of(run)
    assert [got.group for got in up.groups] == [0, 1, 2]
    assert up.jain == pytest.approx(1)
    assert down.jain is None


def test_a_program_without_tcp_has_no_rate_of_retransmissions(
    emulated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = dumbbell.Run.load(emulated)
    for rtt_min_us, rate in ((0, None), (40_000, 0.0)):
        run.summary["flows"][0] |= {
            "rtt_min_us": rtt_min_us, "retransmitted_pkts": 0, "sent_pkts": 1000
        }  # fmt: skip
        run.groups[0] |= {"retransmitted_pkts": 0, "sent_pkts": 1000}
        program, *others = dumbbell.metrics.measure(run)
        assert program["retransmission_rate"] == rate
        assert program["inflight_mean_pkts"] is None
        assert all(other["retransmission_rate"] is not None for other in others)
        print_groups(run)
        row = capsys.readouterr().out.splitlines()[-3].split()
        assert ("0.00" in row) == (rate is not None)


def test_the_csv_of_groups_has_each_way(emulated: Path, tmp_path: Path) -> None:
    run = dumbbell.Run.load(emulated)
    export_csv(emulated, tmp_path)
    rows = pa_csv.read_csv(tmp_path / "groups.csv").to_pylist()
    program, down, up = rows
    assert program["client_to_server_goodput_bps"] == pytest.approx(program["goodput_bps"])
    assert program["server_to_client_goodput_bps"] is None
    assert down["server_to_client_share"] == pytest.approx(1)
    assert up["client_to_server_share"] + program["client_to_server_share"] == pytest.approx(1)
    connections = connections_schema().empty_table().to_pylist()
    connections += [
        dict.fromkeys(connections_schema().names, 0)
        | {"protocol": "udp", "server": "10.0.0.1:9000", "client": "10.0.0.2:9001"}
    ]
    table = pa.Table.from_pylist(connections, connections_schema())
    of_udp = Run(run.scenario, run.summary, {**run.tables, "connections": table})
    assert [row["protocols"] for row in group_rows(of_udp)] == ["udp", "", ""]
    assert [row["cc"] for row in group_rows(of_udp)] == [None, "cubic", "cubic"]
    assert group_rows(run)[0]["cc"] == "linux/cubic"
    assert {row["inflight_mean_pkts"] for row in group_rows(run)[:1]} == {None}, "no socket said it"
    summary = {**run.summary, "flows": [{**f, "rtt_min_us": 0} for f in run.summary["flows"]]}
    silent = Run(run.scenario, summary, run.tables)
    assert {row["rtt_mean_us"] for row in group_rows(silent)} == {None}


def test_a_program_without_payload_has_no_rate(
    emulated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ping sends none, and of a path that nothing crossed no packet was late."""
    from dumbbell.cli.print_emulation import print_emulation

    document = json.loads(json.dumps(dumbbell.Run.load(emulated).to_dict()))
    flow = document["flows"][0]
    flow["received_bytes"] = 0
    flow["requests"]["received_bytes"] = 0
    print_emulation(dumbbell.Run.from_dict(document, {}))
    shown = capsys.readouterr().err
    assert "    rtc.py      no payload of TCP or UDP\n" in shown
    assert "µs late at p99" in shown
    assert "nothing crossed the path" not in shown
    for link in [*document["links"], document["bottleneck"]]:
        link["offered_pkts"] = link["forwarded_pkts"] = link["dropped_pkts"] = 0
    print_emulation(dumbbell.Run.from_dict(document, {}))
    shown = capsys.readouterr().err
    assert "note: nothing crossed the path, which joins `client` and `server`" in shown
    assert "µs late at p99" not in shown


def test_the_summary_has_a_line_for_each_group_and_direction(
    emulated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dumbbell.cli.print_emulation import print_emulation

    print_emulation(dumbbell.Run.load(emulated))
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 80, lines
    starts = [line.split("  ")[0] for line in lines if not line.startswith(" ")]
    assert starts[:2] == ["server → client", "client → server"]
    down, up = (next(i for i, line in enumerate(lines) if line.startswith(s)) for s in starts[:2])
    of_down, of_up = "\n".join(lines[down:up]), "\n".join(lines[up:])
    assert "Jain's index" in of_down
    assert "Jain's index" in of_up
    assert "rtc.py" not in of_down
    assert re.search(r"rtc.py +[\d.]+ Mbit/s, [\d.]+ %; RTT mean [\d.]+ ms, p95", of_up)
    assert len(re.findall(r"cubic", of_up)) == 1


def test_panels_of_several_links_name_their_link(emulated: Path) -> None:
    from dumbbell.plots.run_figures import draw_series

    figures = draw_series(dumbbell.Run.load(emulated), ["queue"])
    assert [figure.y_label for figure in figures] == [
        "queue at bottleneck (packets)", "queue at up (packets)",
    ]  # fmt: skip


@pytest.mark.kernel
def test_a_real_emulated_run_has_every_face(tmp_path: Path, cli: Callable[..., Outcome]) -> None:
    """What a sender at the client gets beside CUBIC each way is neither 0 nor nothing."""
    receive = (
        "import socket; s = socket.create_server(('', 9000)); c, _ = s.accept()\n"
        "while c.recv(65536): pass"
    )
    send = (
        "import socket, time; s = socket.create_connection(('server', 9000))\n"
        "end = time.time() + 3\n"
        "while time.time() < end: s.send(bytes(65536))"
    )
    run = tmp_path / "run"
    done = subprocess.run(
        [
            *EMULATE, "--rate", "10mbit", "--rtt", "100ms", "--with", "linux/cubic:2",
            "--with-up", "linux/cubic", "--serve", f'{PYTHON} -c "{receive}"',
            "--ready", "tcp:9000", "--out", str(run), "--", sys.executable, "-c", send,
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    up = done.stderr[done.stderr.index("client → server") :]
    rate = re.search(r"python3?[\d.]* +([\d.]+) Mbit/s, [\d.]+ %", up)
    assert rate is not None, done.stderr
    assert float(rate[1]) > 0.5
    (share, *_) = of_groups("client_to_server_share", dumbbell.Run.load(run))
    assert share is not None
    assert share > 0.02
    assert json.loads((run / "run.json").read_text())["time_is_measured"]
    for words, _ in FACES.values():
        outcome = cli(*words.format(run=run, out=tmp_path).split())
        assert outcome.code == 0, outcome.err


@pytest.mark.kernel
def test_a_real_kernel_run_has_every_face(tmp_path: Path, cli: Callable[..., Outcome]) -> None:
    run = tmp_path / "run"
    asked = Scenario(["linux/cubic", "linux/reno"], rate="10mbit", rtt="100ms", time="2s")
    dumbbell.run(asked, engine="kernel").save(run)
    for words, _ in FACES.values():
        outcome = cli(*words.format(run=run, out=tmp_path).split())
        assert outcome.code == 0, outcome.err
