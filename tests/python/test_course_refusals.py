"""What the course's graders say of answers that are nearly right, and of damaged notebooks."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

import pytest

import dumbbell
from dumbbell.explore.answer import answer_of
from tests.python.course_graders import COURSE, ROOT, grader, model_values, refusal
from tests.python.wrong_answers import LETTERS, MODEL

sys.path[:0] = [str(ROOT / "tools"), str(COURSE)]
from course_notebooks import notebook  # noqa: E402

import time_limit  # noqa: E402
from grading import Answers  # noqa: E402


def read(directory: Path, lab: str, **cells: str) -> Answers:
    """Return the answers of a notebook with these graded cells, and the others unanswered."""
    found = notebook(lab, "en", {f"# answer: {k}": f"# answer: {k}\n{v}" for k, v in cells.items()})
    (directory / f"{lab}.en.ipynb").write_text(json.dumps(found), encoding="utf-8")
    return Answers.of_directory(directory)


def said_of(lab: str, directory: Path, **values: object) -> str:
    """Return what a lab's grader says of the model answers with others in their place."""
    return refusal(lab, Answers({**model_values(lab), **values}, directory))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (15, ""),
        (15.0, ""),
        (14, "from 14 s after its start, the later flow has 86.1% of the earlier one's goodput"),
        (13, "the later flow has 75.7%"),
        (16, "`even_s` is 16 s, which is too late"),
        (43, "too late"),
        (14.8, "give whole seconds"),
        (-1, "give whole seconds"),
        (3000, "give whole seconds"),
    ],
)
def test_the_second_at_which_flows_share_has_no_tolerance(answer, says, tmp_path):
    said = said_of("lab1", tmp_path, even_s=answer)
    assert says in said
    assert bool(said) == bool(says)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (1.0, ""),
        (1, ""),
        (0.1 * 10, ""),
        (1.04, "`smallest_bdp` is 1.04: give tenths of a BDP"),
        (0.96, "give tenths of a BDP"),
        (0.9, "the link is used to 99.6% only"),
        (1.1, "1 BDP fill the link too"),
        (0.1, "the link is used to"),
    ],
)
def test_the_smallest_buffer_is_in_tenths(answer, says, tmp_path):
    said = said_of("lab1", tmp_path, smallest_bdp=answer)
    assert says in said
    assert bool(said) == bool(says)


def test_steps_of_half_a_bdp_are_kept(tmp_path):
    assert "`largest_bdp` is 3.25: give halves" in said_of("lab2", tmp_path, largest_bdp=3.25)
    assert said_of("lab2", tmp_path, largest_bdp=3) == ""


@pytest.mark.parametrize("buffer", ["2bdp", "4bdp"])
def test_fair_queueing_of_hosts_is_a_remedy_with_a_larger_buffer(buffer, tmp_path):
    assert said_of("lab4", tmp_path, remedy={"queue": "fq", "buffer": buffer}) == ""
    said = said_of("lab4", tmp_path, remedy={"queue": "fq", "buffer": ...})
    assert "the near flow gets 2.78 times as much" in said


@pytest.mark.parametrize(
    "loop", ["while True: pass", "while True:\n    try: 1 / 0\n    except Exception: pass"]
)
def test_a_loop_without_an_end_is_named(loop, tmp_path, monkeypatch):
    monkeypatch.setattr(time_limit, "LIMIT_S", 0.3)
    handler = signal.getsignal(signal.SIGALRM)
    begin_s = time.monotonic()
    answers = read(
        tmp_path,
        "lab1",
        even_s=loop,
        period_s="def period_s(*_):\n    while True:\n        pass",
        smallest_bdp="smallest_bdp = 1.0",
    )
    said = refusal("lab1", answers)
    assert "the cell `# answer: even_s` has not returned within 0.3 s: look for a loop" in said
    assert "`period_s(10, 80, 1)` has not returned within 0.3 s: look for a loop" in said
    assert "smallest_bdp" not in said
    assert time.monotonic() - begin_s < 20
    assert signal.getsignal(signal.SIGALRM) is handler
    if handler in (signal.SIG_DFL, None):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_the_other_cells_are_mentioned_only_where_a_name_is_missing(tmp_path):
    answers = read(
        tmp_path,
        "lab1",
        prediction="prediction = 1 +",
        period_s="def period_s(*path):\n    return tooth_s(reno(*path))",
        smallest_bdp="smallest_bdp = buffers[3]",
        even_s="even_s = [][3]",
    )
    lines = refusal("lab1", answers).splitlines()
    hint = "A graded cell runs without the notebook's other cells"
    assert len(lines) == 4
    syntax, function, name, index = lines
    assert syntax.startswith("the cell `# answer: prediction` fails: SyntaxError")
    assert hint not in syntax
    missing = "NameError: name 'tooth_s' is not defined. "
    assert f"`period_s(10, 80, 1)` fails: {missing}{hint}" in function
    assert hint in name
    assert "fails: IndexError" in index
    assert hint not in index


def test_a_variable_with_another_name_is_named(tmp_path):
    answers = read(tmp_path, "lab1", even_s="import math\neven = math.ceil(10.4)")
    assert answers.has_any
    with pytest.raises(AssertionError, match="`# answer: even_s` assigns `even`, not `even_s`"):
        answers.number("even_s")
    with pytest.raises(AssertionError, match="`prediction` has no answer: write it in the cell"):
        answers["prediction"]


