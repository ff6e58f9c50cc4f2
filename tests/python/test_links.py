"""Results per link: what a run, its metrics and its verdict say of several links."""

import copy
import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dumbbell import Group, Link, Run, Scenario, ScenarioError, run
from dumbbell.base.errors import GateError, ResultError
from dumbbell.capture_analysis import analyze, match_captures
from dumbbell.cli.link_table import bottleneck_line
from dumbbell.cli.run import print_run
from dumbbell.cli.sweep_table import print_sweep
from dumbbell.gate.subject import Measure
from dumbbell.metrics import METRICS, Observation, Warmup, measure, metric_named, register
from dumbbell.models import Bottleneck, DoesNotApply
from dumbbell.models.reference_goodputs import reference_goodputs
from dumbbell.plots.queue_figures import drawn_links
from dumbbell.plots.run_figures import draw_run, draw_series
from dumbbell.report.source import sweep_of_run
from dumbbell.report.sweep_page import render_sweep
from dumbbell.run.verdict import evaluate
from dumbbell.sweeps import Sweep
from dumbbell.sweeps.design import make_design
from dumbbell.sweeps.rows import make_rows
from dumbbell.terminal.console import out

OF_LINKS = (
    "utilization", "queue_delay_mean_us", "queue_delay_p50_us", "queue_delay_p95_us",
    "queue_delay_p99_us", "backlog_mean_bytes", "drop_rate", "mark_rate",
)  # fmt: skip


@pytest.fixture(scope="module")
def dumbbell_run():
    return run(["cubic"], time="3s", buffer="1bdp")


#: 20 Mbit/s down and 1 up, both of which carry data and ACKs.
ASYMMETRIC = Scenario(
    [Group("cubic", route=["down"], back=["up"]), Group("cubic", route=["up"], back=["down"])],
    links=[Link("up", rate="1mbit"), Link("down", rate="20mbit")],
    time="8s",
)
#: A parking lot: a long route, and a flow over each of its links.
LOT = Scenario(
    [Group("reno", route=["a", "b"]), Group("reno", route=["a"]), Group("reno", route=["b"])],
    links=[Link("a", rate="20mbit", delay="2ms"), Link("b", rate="10mbit", delay="2ms")],
    time="8s",
)


@pytest.fixture(scope="module")
def asymmetric_run(tmp_path_factory):
    return run(ASYMMETRIC, capture=tmp_path_factory.mktemp("asymmetric") / "capture.pcapng")


@pytest.fixture(scope="module")
def lot_run():
    return run(LOT)


