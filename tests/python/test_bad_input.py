"""Issue by issue what a user can get wrong: one line on stderr, exit code 2, nothing on stdout."""

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = ("run", "copa", "cubic")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "cubik"), "error: unknown congestion control `cubik`; did you mean `cubic`?"),
        (("run", "copa:windw=5"), "`copa` has no parameter `windw`"),
        (
            ("run", "copa:mode_window_rtts=999"),
            "parameter `mode_window_rtts` of `copa` is 999; use",
        ),
        ((*RUN, "--rate", "50"), "error: rate `50` has no unit; use e.g. `50mbit`"),
        ((*RUN, "--rtt", "40"), "error: rtt `40` has no unit; use e.g. `40ms`"),
        (
            (*RUN, "--buffer", "2"),
            "error: buffer `2` has no unit; use e.g. `2bdp`, `500kB` or `64pkt`",
        ),
        ((*RUN, "--time", "30"), "error: time `30` has no unit; use e.g."),
        ((*RUN, "--buffer", "2ms"), "buffer `2ms` has the wrong unit `ms`"),
        ((*RUN, "--rate", "-5mbit"), "rate `-5mbit` is negative"),
        ((*RUN, "--rate", "0mbit"), "rate `0mbit` is zero"),
        ((*RUN, "--rtt", "-5ms"), "rtt `-5ms` is negative"),
        ((*RUN, "--rtt", "0ms"), "rtt `0ms` is zero"),
        ((*RUN, "--buffer", "-1bdp"), "buffer `-1bdp` is negative"),
        ((*RUN, "--buffer", "0bdp"), "buffer `0bdp` is zero"),
        ((*RUN, "--time", "-1s"), "time `-1s` is negative"),
        ((*RUN, "--time", "0s"), "time `0s` is zero"),
        ((*RUN, "--buffer", "1kB"), "buffer `1kB` is 1000 B, smaller than a packet"),
        ((*RUN, "--start", "30s", "--time", "20s"), "flows never start"),
        ((*RUN, "--start", "0s,1s,2s"), "`--start 0s,1s,2s` lists 3 values for 2 groups"),
        (
            ("run", "copa", "--time", "50ms"),
            "error: flows of `copa` may start as late as 100ms (start 0s + jitter 100ms), not "
            "before the end at 50ms; use `--jitter 0s` or a longer `--time`\n",
        ),
        (
            (*RUN, "--flows", "2", "--sample", "1ns", "--time", "2s"),
            "error: 4 flows sampled every `1ns` for `2s` make 8,000,000,000 rows, more than "
            "100,000,000; use a longer `--sample`, or `0s` for none\n",
        ),
        ((*RUN, "--time", "1e10s"), "time `1e10s` is too large; use at most `1000000000s`"),
        ((*RUN, "--flows", "60000"), "the groups have 120,000 flows; use at most 100,000 in all"),
        ((*RUN, "--rtt", "1us"), "error: rtt `1us` is too small; use at least `2us`"),
        ((*RUN, "--buffer", "1e90bdp"), "is too large"),
        ((*RUN, "--rate", "٥mbit"), "rate `٥mbit` is not a number with a unit"),
        (("sweep", "copa", "--flows", "٥"), "is not a list of counts"),
        (("run", "copa:mode_window_rtts=٥"), "is `٥`, which is not a whole number"),
        (
            ("run", "linux/cubic"),
            "error: `linux/cubic` is a kernel's own; use `--engine uml` or `kernel`, or `cubic`\n",
        ),
        (("cc", "check", "linux/cubic"), "is the running kernel's own and has no description"),
        (("run", "linux/cubik"), "is a kernel's own; use `--engine uml` or `kernel`\n"),
        (("sweep", "linux/bbr", "--flows", "1,2"), "use `--engine uml` or `kernel`, or `bbr`\n"),
        (
            ("validate", "copa", "linux/cubic"),
            "its source: name the tree with `--linux-tree DIR`\n",
        ),
        (
            ("run", "linux/cubic:beta=1", "--engine", "kernel"),
            "error: `linux/cubic:beta=1`: the kernel's own algorithms have no parameters; "
            "use `linux/cubic`\n",
        ),
        (
            ("run", "linux/a-name-too-long-for-it"),
            "no kernel congestion control can have this name; use one like `linux/cubic`",
        ),
        (
            ("run", "linux/"),
            "no kernel congestion control can have this name; use one like `linux/cubic`",
        ),
        ((*RUN, "--engine", "kernl"), "error: unknown engine `kernl`; did you mean `kernel`?\n"),
        (
            ("sweep", "copa", "--engine", "ns3"),
            "unknown engine `ns3`; known: `simulator`, `kernel`",
        ),
        (("reproduce", "--engine", "ns3"), "unknown engine `ns3`; known: `simulator`, `kernel`"),
        (("sweep", "copa", "--jobs", "0"), "--jobs"),
        (("validate", "copa", "--reps", "0"), "--reps"),
        (("validate", "absent.toml"), "error: absent.toml: no such file"),
        (("run", "copa,cubic"), "separate algorithms with a space: `copa cubic`"),
        (("run", "copa:mode_window_rtts=5,cubic"), "separate algorithms with a space"),
        ((*RUN, "--out", "/proc/x"), "/proc/x: cannot be written: no such file or directory"),
        (
            (*RUN, "--out", "/dev/null/x"),
            "/dev/null/x: cannot be written: `/dev/null` is not a directory",
        ),
        (("sweep", "copa", "--out", "/proc/x"), "/proc/x: cannot be written"),
        (("reproduce", "--out", "/proc/x"), "/proc/x: cannot be written"),
        ((*RUN, "--flows", "0"), "flows is 0; use 1 to"),
        (("run", "absent.toml"), "error: absent.toml: no such file"),
        (
            ("run", "absent.toml", "copa"),
            "file `absent.toml` cannot be combined with other",
        ),
        (("run", "./absent.bpf.c"), "`./absent.bpf.c`: no such file"),
        (("run",), "error: missing argument"),
        ((*RUN, "--bufer", "2bdp"), "error: no such option: --bufer; did you mean `--buffer`?"),
        ((*RUN, "--flows", "two"), "flows `two` is not a whole number"),
        ((*RUN, "--flows", "1,4"), "`--flows 1,4` lists 2 values, but `dumbbell run` takes one"),
        ((*RUN, "--buffer", "1..4bdp"), "lists 3 values, but `dumbbell run` takes one; use `du"),
        ((*RUN, "--bw", "5mbit"), "error: no such option: --bw; did you mean `--rate`?"),
        ((*RUN, "--bandwidth", "5mbit"), "did you mean `--rate`?"),
        ((*RUN, "--delay", "5ms"), "did you mean `--rtt`?"),
        ((*RUN, "--duration", "5s"), "did you mean `--time`?"),
        ((*RUN, "--qdisc", "pfifo"), "did you mean `--queue`?"),
        (("run", "--cca", "copa"), "algorithms are arguments: `copa cubic`"),
        ((*RUN, "--zzz"), "no such option: --zzz; `dumbbell run --help` lists the options"),
        (("sweep", "copa", "--axis", "bandwidth=1mbit"), "did you mean `rate`?"),
        (("sweep", "copa", "--axis", "copa.delay=1ms"), "did you mean `rtt`?"),
        (("sweep", "copa", "--seed", "1,2"), "`--seed 1,2`: seed takes one value"),
        (("sweep", "copa", "--metric", "gdput_bps"), "did you mean `goodput_bps`?"),
        (("sweep", "copa", "--buffer", "4..1bdp"), "a range must start above zero and increase"),
        (("sweep", "copa", "--flows", "1.5"), "is not a list of counts"),
        (("sweep", "copa", "--reps", "0"), "reps is 0; it must be at least 1"),
        (("reproduce", "ogino2012"), "unknown paper `ogino2012`; did you mean `ogino2021`?"),
        (("reproduce", "--seeds", "0"), "`--seeds` must be 1 or more, not 0"),
        (("cc", "list", "vino"), "unknown congestion control `vino`"),
        (("cc", "check", "absent.bpf.c"), "absent.bpf.c"),
        (("fly",), "no such command"),
        ((*RUN, "--reps", "3"), "no such option: --reps; that is `dumbbell sweep --reps`"),
        ((*RUN, "--serve", "x"), "that is `dumbbell emulate --serve`"),
        (("list", "quues"), "did you mean `queues`?"),
        (("run", "cubic@paper"), "`cubic@paper`: `cubic` has no presets; use `cubic`"),
    ],
)
def test_one_line_and_exit_2(cli, arguments, says):
    outcome = cli(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert says.lower() in outcome.err.lower()


def test_toml_key_and_line(cli, tmp_path):
    path = tmp_path / "typo.toml"
    path.write_text('rate = "1mbit"\nbufer = "1bdp"\n[[group]]\ncc = "reno"\n')
    outcome = cli("run", str(path))
    assert outcome.code == 2
    assert outcome.err == f"error: {path}:2: unknown key `bufer`; did you mean `buffer`?\n"


def test_not_toml(cli, tmp_path):
    path = tmp_path / "not.toml"
    path.write_text("rate: 1mbit\n")
    outcome = cli("run", str(path))
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {path}:1: not TOML: ")
    assert outcome.err.count("\n") == 1


def test_option_goes_before_the_file(cli, tmp_path):
    path = tmp_path / "short.toml"
    path.write_text('time = "1s"\n[[group]]\ncc = "reno"\n')
    outcome = cli("run", str(path), "--buffer", "1B")
    assert outcome.code == 2
    assert "buffer `1B` is 1 B, smaller than a packet" in outcome.err


def test_c_that_does_not_compile(cli, tmp_path):
    path = tmp_path / "broken.bpf.c"
    path.write_text('#include "vmlinux.h"\nthis is no C;\n')
    outcome = cli("run", str(path))
    assert outcome.code == 2
    assert outcome.out == ""
    first, *rest = outcome.err.splitlines()
    assert first.startswith("error: ")
    assert "broken.bpf.c" in first
    assert "does not compile" in first
    assert any("error:" in line for line in rest), "the compiler's message is missing"
    assert "Traceback" not in outcome.err

    checked = cli("cc", "check", str(path))
    assert checked.code == 1
    assert "broken.bpf.c:2:" in checked.out
    assert checked.out.endswith("FAILED\n")


def test_refuses_out_before_it_simulates(cli, monkeypatch):
    def simulate(*_arguments, **_options):
        pytest.fail("simulated for nothing")

    monkeypatch.setattr("dumbbell.cli.run.run", simulate)
    assert cli(*RUN, "--out", "/proc/x").code == 2


def test_a_full_disk_does_not_take_the_result_along(cli, monkeypatch, tmp_path):
    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail:\n[errno 28]")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    outcome = cli(*RUN, "--time", "1s", "--json", "--out", str(tmp_path / "run"))
    assert outcome.code == 2
    assert json.loads(outcome.out)["schema_version"] == 1
    assert outcome.err == (
        f"error: {tmp_path / 'run'}: cannot be written: no space left on device; "
        "choose another path\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_full_stdout_is_one_line(option):
    command = [sys.executable, "-m", "dumbbell", "run", "reno", "--time", "1s", *option]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 2
    assert result.stderr == "error: stdout: cannot be read or written: no space left on device\n"


def test_a_directory_is_said_to_be_one_and_its_files_are_named(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/scenario.toml").touch()
    for name in ("mine", "mine/", "./mine"):
        assert cli("run", name).err == (
            f"error: `{name}` is a directory; use `mine/scenario.toml`\n"
        )
    assert cli("run", "reno", "--time", "1s", "--out", "saved").code == 0
    assert cli("run", "saved").err == (
        "error: `saved` is a directory; it holds a result: `dumbbell report saved`\n"
    )


def test_an_unknown_metric_is_answered_with_a_few(cli):
    shown = cli("list", "metrics", "rtt").out
    assert "rtt_mean_us" in shown
    assert "goodput_bps" not in shown
    unknown = cli("list", "metrics", "xyzzy").err
    assert unknown.startswith("error: unknown metric `xyzzy`; known: ")
    assert len(unknown) < 320