@pytest.mark.parametrize("damage", ["{", '{"nbformat": 4}', "[]", '{"cells": [3]}', "\0"])
def test_a_damaged_notebook_is_named(damage, tmp_path):
    path = tmp_path / "lab4" / "lab4.ja.ipynb"
    path.parent.mkdir()
    path.write_text(damage, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"^lab4/lab4.ja.ipynb is damaged \(\w+Error: "):
        Answers.of_directory(path.parent)


def test_students_see_one_line_for_a_damaged_notebook(tmp_path):
    course = tmp_path / "course"
    shutil.copytree(COURSE, course, ignore=shutil.ignore_patterns("teacher", "__pycache__"))
    (course / "lab4" / "lab4.en.ipynb").write_text("{", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "lab4"], cwd=course,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "lab4/lab4.en.ipynb is damaged" in done.stdout


def test_a_directory_is_not_a_missing_file(tmp_path):
    (tmp_path / "mine").mkdir()
    shutil.copy(MODEL, tmp_path / "mine")
    said = refusal("lab6", Answers({"prediction": 1, "file": "mine"}, tmp_path))
    assert "mine in " in said
    assert "is a directory: give the C file in it, like mine/mine.bpf.c" in said
    said = refusal("lab6", Answers({"prediction": 1, "file": 6}, tmp_path))
    assert "`file` is 6: give the path of your file as text" in said


def test_all_parts_of_an_answer_are_refused_at_once(tmp_path):
    said = said_of("lab4", tmp_path, ratios={"reno": 1, "cubic": "three", "bbr": 9})
    for part in ("`ratios['reno']` is 1", "`ratios['cubic']` is 'three'", "`ratios['bbr']` is 9"):
        assert part in said
    said = said_of("lab3", tmp_path, believed_rtt_ms=40, cwnd_in_own_bdp=5)
    assert "`believed_rtt_ms` is 40" in said
    assert "`cwnd_in_own_bdp` is 5" in said
    said = said_of("lab3", tmp_path, believed_rtt_ms=..., cwnd_in_own_bdp=5)
    assert "`believed_rtt_ms` has no answer" in said
    assert "`cwnd_in_own_bdp` is 5" in said
    winners = dict.fromkeys(model_values("lab3")["winners"], "me")
    said = said_of("lab3", tmp_path, winners=winners)
    assert said.count("is 'me'") == len(winners)
    said = said_of("lab5", tmp_path, who={**LETTERS, "a": "bbr3", "e": "newreno"})
    assert "`who['a']` is 'bbr3'" in said
    assert "`who['e']` is 'newreno'" in said


def test_a_number_below_zero_is_refused(tmp_path):
    assert "`number` is -3: give a whole number from 0 on" in said_of("lab5", tmp_path, number=-3)
    done = subprocess.run(
        [sys.executable, str(COURSE / "lab5" / "captures.py"), "-3"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, check=False, capture_output=True,
        text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "NUMBER is -3: use a whole number from 0 on\n")


def test_what_students_import_does_not_offer_the_key():
    grader("lab5")
    import captures

    assert [name for name in vars(captures) if callable(vars(captures)[name])
            and getattr(vars(captures)[name], "__module__", "") == "captures"
            and not name.startswith("_")] == ["without_comments", "main"]  # fmt: skip


def test_the_guide_has_students_pages_and_no_notes_for_teachers():
    """docs/course is a link to all of the course."""
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8"))
    (patterns,) = (
        ast.literal_eval(node.value) for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "exclude_patterns"
    )  # fmt: skip
    teachers = [path for path in (COURSE / "teacher").rglob("*") if path.is_file()]
    assert teachers
    for path in teachers:
        name = f"course/{path.relative_to(COURSE).as_posix()}"
        assert any(fnmatch(name, f"{pattern}/*") for pattern in patterns), name
    assert not any(fnmatch("course/lab1/lab1.en.ipynb", f"{each}/*") for each in patterns)
    for page in [*COURSE.glob("*.md"), ROOT / "docs" / "index.md"]:
        assert not re.search(r"\]\([^)]*teacher", page.read_text(encoding="utf-8")), page


def test_the_file_of_lab_6_has_as_many_lines_as_the_text_says(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("cc", "new", "mine").code == 0
    lines = len((tmp_path / "mine/mine.bpf.c").read_text(encoding="utf-8").splitlines())
    for language, text in (
        ("en", f"a C file of {lines} lines"),
        ("ja", f"{lines} 行の C ファイル"),
    ):
        page = (COURSE / "lab6" / f"lab6.{language}.ipynb").read_text(encoding="utf-8")
        assert text in page


def test_the_page_with_sliders_says_what_the_household_notices():
    said = answer_of(dumbbell.run(dumbbell.Scenario.from_toml(COURSE / "lab2" / "household.toml")))
    for part in ("call: mean opinion score 1.", "pages: median page load time ", "downloads: "):
        assert part in said["en"]


@pytest.mark.parametrize(("row", "duration"), [("of 60 s", "60s"), ("of 300 s", "300s")])
def test_teachers_have_the_shares_of_longer_runs(row, duration):
    table = (COURSE / "teacher" / "README.md").read_text(encoding="utf-8")
    (cells,) = re.findall(rf"^\| {row} \| (.*) \|$", table, re.MULTILINE)
    buffers = ("2.25bdp", "4bdp", "8bdp", "16bdp", "64bdp")
    for buffer, said in zip(buffers, cells.split(" | "), strict=True):
        run = dumbbell.run(
            ["bbr", "cubic"], rate="20mbit", rtt="40ms", buffer=buffer, time=duration
        )
        assert round(100 * run.groups[0]["share"]) == int(said), buffer
