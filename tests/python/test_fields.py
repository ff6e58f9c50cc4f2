"""A field of a scenario works everywhere once it is declared: each step of its recipe in
CONTRIBUTING.md that is forgotten fails a test here."""

import json
import re
import runpy
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Group, Link, Scenario
from dumbbell.base.errors import ScenarioError
from dumbbell.scenario.fields import FLOWS, PATH, RUN, Field, fields_of, suggest
from dumbbell.sweeps.design import make_design
from dumbbell.terminal.field_options import SETTABLE
from dumbbell.terminal.scenario_options import base_scenario

DOCS = Path(__file__).resolve().parents[2] / "docs"
OWNERS = (Scenario, Link, Group)
DECLARED = [(owner, field) for owner in OWNERS for field in fields_of(owner).values()]
every_field = pytest.mark.parametrize(
    ("owner", "field"), DECLARED, ids=[f"{owner.__name__}.{f.name}" for owner, f in DECLARED]
)


#: What only a group of programs has, with what else it needs.
OF_PROGRAMS: dict[str, dict[str, Any]] = {
    "client": {},
    "server": {"client": "true"},
    "ready": {"client": "true", "server": "true"},
    "measure": {"client": "true"},
    "mtu": {"client": "true"},
}
#: What an engine need not know.
OF_PYTHON = ((Scenario, "name"), (Group, "name"), (Group, "metric"), (Group, "measure"))


def plain_groups(owner: type, field: Field[Any, Any]) -> list[Any]:
    """Two groups in which a field of groups has its default."""
    others = OF_PROGRAMS.get(field.name, {}) if owner is Group else {}
    return [Group("reno", **others), "reno"]


def scenario_with(owner: type, field: Field[Any, Any]) -> Scenario:
    """A short scenario in which a field has its example's value."""
    groups = plain_groups(owner, field)
    if owner is Group:
        others = OF_PROGRAMS.get(field.name, {})
        changed: dict[str, Any] = {"cc": "reno", **others, field.name: field.example}
        groups = [Group(**changed), "reno"]
    words: dict[str, Any] = {"time": "1.2s", "sample": "0s"}
    words |= {field.name: field.example} if owner is Scenario else {}
    return Scenario(groups, links=links_with(field) if owner is Link else (), **words)


def links_with(field: Field[Any, Any] | None = None) -> list[Link]:
    """A link in which a field, if one is named, has its example's value."""
    words: dict[str, Any] = {"name": "only", "rate": "50mbit"}
    return [Link(**words | ({field.name: field.example} if field else {}))]


def value_in(scenario: Scenario, owner: type, field: Field[Any, Any]) -> Any:
    of = {Scenario: scenario, Link: scenario.links[0], Group: scenario.groups[0]}
    return getattr(of[owner], field.name)


@every_field
def test_its_declaration_is_complete(owner, field):
    assert field.doc.endswith(".")
    assert field.panel in (PATH, FLOWS, RUN)
    assert not field.is_default(field.parse(field.example)), "the example is the default"
    assert field.default is ... or field.is_default(field.parse(field.default))
    assert field.name in {each.name for each in fields(owner)}
    assert f"{field.name}\n    {field.doc}" in (owner.__doc__ or "")


@every_field
def test_the_engine_knows_it(owner, field):
    """`crates/scenario/src/` must have a field of its `engine` name."""
    scenario = scenario_with(owner, field)
    links = links_with() if owner is Link else ()
    plain = Scenario(plain_groups(owner, field), links=links, time="1.2s", sample="0s")
    is_of_python = (owner, field.name) in OF_PYTHON
    assert (scenario.resolve() != plain.resolve()) == (not is_of_python)
    if scenario.groups[0].client is not None:
        with pytest.raises(ScenarioError, match="use `--engine kernel`"):
            dumbbell.run(scenario)
        return
    assert dumbbell.run(scenario).verdict.status in ("OK", "WARN", "INVALID")


@every_field
def test_files_have_it(owner, field, tmp_path):
    scenario = scenario_with(owner, field)
    path = tmp_path / "scenario.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.from_toml(path) == scenario
    assert Scenario.from_dict(json.loads(json.dumps(scenario.to_dict()))) == scenario
    assert value_in(Scenario.from_toml(path), owner, field) == field.parse(field.example)


@every_field
def test_commands_have_its_option(owner, field):
    if not field.has_option or owner is Link:  # a link's are the scenario's shorthand
        assert SETTABLE.get(field.name) is not field
        return
    assert SETTABLE[field.name] is field
    scenario = base_scenario(["reno"], {"time": "90s", field.name: field.example})
    assert value_in(scenario, owner, field) == field.parse(field.example)


@every_field
def test_it_is_an_axis(owner, field):
    if not field.is_axis:
        return
    links = links_with() if owner is Link else ()
    plain = Scenario(plain_groups(owner, field), links=links, time="90s")
    prefix = {Scenario: "", Link: "link.only.", Group: "0."}[owner]
    name = f"{prefix}{field.name}"
    design = make_design(plain, {name: [field.example]})
    scenario = design.scenario_of(design.cells[0])
    assert value_in(scenario, owner, field) == field.parse(field.example)


