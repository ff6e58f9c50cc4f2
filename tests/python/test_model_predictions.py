"""What the models say of scenarios, and what they leave alone."""

import math
from dataclasses import replace
from typing import Any

import pytest

import dumbbell
from dumbbell.models import MODELS, Bottleneck, DoesNotApply, models_of
from dumbbell.scenario.fields import RUN, fields_of
from dumbbell.scenario.group import OF_PROGRAMS

SCENARIOS: dict[str, list[dumbbell.Group | str]] = {
    "ware": [dumbbell.Group("bbr", 2), dumbbell.Group("linux/cubic", 3)],
    "cubic-interval": [dumbbell.Group("cubic", 2), dumbbell.Group("cubic:hystart=0")],
    "mathis": ["reno"],
    "bbr-many": [dumbbell.Group("bbr", 8)],
    "copa": [dumbbell.Group("copa", 4), dumbbell.Group("copa:default_inv_delta=4")],
}


class TestPredictions:
    @pytest.mark.parametrize("name", SCENARIOS)
    def test_they_have_a_run_s_metrics(self, name, short_run):
        scenario = dumbbell.Scenario(SCENARIOS[name], buffer="8bdp")
        prediction = MODELS[name].predict(scenario)
        assert len(prediction.groups) == len(scenario.groups)
        for group, asked in zip(prediction.groups, scenario.groups, strict=True):
            assert set(group) <= set(short_run.groups[0])
            rate = group["goodput_bps"] / asked.flows
            assert group["goodput_per_flow_bps"] == pytest.approx(rate)
            assert group["goodput_bps"] < group["throughput_bps"] <= scenario.rate * (1 + 1e-9)
        assert set(prediction.bottleneck) <= set(short_run.summary["bottleneck"])
        assert sum(group["share"] for group in prediction.groups) == pytest.approx(1)
        headline = MODELS[name].headline
        assert headline is not None
        assert math.isfinite(prediction.metric(headline.key, headline.group))
        assert [model.name for model, _ in models_of(scenario)] == [name]

    def test_copa_shares_by_what_each_wants_in_the_queue(self):
        scenario = dumbbell.Scenario(SCENARIOS["copa"], buffer="8bdp")
        shares = [group["share"] for group in MODELS["copa"].predict(scenario).groups]
        assert shares == pytest.approx([8 / 12, 4 / 12])

    def test_what_is_not_predicted_is_an_error_with_what_is(self):
        prediction = MODELS["ware"].predict(dumbbell.Scenario(["bbr", "cubic"]))
        with pytest.raises(dumbbell.ResultError, match="predicts no `rtt_mean_us` of group 0; it"):
            prediction.metric("rtt_mean_us", 0)

    @pytest.mark.parametrize(
        ("groups", "settings"),
        [
            (["copa", "cubic"], {}),  # ogino2021's pairs have no model
            (["copa", "bbr"], {}),
            (["bbr", "cubic", "reno"], {}),
            ([dumbbell.Group("bbr", rtt="20ms"), "cubic"], {}),
            ([dumbbell.Group("bbr", mss="536B"), "cubic"], {}),
            ([dumbbell.Group("bbr", stop="30s"), "cubic"], {}),
            ([dumbbell.Group("bbr", rwnd="64KiB"), "cubic"], {}),
            ([dumbbell.Group("copa", 64)], {"buffer": "1bdp"}),
            (["bbr", "cubic"], {"rate_steps": "10s:5mbit"}),
            (["bbr", "cubic"], {"rtt_steps": "10s:80ms"}),
        ],
    )
    def test_no_model_predicts_what_it_does_not_cover(self, groups, settings):
        scenario = dumbbell.Scenario(groups, **{"buffer": "4bdp", **settings})
        assert models_of(scenario) == []

    def test_why_a_model_does_not_apply(self):
        with pytest.raises(DoesNotApply, match="both BBR and loss-based"):
            MODELS["ware"].predict(dumbbell.Scenario(["bbr"]))
        with pytest.raises(DoesNotApply, match="from a measured loss rate, not from a scenario"):
            MODELS["pftk"].predict(dumbbell.Scenario(["reno"]))
        with pytest.raises(DoesNotApply, match="does not cover `rate_steps`"):
            MODELS["ware"].predict(dumbbell.Scenario(["bbr", "cubic"], rate_steps="10s:5mbit"))

    @pytest.mark.parametrize("name", [n for n, model in MODELS.items() if model.of_scenario])
    @pytest.mark.parametrize("owner", [dumbbell.Scenario, dumbbell.Group])
    def test_a_model_refuses_every_field_that_it_does_not_declare(self, name, owner):
        """The table of fields says which there are: a new one is refused until it is declared."""
        model = MODELS[name]
        groups = SCENARIOS.get(name, ["bbr_fca", "cubic"])
        plain = dumbbell.Scenario(groups, buffer="1bdp" if name != "copa" else "64bdp")
        of_group = owner is dumbbell.Group
        refused = []
        for field in fields_of(owner).values():
            if field.panel == RUN or f"{'group.' if of_group else ''}{field.name}" in model.covers:
                continue
            if of_group and field.name in OF_PROGRAMS:
                continue  # only next to a `client`, which is refused
            first, *others = plain.groups
            changed: dict[str, Any] = {field.name: field.example}
            if of_group:
                group = (
                    dumbbell.Group(**changed)
                    if field.name == "client"
                    else replace(first, **changed)
                )
                changed = {"groups": [group, *others]}
            with pytest.raises(DoesNotApply, match=f"does not cover `{field.name}`"):
                model.predict(plain.replace(**changed))
            refused.append(field.name)
        assert model.predict(plain.replace(seed=9, name="x", time="300s")) == model.predict(plain)
        expected = {"stop", "size", "ecn"} if of_group else {"loss", "ecn_threshold", "rtt_steps"}
        assert expected <= set(refused)

    def test_a_model_covers_only_fields_that_exist(self):
        known = {*fields_of(dumbbell.Scenario), *(f"group.{x}" for x in fields_of(dumbbell.Group))}
        assert {name for model in MODELS.values() for name in model.covers} <= known

    def test_a_buffer_in_packets_or_bytes_is_the_same(self):
        by_bdp = Bottleneck.of("50mbit", "40ms", "2bdp")
        assert Bottleneck.of("50mbit", "40ms", "500kB") == by_bdp
        assert Bottleneck.of("50mbit", "40ms", "100pkt").buffer_pkts == 100
        assert by_bdp.buffer_bdp == pytest.approx(2)
