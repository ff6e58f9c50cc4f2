"""`dumbbell report export --csv`: every table, every value, units in the columns' names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import dumbbell
from dumbbell.export import export_csv
from dumbbell.export.latex import escape, written
from dumbbell.statistics import Interval, mean_interval
from dumbbell.sweeps import Sweep

ROOT = Path(__file__).parents[2]


def test_a_run_is_a_file_per_table_with_its_columns(cli, short_run, tmp_path):
    run = short_run.save(tmp_path / "run")
    outcome = cli("report", "export", str(run), "--csv", "--out", str(tmp_path / "csv"), "--json")
    assert outcome.code == 0, outcome.err
    assert {path.stem for path in (tmp_path / "csv").iterdir()} == {
        *short_run.tables, "groups", "flow-summary", "values",
    }  # fmt: skip
    assert len(json.loads(outcome.out)["files"]) == len(short_run.tables) + 3
    for name, table in short_run.tables.items():
        read = pa_csv.read_csv(tmp_path / "csv" / f"{name}.csv")
        assert read.column_names == table.column_names
        assert read.num_rows == table.num_rows
    cwnd = pa_csv.read_csv(tmp_path / "csv" / "flows.csv")["cwnd_pkts"].to_pylist()
    assert cwnd == short_run.flows["cwnd_pkts"].to_pylist()
    groups = pa_csv.read_csv(tmp_path / "csv" / "groups.csv").to_pylist()
    assert [g["goodput_bps"] for g in groups] == [g["goodput_bps"] for g in short_run.groups]


def test_states_are_written_by_name(short_run, tmp_path):
    state = next(name for name in short_run.tables if name.startswith("state-0-"))
    run = short_run.save(tmp_path / "run")
    export_csv(run)
    read = pa_csv.read_csv(run / "csv" / f"{state}.csv")["mode"].to_pylist()
    assert read == [str(mode) for mode in short_run.state(0)["mode"].to_pylist()]


def test_a_sweep_is_its_rows(cli, tmp_path):
    swept = Sweep(dumbbell.Scenario(["reno"], time="1s"), {"buffer": "1..2bdp"}).run(
        out=tmp_path / "s"
    )
    assert cli("report", "export", str(tmp_path / "s"), "--csv").code == 0
    read = pa_csv.read_csv(tmp_path / "s" / "csv" / "rows.csv")
    assert read["buffer"].to_pylist() == ["1bdp", "2bdp"]
    assert read.column_names == [
        field.name for field in swept.rows.schema if not pa.types.is_nested(field.type)
    ]


def test_a_sweep_in_long_form_has_a_value_a_row(cli, tmp_path):
    scenario = dumbbell.Scenario(["reno", "cubic"], time="1s")
    swept = Sweep(scenario, {"buffer": "1..2bdp"}, reps=2).run(out=tmp_path / "s")
    assert cli("report", "export", str(tmp_path / "s"), "--csv").code == 0
    values = pa_csv.read_csv(tmp_path / "s" / "csv" / "values.csv").to_pylist()
    rows = swept.rows.to_pylist()
    shares = [v for v in values if v["metric"] == "share"]
    assert [v["value"] for v in shares] == pytest.approx([row["share"] for row in rows])
    assert [v["group"] for v in shares] == [0, 1] * 4
    assert {v["unit"] for v in shares} == {"1"}
    jains = [v for v in values if v["metric"] == "jain"]
    assert len(jains) == 4, "one a run"
    assert {(v["group"], v["cc"]) for v in jains} == {(None, "")}
    assert {v["buffer_bdp"] for v in jains} == {1.0, 2.0}


def test_a_table_for_latex_has_means_and_intervals(cli, tmp_path):
    scenario = dumbbell.Scenario(["reno", "cubic"], time="1s")
    swept = Sweep(scenario, {"queue": "bfifo,fq_codel"}, reps=3).run(out=tmp_path / "s")
    outcome = cli("report", "export", str(tmp_path / "s"), "--latex", "--metric", "share,jain")
    assert outcome.code == 0, outcome.err
    lines = (tmp_path / "s" / "latex" / "table.tex").read_text().splitlines()
    assert "booktabs" in lines[0]
    assert "3 runs" in lines[0]
    assert lines[1:6] == [
        r"\begin{tabular}{@{}llrr@{}}", r"\toprule",
        r"queue &  & throughput & Jain's \\", r"discipline & group & share (\%) & index \\",
        r"\midrule",
    ]  # fmt: skip
    del lines[3]
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    shares = [100 * r["share"] for r in swept.rows.to_pylist()
              if (r["queue"], r["group"]) == ("fq_codel", 0)]  # fmt: skip
    interval = mean_interval(shares)
    row = next(line for line in lines if line.startswith(r"fq\_codel & Reno"))
    assert written(interval, 1) in row
    assert lines[6].startswith(" & CUBIC"), "the same queue is not repeated"
    assert lines[7].startswith(" & all &  & $"), "what is of the run or a link is no group's"
    assert all(line.endswith(r" &  \\") for line in (lines[5], lines[6]))
    assert all(line.count("&") == 3 for line in lines[5:11])


def test_a_table_for_latex_says_what_its_groups_are_judged_by_and_of_which_link(cli, tmp_path):
    """Of a call the share was there, and not its score."""
    scenario = dumbbell.Scenario.from_toml(ROOT / "scenarios" / "which-queue.toml")
    dumbbell.run(scenario.replace(time="3s")).save(tmp_path / "r")
    for names, said in (
        ([], ["goodput", "score", "percentile"]),
        (["--metric", "queue_delay_mean_us"], ["bottleneck"]),
    ):
        assert cli("report", "export", str(tmp_path / "r"), "--latex", *names).code == 0
        text = (tmp_path / "r" / "latex" / "table.tex").read_text()
        head = text[: text.index("midrule")]
        assert "% Needs \\usepackage{booktabs}. Of one run.\n" in head
        assert all(word in head for word in said), head


#: Of a column of IEEE's and ACM's templates, the narrower of which is 84 mm.
COLUMN_PT = 241
MEASURED = r"""
\documentclass[10pt]{article}\usepackage{booktabs}\newsavebox\BX
\begin{document}\footnotesize\sbox\BX{\input{s/latex/table.tex}}
\typeout{width \the\wd\BX}\usebox\BX\end{document}
"""


def test_the_table_fits_a_paper_s_column(cli, tmp_path):
    """Its heads alone were 1.9 columns wide, in one line each."""
    latex = shutil.which("pdflatex")
    if latex is None:
        pytest.skip("no LaTeX")
    scenario = dumbbell.Scenario(["reno", "cubic"], time="1s")
    Sweep(scenario, {"buffer": "1,2bdp"}, reps=3).run(out=tmp_path / "s")
    assert cli("report", "export", str(tmp_path / "s"), "--latex").code == 0
    (tmp_path / "paper.tex").write_text(MEASURED)
    done = subprocess.run(
        [latex, "-interaction=nonstopmode", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (tmp_path / "paper.pdf").exists(), done.stdout
    width = re.search(r"width ([\d.]+)pt", done.stdout)
    assert width, done.stdout
    assert float(width[1]) <= COLUMN_PT


def test_an_interval_has_two_digits_and_is_never_rounded_to_zero():
    found = {
        (59.84, 0.153): r"$59.84 \pm 0.15$", (60.0, 0.0): r"$60 \pm 0$",
        (1234.5, 321.0): r"$1234 \pm 321$", (46.9, 0.00513): r"$46.9000 \pm 0.0051$",
    }  # fmt: skip
    for (mean, half), said in found.items():
        interval = Interval(mean, mean - half, mean + half, 0.95, 5, "Student t")
        assert written(interval, 0) == said
    skewed = Interval(59.84, 59.68, 59.99, 0.95, 10, "bootstrap-t")
    assert written(skewed, 0) == "$59.84$ [59.68, 59.99]"


def test_what_latex_reads_as_its_own_is_escaped():
    assert escape(r"50 % of a_b & {c} \ ×4") == (
        r"50 \% of a\_b \& \{c\} \textbackslash{} $\times$4"
    )


def test_a_run_s_flows_are_traces_of_qlog(cli, short_run, tmp_path):
    """By draft-ietf-quic-qlog-quic-events-02, which qvis opens."""
    run = short_run.save(tmp_path / "run")
    assert cli("report", "export", str(run), "--qlog").code == 0
    text = (run / "qlog" / "run.qlog").read_text()
    assert text.startswith('{"qlog_version":"0.3","qlog_format":"JSON"'), "qvis looks there"
    document = json.loads(text)
    assert len(document["traces"]) == 3
    for flow, trace in enumerate(document["traces"]):
        assert trace["common_fields"]["time_format"] == "relative"
        assert trace["vantage_point"]["type"] == "server"
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)
        names = {event["name"] for event in trace["events"]}
        assert names <= {"recovery:metrics_updated", "recovery:congestion_state_updated"}
        seen: dict[str, float] = {}
        for event in trace["events"]:
            if event["name"] == "recovery:metrics_updated":
                assert event["data"], "an update has something new"
                seen |= event["data"]
        last = [row for row in short_run.flows.to_pylist() if row["flow"] == flow][-1]
        mss = int(short_run.scenario.groups[0].mss)
        assert seen["congestion_window"] == last["cwnd_pkts"] * mss
        assert seen["bytes_in_flight"] == last["inflight_pkts"] * mss
        assert seen["smoothed_rtt"] == last["srtt_us"] / 1000
        assert seen["pacing_rate"] == last["pacing_rate_bps"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "{}", "--csv"], "holds no results"),
        (["export", "{}"], "`export` needs a format: use --csv, --latex or --qlog"),
        (["run", "reno", "--csv"], "use --out DIR, then `dumbbell report export DIR --csv`"),
        (["sweep", "reno", "--csv"], "use --out DIR, then `dumbbell report export DIR --csv`"),
    ],
)
def test_what_cannot_be_exported_is_refused_with_a_remedy(cli, tmp_path, words, said):
    outcome = cli(*(word.format(tmp_path) for word in words))
    assert outcome.code == 2
    assert said in outcome.err