@pytest.fixture
def two_links(dumbbell_run):
    """A run whose second link, `access`, had half of everything that the first one had."""
    scenario = Scenario(
        [Group("cubic", route=["access", "core"])],
        links=[Link("access", rate="50mbit"), Link("core", rate="50mbit")],
        time="3s",
    )
    core = {**dumbbell_run.summary["bottleneck"], "name": "core"}
    access = {
        key: value / 2 if isinstance(value, float) else value // 2 if type(value) is int else value
        for key, value in core.items()
    } | {"name": "access", "link_rate_bps": core["link_rate_bps"]}
    access["offered_pkts"] = sum(access[f"{k}_pkts"] for k in ("forwarded", "dropped", "left"))
    summary = {**dumbbell_run.summary, "links": [access, core], "bottleneck": core}
    queue = dumbbell_run.tables["queue"].drop_columns(["link"])
    halved = queue.set_column(
        3,
        "sojourn_us",
        pa.array([v and v // 2 for v in queue["sojourn_us"].to_pylist()], pa.uint32()),
    )
    both = [
        table.append_column("link", pa.array([name] * len(table)).dictionary_encode())
        for table, name in ((halved, "access"), (queue, "core"))
    ]
    rows = pa.concat_tables(both, promote_options="default").unify_dictionaries()
    rows = rows.sort_by([("time_us", "ascending")])
    return Run(scenario, summary, {**dumbbell_run.tables, "queue": rows})


def value_of(name: str, result: Run, warmup: str | None = None) -> float:
    """Return a metric that has one value."""
    value = METRICS[name].of(result, None if warmup is None else Warmup.parse(warmup))
    assert isinstance(value, float)
    return value


def test_a_dumbbell_has_one_link_and_it_is_the_bottleneck(dumbbell_run):
    assert [dict(link) for link in dumbbell_run.links] == [dumbbell_run.summary["bottleneck"]]
    assert dumbbell_run.link("bottleneck")["name"] == "bottleneck"
    assert dumbbell_run.queue.num_rows == 300
    assert dumbbell_run.queue.equals(dumbbell_run.tables["queue"])


def test_links_are_asked_for_by_name(two_links):
    assert [link["name"] for link in two_links.links] == ["access", "core"]
    assert two_links.link("access")["utilization"] == two_links.links[0]["utilization"]
    assert set(two_links.queue["link"].to_pylist()) == {"core"}
    access = two_links.queue_of("access")
    assert access.num_rows == two_links.queue.num_rows == 300
    assert max(access["sojourn_us"].drop_null().to_pylist()) < max(
        two_links.queue["sojourn_us"].drop_null().to_pylist()
    )
    for ask in (two_links.link, two_links.queue_of):
        with pytest.raises(ResultError, match=r"no link `acces`; did you mean `access`\?"):
            ask("acces")


def test_a_saved_run_keeps_its_links(two_links, tmp_path):
    loaded = Run.load(two_links.save(tmp_path / "run"))
    assert loaded.to_dict()["links"] == two_links.to_dict()["links"]
    assert loaded.queue_of("access").equals(two_links.queue_of("access").combine_chunks())
    assert measure(loaded) == measure(two_links)


def test_a_result_of_one_link_without_a_name_is_read(dumbbell_run):
    document = json.loads(dumbbell_run.to_json())
    del document["links"], document["bottleneck"]["name"]
    queue = dumbbell_run.tables["queue"].drop_columns(["link"])
    loaded = Run.from_dict(document, {**dumbbell_run.tables, "queue": queue})
    assert loaded.to_dict() == dumbbell_run.to_dict()
    assert loaded.queue_of("bottleneck").equals(queue)
    assert loaded.verdict == dumbbell_run.verdict
    warm = Warmup.parse("1s")
    assert measure(loaded, warm) == measure(dumbbell_run, warm)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d["links"][0].pop("name"), "links[0].name` is missing"),
        (lambda d: d["links"][0].update(utilization="x"), "links[0].utilization` cannot be"),
        (lambda d: d["links"].clear(), "`bottleneck` is not one of `links`"),
        (lambda d: d["links"].append(d["links"][0]), "two of `links` have one name"),
        (lambda d: d.update(links={}), "`links` is of the type dict"),
        (lambda d: d["bottleneck"].update(name="other"), "`bottleneck` is not one of `links`"),
    ],
)
def test_damaged_links_are_refused(dumbbell_run, change, says):
    document = json.loads(dumbbell_run.to_json())
    change(document)
    with pytest.raises(ResultError) as refused:
        Run.from_dict(document, dumbbell_run.tables)
    assert says in str(refused.value)


def test_a_metric_of_links_is_the_bottlenecks_or_the_named_links(two_links):
    for name in OF_LINKS:
        assert METRICS[name].per == "link"
        assert METRICS[name].of(two_links) == METRICS[f"{name}@core"].of(two_links)
    whole = value_of("queue_delay_p95_us", two_links)
    assert value_of("queue_delay_p95_us@access", two_links) == whole // 2
    after = value_of("queue_delay_mean_us", two_links, "1s")
    half = value_of("queue_delay_mean_us@access", two_links, "1s")
    assert half == pytest.approx(after / 2, abs=1)
    with pytest.raises(ResultError, match="no link `x`; known: `access`, `core`"):
        METRICS["utilization@x"].of(two_links)


def test_rows_have_a_column_per_link_of_runs_with_several(two_links, dumbbell_run):
    row = measure(two_links)[0]
    assert row["utilization@access"] == row["utilization"] / 2 == row["utilization@core"] / 2
    assert not any("@" in name for name in measure(dumbbell_run)[0])
    rows = make_rows(make_design(two_links.scenario, {}), [((0, 0), 1, measure(two_links))])
    assert rows["utilization@access"].to_pylist() == [row["utilization@access"]]
    assert [name for name in rows.column_names if "@" not in name][-1] == list(METRICS)[-1]


def test_both_spellings_of_utilization_are_taken(cli, tmp_path):
    assert metric_named("utilisation@access").name == "utilization@access"
    assert cli("list", "metrics", "utilisation").out == cli("list", "metrics", "utilization").out
    place = str(tmp_path / "s")
    words = ("cubic", "--buffer", "1,2bdp", "--time", "1s", "--metric", "utilisation")
    assert "%" in cli("sweep", *words, "--out", place).out
    for command in (
        ("compare", place, place), ("report", "export", place, "--latex"),
        ("plot", place, "--out", place),
    ):  # fmt: skip
        outcome = cli(*command, "--metric", "utilisation")
        assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("utilizaton@access", "unknown metric `utilizaton`; did you mean `utilization`?"),
        ("jain@access", "`jain` is a metric of a run, not of a link; use `jain`"),
        ("utilization@", "name a link after `@`, like `utilization@access`"),
    ],
)
def test_names_that_are_no_metric_of_a_link(name, says):
    assert name not in METRICS
    with pytest.raises(ScenarioError) as refused:
        metric_named(name, ScenarioError)
    assert says in str(refused.value)


