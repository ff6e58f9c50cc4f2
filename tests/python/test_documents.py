"""What the documents show works as they show it."""

import re
from collections import Counter
from pathlib import Path

import pytest

import dumbbell
from dumbbell.congestion_control.new import new

ROOT = Path(__file__).resolve().parents[2]


def code_blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_scenario_files_of_the_docs_are_some(tmp_path):
    scenarios = []
    for number, block in enumerate(code_blocks("docs/scenario.md", "toml")):
        path = tmp_path / f"{number}.toml"
        path.write_text(block, encoding="utf-8")
        scenarios.append(dumbbell.Scenario.from_toml(path))
    plain, network, there_and_back, judged = scenarios
    assert [group.flows for group in plain.groups] == [2, 1]
    assert [link.name for link in network.links] == ["down", "up"]
    assert [group.route for group in there_and_back.groups] == [("bottleneck",), ("up",)]
    assert judged.groups[0].metric == "mos"


def test_the_readme_s_python_runs(tmp_path, monkeypatch):
    (block,) = code_blocks("README.md", "python")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(block.replace('time="60s"', 'time="2s"'), "README.md", "exec"), names)  # noqa: S102
    assert (tmp_path / "results" / "bbr-cubic" / "run.json").is_file()


def test_the_readme_s_table_is_what_the_command_prints(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    scenario = dumbbell.Scenario(
        ["copa", "cubic"], rate="50mbit", rtt="40ms", buffer="2bdp", time="30s"
    )
    run = dumbbell.run(scenario)
    for group in run.groups:
        rate, share = f"{group['goodput_bps'] / 1e6:.2f}", f"{100 * group['share']:.1f}"
        row = next(line for line in readme.splitlines() if line.startswith(f"{group['cc']} "))
        assert rate in row
        assert share in row


def test_the_tutorial_s_numbers_are_what_its_steps_print(tmp_path, monkeypatch):
    tutorial = "docs/tutorial-write-a-cc.md"
    text = (ROOT / tutorial).read_text(encoding="utf-8")
    new("mine", tmp_path)
    monkeypatch.chdir(tmp_path / "mine")
    run = dumbbell.run(dumbbell.Scenario.from_toml("scenario.toml"))
    for group, name in zip(run.groups, ("mine", "cubic"), strict=True):
        row = next(line.split() for line in text.splitlines() if line.startswith(f"{name}  "))
        assert row[2] == f"{group['goodput_bps'] / 1e6:.2f}"
        assert row[4] == f"{100 * group['share']:.1f}"
    file = Path("mine.bpf.c")
    source = file.read_text(encoding="utf-8")
    (step,) = code_blocks(tutorial, "c")
    rates = []
    for changed in (source, re.sub(r"(?=\treturn max\(\(u32\))", step, source)):
        file.write_text(changed, encoding="utf-8")
        lossy = dumbbell.run(["./mine.bpf.c"], loss="0.1%", time="60s")
        rates.append(f"{lossy.groups[0]['goodput_bps'] / 1e6:.1f}")
    assert f"The goodput is {rates[1]} Mbit/s instead of {rates[0]}." in text


def test_a_string_is_not_a_list_of_groups():
    with pytest.raises(
        dumbbell.ScenarioError, match=r"must be a list, not a string; use \['copa'\]"
    ):
        dumbbell.Scenario("copa")


CODE = re.compile(r"^```.*?^```$|^    [^\n]*$", re.MULTILINE | re.DOTALL)


def commands(document: str) -> list[str]:
    """Fenced blocks and indented lines without their comments: those are translated."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [re.sub(r"\s+# [^\n]*", "", block) for block in CODE.findall(text)]


def links(document: str) -> Counter[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.finditer(r'\]\((?P<link>[^)\s]+)\)|<img src="(?P<picture>[^"]+)"', text)
    return Counter(match["link"] or match["picture"] for match in found)


def prose(document: str) -> str:
    return CODE.sub("", (ROOT / document).read_text(encoding="utf-8"))


def test_the_japanese_readme_shows_the_same_commands():
    assert len(commands("README.md")) > 20
    assert commands("README.ja.md") == commands("README.md")


def test_the_japanese_readme_has_the_same_links_and_pictures():
    english, other = links("README.md"), links("README.ja.md")
    assert english.pop("README.ja.md") == other.pop("README.md") == 1
    assert other == english


def test_the_japanese_readme_has_the_same_names_and_figures():
    names = re.compile(r"`[^`]+`")
    english, other = prose("README.md"), prose("README.ja.md")
    assert Counter(names.findall(other)) == Counter(names.findall(english))
    # Japanese writes words such as "fifteen" in digits, so it may have more figures.
    figures = re.compile(r"\d+(?:[.,]\d+)+|\d{2,}")
    assert set(figures.findall(english)) - set(figures.findall(other)) == set()
    assert english.count("\n## ") == other.count("\n## ")
    assert english.count("\n|") == other.count("\n|")


def test_the_guide_is_short():
    words = [len(page.read_text(encoding="utf-8").split()) for page in ROOT.glob("docs/*.md")]
    # 45,000 before explore, QUIC flows, conform, fit and identify had pages.
    assert sum(words) < 49_500


def test_a_laboratory_note_is_dated_and_in_the_index():
    index = (ROOT / "docs/notes/index.md").read_text(encoding="utf-8")
    notes = [page for page in ROOT.glob("docs/notes/*.md") if page.name != "index.md"]
    assert len(notes) > 20
    for note in notes:
        text = note.read_text(encoding="utf-8")
        (date,) = re.findall(r"^Laboratory note, last measured ([\d-]+)\.$", text, re.MULTILINE)
        row = next(line for line in index.splitlines() if f"]({note.name})" in line)
        assert row.endswith(f"| {date} |")


def test_every_tool_is_named_where_one_finds_it():
    """By the Makefile, a document or a test; what tools import is named by these."""
    places = [ROOT / "Makefile", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"),
              *ROOT.glob("course/teacher/*.md"), *ROOT.glob("tests/python/*.py")]  # fmt: skip
    named = "\n".join(path.read_text(encoding="utf-8") for path in places)
    tools = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("tools/*.py")}
    assert len(tools) > 30
    imports = re.findall(r"^(?:from|import) (\w+)", "\n".join(tools.values()), re.MULTILINE)
    unnamed = [p.name for p in tools if p.name not in named and p.stem not in imports]
    assert unnamed == []
