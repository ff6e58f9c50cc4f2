"""The course: both languages, graders that accept the model answers and refuse wrong ones."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.python.course_graders import COURSE, ROOT, checks_of, model_values, refusal
from tests.python.wrong_answers import MODEL, WRONG, WRONG_FILES

sys.path[:0] = [str(ROOT / "tools"), str(COURSE)]
from course_notebooks import (  # noqa: E402
    LABS,
    LANGUAGES,
    model_answers,
    notebook,
    write_solved,
)

from grading import Answers  # noqa: E402

KANA = re.compile("[\u3040-\u30ff]")


def committed(lab: str, language: str) -> Any:
    path = COURSE / lab / f"{lab}.{language}.ipynb"
    return json.loads(path.read_text(encoding="utf-8"))


def sources(document: Any, kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_is_the_same_in_both_languages(lab):
    both = [committed(lab, language) for language in LANGUAGES]
    assert both == [notebook(lab, language) for language in LANGUAGES], (
        "python tools/course_notebooks.py"
    )
    english, japanese = both
    assert sources(english, "code") == sources(japanese, "code")
    kinds = [[cell["cell_type"] for cell in each["cells"]] for each in both]
    assert kinds[0] == kinds[1]
    assert not any(KANA.search(text) for text in sources(english, "markdown"))
    assert all(KANA.search(text) for text in sources(japanese, "markdown"))
    names, names_japanese = (
        set(re.findall(r"`[^`]+`", "".join(sources(each, "markdown")))) for each in both
    )
    assert names == names_japanese


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_asks_for_a_prediction_before_it_runs_anything(lab):
    document = committed(lab, "en")
    code = sources(document, "code")
    text = "\n".join(sources(document, "markdown"))
    predicts = next(at for at, cell in enumerate(code) if "answer: prediction" in cell)
    guard = next(at for at, cell in enumerate(code) if 'your prediction first"' in cell)
    pictures = [at for at, cell in enumerate(code) if "plt.show()" in cell]
    assert predicts < guard <= pictures[0]
    for cell in code[:guard]:
        assert "dumbbell.run" not in cell
    for part in ("**Question.**", "Task", "<summary>Hint", f"`pytest {lab}`", "minutes"):
        assert part in text
    asked = {line for cell in code for line in cell.splitlines() if line.startswith("# answer:")}
    assert asked == set(model_answers(lab))


@pytest.mark.parametrize("lab", LABS)
def test_an_unsolved_lab_has_no_answers(lab):
    answers = Answers.of_directory(COURSE / lab)
    assert not answers.has_any
    for test in checks_of(lab):
        with pytest.raises(AssertionError, match="has no answer"):
            test(answers)


@pytest.mark.parametrize("lab", LABS)
def test_ten_wrong_answers_are_refused_with_what_is_wrong_and_not_with_the_answer(lab, tmp_path):
    values = model_values(lab)
    (tmp_path / "mine").mkdir()
    shutil.copy(MODEL, tmp_path / "mine")
    for wrong in WRONG[lab]:
        answers = Answers({**values, wrong.name: wrong.value}, tmp_path)
        said = refusal(lab, answers)
        assert wrong.says in said, (wrong, said)
        assert wrong.name in said
        right = values[wrong.name]
        if isinstance(right, (int, float, str)):
            assert not re.search(rf"(?<![\w.]){re.escape(str(right))}(?![\w.])", said), said
    assert len(WRONG[lab]) + (len(WRONG_FILES) if lab == "lab6" else 0) == 10


def test_what_a_remedy_leaves_as_it_was_is_not_changed(tmp_path):
    accepted = {"remedy": {"queue": "fq_codel", "buffer": ...}}
    assert "`remedy`" not in refusal("lab4", Answers(accepted, tmp_path))
    refused = {"remedy": {"queue": ..., "buffer": "4"}}
    assert "`remedy` {'buffer': '4'} cannot be run" in refusal("lab4", Answers(refused, tmp_path))


@pytest.mark.parametrize("what", WRONG_FILES)
def test_a_file_that_is_unsound_or_below_the_bar_is_refused(what, tmp_path):
    make, says = WRONG_FILES[what]
    source = MODEL.read_text(encoding="utf-8")
    assert make(source) != source
    (tmp_path / "mine.bpf.c").write_text(make(source), encoding="utf-8")
    answers = Answers({"file": "mine.bpf.c"}, tmp_path)
    said = refusal("lab6", answers)
    assert says in said, said


def test_students_grade_the_model_answers_from_a_copy_of_the_course(tmp_path):
    """As they do: in their directory, with an installed dumbbell."""
    course = write_solved(tmp_path, "ja")
    assert not (course / "teacher").exists()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=course,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert f"{sum(len(checks_of(lab)) for lab in LABS)} passed" in done.stdout


def test_a_failing_grade_shows_no_comparison_with_the_right_answer(tmp_path):
    course = write_solved(tmp_path, "en")
    path = course / "lab3/lab3.en.ipynb"
    document = json.loads(path.read_text(encoding="utf-8"))
    name = "believed_rtt_ms"
    for cell in document["cells"]:
        if "".join(cell["source"]).startswith(f"# answer: {name}"):
            cell["source"] = [f"# answer: {name}\n", f"{name} = 250.0"]
    path.write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "lab3"], cwd=course,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert f"`{name}`" in done.stdout
    assert "abs(" not in done.stdout
    assert not re.search(r"21\d\.\d", done.stdout), done.stdout


def test_answers_are_in_one_notebook_and_stand_for_themselves(tmp_path):
    def write(language: str, **cells: str) -> None:
        found = notebook("lab1", language, {f"# answer: {k}": v for k, v in cells.items()})
        (tmp_path / f"lab1.{language}.ipynb").write_text(json.dumps(found), encoding="utf-8")

    write("en", even_s="# answer: even_s\neven_s = int(loss_times(run)[0])")
    write("ja")
    answers = Answers.of_directory(tmp_path)
    with pytest.raises(
        AssertionError, match=r"`# answer: even_s` fails: NameError.*import or define in it what"
    ):
        answers.number("even_s")
    with pytest.raises(AssertionError, match="`period_s` has no answer"):
        answers.calls("period_s", 1, 2, 3)
    write("ja", prediction="# answer: prediction\nprediction = 3")
    with pytest.raises(AssertionError, match="keep them in one notebook"):
        Answers.of_directory(tmp_path)


@pytest.mark.parametrize("lab", LABS)
def test_the_commands_for_sliders_are_right(lab, cli, tmp_path, monkeypatch):
    """Each writes its page, without a slider."""
    shutil.copytree(COURSE / lab, tmp_path / lab)
    (tmp_path / lab / "mine").mkdir()
    shutil.copy(MODEL, tmp_path / lab / "mine")
    monkeypatch.chdir(tmp_path / lab)
    text = "".join(sources(committed(lab, "en"), "markdown"))
    commands = re.findall(r"`dumbbell (explore [^`]+)`", text)
    assert commands
    for command in commands:
        plain = shlex.split(re.sub(r" --(export|over) \S+", "", command))
        found = cli(*plain, "--export", "page.html", "--over", "rate=20mbit")
        assert (found.code, found.err) == (0, ""), command


def test_captures_do_not_say_what_is_in_them(tmp_path):
    shutil.copy(COURSE / "lab5" / "captures.py", tmp_path)
    run = [sys.executable, str(tmp_path / "captures.py")]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    subprocess.run([*run, "7"], env=env, check=True, capture_output=True)
    captures = sorted((tmp_path / "captures").glob("*.pcapng"))
    assert [path.name for path in captures] == [f"{letter}.pcapng" for letter in "abcde"]
    for path in captures:
        first = path.read_bytes()[:4096]
        for name in (b"bbr", b"copa", b"cubic", b"reno", b"vegas", b"seed"):
            assert name not in first
    refused = subprocess.run([*run, "me"], env=env, check=False, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (
        2,
        "NUMBER is me: use a whole number from 0 on\n",
    )
