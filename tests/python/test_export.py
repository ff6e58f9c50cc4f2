"""`dumbbell report export --csv`: every table, every value, units in the columns' names."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import dumbbell
from dumbbell.export import export_csv
from dumbbell.sweeps import Sweep


def test_a_run_is_a_file_per_table_with_its_columns(cli, short_run, tmp_path):
    run = short_run.save(tmp_path / "run")
    outcome = cli("report", "export", str(run), "--csv", "--out", str(tmp_path / "csv"), "--json")
    assert outcome.code == 0, outcome.err
    assert {path.stem for path in (tmp_path / "csv").iterdir()} == {
        *short_run.tables, "groups", "flow-summary",
    }  # fmt: skip
    assert len(json.loads(outcome.out)["files"]) == len(short_run.tables) + 2
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "{}", "--csv"], "holds no results"),
        (["export", "{}"], "`export` needs a format: use --csv"),
        (["run", "reno", "--csv"], "use --out DIR, then `dumbbell report export DIR --csv`"),
        (["sweep", "reno", "--csv"], "use --out DIR, then `dumbbell report export DIR --csv`"),
    ],
)
def test_what_cannot_be_exported_is_refused_with_a_remedy(cli, tmp_path, words, said):
    outcome = cli(*(word.format(tmp_path) for word in words))
    assert outcome.code == 2
    assert said in outcome.err