@every_field
def test_groups_are_distinguished_by_it(owner, field):
    if owner is Group and field.name != "cc":
        first, second = scenario_with(owner, field).group_labels
        of = {
            "traffic": "reno (poisson", "flows": "reno ×4", "name": "Thesis",
        }.get(field.name, f"reno ({field.name} ")  # fmt: skip
        name = scenario_with(owner, field).groups[0].client
        if name is not None:  # the program is what it is called by
            assert first == f"{name.name} reno"
        else:
            assert first.startswith(of)
        assert first != second


def test_the_page_includes_a_table_of_all_fields():
    page = (DOCS / "scenario.md").read_text(encoding="utf-8")
    tables = runpy.run_path(str(DOCS.with_name("tools") / "field_tables.py"))["field_tables"]()
    for name in tables:
        assert f"{{include}} _generated/tables/{name}.md" in page
    for owner in OWNERS:
        listed = [text for name, text in tables.items() if name.startswith(owner.__name__.lower())]
        rows = re.findall(r"^\| `(\w+)` \|", "\n".join(listed), re.MULTILINE)
        assert sorted(rows) == sorted(fields_of(owner))


def test_type_checkers_know_the_fields_of_hosts():
    """`python tools/host_stub.py` writes the stub."""
    written = runpy.run_path(str(DOCS.with_name("tools") / "host_stub.py"))
    assert written["STUB"].read_text(encoding="utf-8") == written["host_stub"]()


def test_the_fields_of_hosts_may_be_a_table_of_their_own(tmp_path):
    path = tmp_path / "scenario.toml"

    def read(text: str) -> Scenario:
        path.write_text(
            f'[[group]]\ncc = "reno"\n{text}\n[[group]]\ncc = "reno"\n', encoding="utf-8"
        )
        return Scenario.from_toml(path)

    assert read('[group.host]\nrwnd = "1MiB"\nnagle = false') == read(
        'rwnd = "1MiB"\nnagle = false'
    )
    assert read("host = { tso = false }").groups[0] == Group("reno", tso=False)
    for text, line, message in [
        (
            "tso = true\n[group.host]\ntso = false",
            3,
            "`tso` is set in the group and in its `[group.host]`",
        ),
        ('[group.host]\nwindow = "1MiB"', 4, "unknown key `window`; did you mean `rwnd`?"),
        ('[group.host]\nrwnd = "1"', 4, "rwnd `1` has no unit"),
        (
            "[group.host]\nflows = 2",
            4,
            "`flows` is not a field of hosts; set it in the `[[group]]`",
        ),
        ("host = 1", 3, "write the fields of the group's hosts as `[group.host]`"),
    ]:
        with pytest.raises(ScenarioError) as error:
            read(text)
        assert str(error.value).startswith(f"{path}:{line}: {message}")


def test_no_word_means_two_fields():
    for owner in OWNERS:
        declared = fields_of(owner)
        words = [word for field in declared.values() for word in field.synonyms]
        assert len(words) == len(set(words))
        assert not set(words) & set(declared)


def test_synonyms_lead_to_the_field():
    assert suggest("bandwidth", [Scenario, Group]) == "; did you mean `rate`?"
    assert suggest("--Link-Rate", [Scenario]) == "; did you mean `rate`?"
    assert suggest("cca", [Group]) == "; did you mean `cc`?"
    assert suggest("bufer", [Scenario]) == "; did you mean `buffer`?"


def test_what_must_be_given_is_named():
    with pytest.raises(TypeError, match="Group\\(\\) needs `cc`"):
        Group()
    with pytest.raises(TypeError, match="Scenario\\(\\) needs `groups`"):
        Scenario()


def test_settings_and_options_are_checked_together():
    line = str(Path(__file__).parents[2] / "scenarios/asymmetric-access.toml")
    scenario = base_scenario([line], {"time": "5s"}, ["1.start=2s", "link.up.rate=2mbit"])
    assert [str(group.start) for group in scenario.groups] == ["0s", "2s"]
    assert str(scenario.link("up").rate) == "2mbit"
    assert str(scenario.time) == "5s"
    with pytest.raises(ScenarioError, match="`10s` is not before the end at `5s`; use an earlier"):
        base_scenario([line], {"time": "5s"})


def test_settings_put_parameters_into_the_congestion_control_that_they_set():
    settings = ["0.beta=800", "1.cc=cubic:beta=700", "rate=10mbit"]
    scenario = base_scenario(["cubic", "cubic"], {"rate": "20mbit"}, settings)
    assert [str(group.cc) for group in scenario.groups] == ["cubic:beta=800", "cubic:beta=700"]
    assert str(scenario.rate) == "10mbit"


def test_one_link_is_not_a_list():
    with pytest.raises(ScenarioError, match="`links` must be a list, not one link"):
        Scenario(["reno"], links=Link("a", rate="1mbit"))  # type: ignore[arg-type]