def test_a_suite_names_a_link_even_one_with_a_dot():
    assert Measure("queue_delay_p95_us@site.up").metric.link == "site.up"
    with pytest.raises(GateError, match="is a metric of the run, not of groups"):
        Measure("others.utilization@access")


def test_a_metric_of_links_of_your_own(two_links):
    @register(per="link", unit="bytes")
    def longest_backlog(obs: Observation):
        return [np.int64(link.summary["backlog_max_bytes"]) for link in obs.links]

    assert value_of("longest_backlog@access", two_links) == pytest.approx(
        value_of("longest_backlog", two_links) / 2, abs=1
    )

    @register(per="link", name="longest_backlog")
    def too_few(_: Observation):
        return [1.0]

    with pytest.raises(ResultError, match="expected a list of 2 numbers, one per link"):
        METRICS["longest_backlog"].of(two_links)


@pytest.mark.parametrize(
    ("key", "value", "check", "says"),
    [
        ("left_pkts", 10**6, "conservation", "link `access` was offered"),
        ("forwarded_bytes", 10**9, "rate", "link `access` forwarded 1000000000 B"),
        ("queue_delay_max_us", 10**6, "queue_delay", "waited 1000000 µs at link `access`"),
        ("dropped_pkts", 10**5, "drops", "the queue of link `access` dropped 100,000"),
    ],
)
def test_a_fault_of_one_link_is_found_and_named(two_links, key, value, check, says):
    summary = copy.deepcopy(dict(two_links.summary))
    summary["links"][0][key] = value
    if key == "dropped_pkts":
        summary["links"][0]["offered_pkts"] += value - two_links.links[0][key]
    reasons = [r for r in evaluate(two_links.scenario, summary).reasons if r.check == check]
    assert [says in reason.message for reason in reasons] == [True]


def test_a_link_that_no_packet_reached_is_reported(two_links):
    summary = copy.deepcopy(dict(two_links.summary))
    idle = ("offered_pkts", "forwarded_pkts", "forwarded_bytes", "dropped_pkts", "left_pkts")
    summary["links"][0].update(dict.fromkeys((*idle, "busy_us"), 0))
    reasons = evaluate(two_links.scenario, summary).reasons
    assert [(r.check, r.message) for r in reasons if r.check == "link-unused"] == [
        ("link-unused", "no packet reached link `access`")
    ]
    assert not any(r.check == "link-unused" for r in two_links.verdict.reasons)


def test_the_command_line_has_a_row_per_link(two_links, capsys):
    print_run(out(), two_links)
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    rows = {line[0]: line for line in lines if line and line[0] in ("access", "core")}
    core = two_links.link("core")
    assert rows["core"][:3] == ["core", "50mbit", f"{100 * core['utilization']:.1f}"]
    assert float(rows["access"][2]) == pytest.approx(50 * core["utilization"], abs=0.06)
    assert "bottleneck core, the link with the largest utilisation" in " ".join(printed.split())


def test_the_command_line_has_one_line_for_one_link(dumbbell_run, capsys):
    print_run(out(), dumbbell_run)
    printed = capsys.readouterr().out
    assert "bottleneck   50mbit, " in printed
    assert "queue max" not in printed


def test_each_links_queue_is_drawn(two_links, dumbbell_run):
    names = [figure.name for figure in draw_run(two_links)]
    assert [name for name in names if name.startswith(("queue", "sojourn"))] == [
        "queue@access", "sojourn@access", "queue@core", "sojourn@core",
    ]  # fmt: skip
    assert {"queue", "sojourn"} <= {figure.name for figure in draw_run(dumbbell_run)}
    access, core = draw_series(two_links, ["sojourn"])
    assert access.title == "time in the queue · access"
    assert np.nanmax(access.curves[0].y) == pytest.approx(np.nanmax(core.curves[0].y) / 2, abs=1e-3)
    assert [f.name for f in draw_series(two_links, ["queue@core"])] == ["queue@core"]
    with pytest.raises(ResultError, match="no series `queue@x`"):
        draw_series(two_links, ["queue@x"])


def test_of_many_links_the_most_used_are_drawn(two_links):
    many = [
        {**two_links.links[0], "name": f"l{index}", "utilization": index / 100}
        for index in range(12)
    ]
    summary = {**two_links.summary, "links": many}
    links = [Link(link["name"], rate="50mbit") for link in many]
    group = Group("cubic", route=[link.name for link in links])
    scenario = Scenario([group], links=links, time="3s")
    names = drawn_links(Run(scenario, summary, two_links.tables))
    assert names == [f"l{index}" for index in range(4, 12)]


def test_the_page_has_a_table_of_links(two_links, dumbbell_run):
    page = render_sweep(sweep_of_run(two_links))
    table = page[page.index('id="links"') :]
    table = table[: table.index("</table>")]
    assert [name for name in ("access", "core") if f'<td class="left">{name}</td>' in table] == [
        "access", "core",
    ]  # fmt: skip
    used = 100 * two_links.link("core")["utilization"]
    assert f"<td>{used:.1f}</td>" in table
    assert 'id="links"' not in render_sweep(sweep_of_run(dumbbell_run))


def test_a_page_of_two_results_has_the_tables_of_both(tmp_path, cli):
    """Links, the queues' statistics, the rules of sharing, the judgements, the verdicts."""
    words = ("run", "cubic", "--upload", "reno", "--up-rate", "5mbit", "--rate", "10mbit")
    judged = ("--set", "0.metric=goodput_bps", "--time", "2s")
    for name, queue in (("a", "codel"), ("b", "pie")):
        assert cli(*words, *judged, "--queue", queue, "--out", str(tmp_path / name)).code == 0
    a, b = (str(tmp_path / name) for name in "ab")
    outcome = cli("report", a, "--against", b, "--out", str(tmp_path / "p.html"))
    assert "runs: A: 1 OK\nruns: B: 1 OK\n" in outcome.out
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    for name in ("links", "queues", "references"):
        assert page.count(f'id="{name}"') == 1
    assert [page.count(f"({side})</h3>") for side in "AB"] == [3, 3]
    for side in "AB":
        assert re.search(rf"<li>{side}: <strong>[^<]*</strong> goodput", page)
    used = [100 * Run.load(place).link("bottleneck")["utilization"] for place in (a, b)]
    tables = page[page.index('id="links"') :].split("</table>")[:2]
    for table, percent in zip(tables, used, strict=True):
        assert f"{percent:.1f}" in table


def test_a_detected_warmup_waits_for_every_links_queue(two_links):
    queues = two_links.tables["queue"]
    of_access = np.array([name == "access" for name in queues["link"].to_pylist()])
    settles_us = 1_400_000
    late = np.where(of_access & (queues["time_us"].to_numpy() < settles_us), 10**6, 0)

    def cut_us(backlog: Any) -> int:
        column = pa.array(backlog.astype(np.uint64))
        tables = {**two_links.tables, "queue": queues.set_column(1, "backlog_bytes", column)}
        return Warmup.parse("auto").cut_us(Run(two_links.scenario, two_links.summary, tables))

    assert cut_us(np.zeros(len(late))) < 1_300_000
    assert settles_us - 100_000 < cut_us(late) <= settles_us


def test_links_are_in_the_scenarios_order_whatever_the_networks(asymmetric_run, lot_run):
    assert [link["name"] for link in asymmetric_run.links] == ["up", "down"]
    assert [link["name"] for link in lot_run.links] == ["a", "b"]
    assert [link["name"] for link in lot_run.to_dict()["links"]] == ["a", "b"]
    assert lot_run.verdict.status == asymmetric_run.verdict.status == "OK"
    most = max(lot_run.links, key=lambda link: link["utilization"])
    assert lot_run.summary["bottleneck"] == most


def test_a_flows_drops_are_those_of_its_route_and_way_back(asymmetric_run, lot_run):
    for result in (asymmetric_run, lot_run):
        flows = result.summary["flows"]
        dropped = sum(flow["dropped_pkts"] + flow.get("acks_dropped", 0) for flow in flows)
        assert dropped == sum(link["dropped_pkts"] for link in result.links) > 0
    assert asymmetric_run.summary["flows"][0]["acks_dropped"] > 0
    assert all("acks_dropped" not in flow for flow in lot_run.summary["flows"])


def test_a_capture_has_both_sides_of_each_link(asymmetric_run):
    connections = analyze(asymmetric_run.capture).tables["connections"].to_pylist()
    for link in asymmetric_run.links:
        for side, count in (("in", "offered_pkts"), ("out", "forwarded_pkts")):
            point = f"{link['name']}-{side}"
            seen = sum(row["pkts"] for row in connections if row["point"] == point)
            assert seen == link[count]
    up = match_captures(asymmetric_run.capture, link="up").connections.to_pylist()
    flows = asymmetric_run.summary["flows"]
    assert sorted(row["dropped_pkts"] for row in up) == sorted(
        [flows[0]["acks_dropped"], flows[1]["dropped_pkts"]]
    )


def test_samples_add_up_to_each_links_counts(lot_run):
    for name in ("a", "b"):
        link, queue = lot_run.link(name), lot_run.queue_of(name)
        assert queue.num_rows == 800
        assert queue["dropped_pkts"].to_pylist()[-1] == link["dropped_pkts"]
        assert max(queue["backlog_bytes"].to_pylist()) <= link["backlog_max_bytes"]
        after = value_of(f"utilization@{name}", lot_run, "10ms")
        assert after == pytest.approx(link["utilization"], rel=0.01)


def test_a_narrow_way_back_has_no_utilization_after_a_warmup(asymmetric_run):
    assert METRICS["utilization@up"].of(asymmetric_run, Warmup.parse("2s")) is None
    assert value_of("utilization@up", asymmetric_run) > 0.5


def test_rules_of_sharing_are_printed_next_to_the_goodput(lot_run, dumbbell_run, capsys):
    # 20 and 10 Mbit/s: the long flow and the short one over b get 5 each, the other 15.
    references = {rule.name: goodput for rule, goodput in reference_goodputs(LOT).items()}
    payload = 1448 / 1514
    expected = [each * payload * 1e6 for each in (5, 15, 5)]
    assert references["max_min"] == pytest.approx(expected)
    assert references["proportional_fair"][0] < references["max_min"][0]
    assert reference_goodputs(dumbbell_run.scenario) == {}
    print_run(out(), lot_run)
    printed = capsys.readouterr().out
    assert "max-min" in printed
    assert [line.split()[-3] for line in printed.splitlines() if "14.35" in line] == ["14.35"]
    print_run(out(), dumbbell_run)
    assert "max-min" not in capsys.readouterr().out
    page = render_sweep(sweep_of_run(lot_run))
    table = page[page.index('id="references"') :]
    assert "<td>14.35</td>" in table[: table.index("</table>")]
    assert 'id="references"' not in render_sweep(sweep_of_run(dumbbell_run))


def test_a_sweep_is_repeated_until_a_links_metric_is_known():
    sweep = Sweep(LOT.replace(time="1s"), {}, until_ci="50%", metric="utilization@b", max_reps=4)
    result = sweep.run()
    assert 2 <= result.reps[0] <= 4
    assert all(0 < value <= 1 for value in result.rows["utilization@b"].to_pylist())
    with pytest.raises(ScenarioError, match="`utilization@c`: there is no link `c`; known: `a`"):
        Sweep(LOT, {}, until_ci="50%", metric="utilization@c")


def test_the_table_of_a_sweep_says_of_which_link_it_is(capsys):
    groups = [Group("reno", route=["access", "core"])]
    links = [Link("access", rate="20mbit"), Link("core", rate="10mbit")]
    lot = Sweep(Scenario(groups, links=links, time="1s"), {"link.core.rate": ["5mbit", "10mbit"]})
    print_sweep(lot.run())
    assert "of each run's link with the largest utilisation" in capsys.readouterr().out
    print_sweep(Sweep(Scenario(["reno"], time="1s"), {"rate": ["5mbit", "10mbit"]}).run())
    assert "largest utilisation" not in capsys.readouterr().out


def test_samples_of_many_links_are_refused_before_memory_ends() -> None:
    names = [f"l{index}" for index in range(1000)]
    with pytest.raises(ScenarioError, match="1,000 links sampled every `1ms` for `200s` make"):
        Scenario(
            [Group("reno", route=names)],
            links=[Link(name, rate="50mbit") for name in names],
            time="200s",
            sample="1ms",
        )


def test_a_model_of_one_bottleneck_refuses_links() -> None:
    with pytest.raises(DoesNotApply, match="one bottleneck, and this scenario has links"):
        Bottleneck.from_scenario(LOT)


def test_what_a_policer_drops_is_not_said_to_be_random() -> None:
    noisy = run(["cubic"], time="2s", loss="1%")
    assert "of them lost at random" in bottleneck_line(noisy)
    policed = run(["cubic"], time="2s", impair="policer:rate=20mbit,burst=15kB")
    assert "of them by impairments" in bottleneck_line(policed)
