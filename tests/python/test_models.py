"""The models: numbers from their sources, limits, and what must hold everywhere."""

import itertools
import math

import pytest

from dumbbell.models import (
    Bottleneck,
    bbr_fca,
    bbr_many_flows,
    copa_equilibrium,
    cubic_epochs,
    cubic_interval,
    cubic_response,
    mathis1997,
    padhye1998,
    ware2019,
)

#: c = 1000 packets/s, l = 40 ms, q = 320 packets: BDP 40, X = 8.
ROUND = Bottleneck(1000.0, 0.04, 320.0, 1514, 1448)
#: 100 Mbit/s of 1500-byte packets, 40 ms, 10 BDP.
MANY = Bottleneck(100e6 / 12_000, 0.04, 10 * 0.04 * 100e6 / 12_000, 1500, 1448)

GRID = list(itertools.product((1, 2, 4, 8, 16, 32), (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)))


def deep(
    buffer_bdp: float, link_pkts_per_s: float = 1000.0, base_rtt_s: float = 0.04
) -> Bottleneck:
    bdp = link_pkts_per_s * base_rtt_s
    return Bottleneck(link_pkts_per_s, base_rtt_s, buffer_bdp * bdp, 1514, 1448)


class TestWare:
    def test_by_hand(self):
        # p = 1/2 - 1/16 - 4/320; RTT_est = (0.425·320 + 4)/1000 + 0.04; Probe_time/d = 0.56/10.
        solution = ware2019.solve(ROUND, 1)
        assert solution.loss_based_share == pytest.approx(0.425)
        assert solution.rtt_est_ms == pytest.approx(180)
        assert solution.inflight_cap_pkts == pytest.approx(207)
        assert solution.probe_time_share == pytest.approx(0.056)
        assert solution.bbr_share == pytest.approx(0.575 * 0.944)

    def test_what_the_reference_computed(self):
        assert ware2019.solve(Bottleneck.of("10mbit", "40ms", "4bdp"), 1).bbr_share == (
            pytest.approx(0.63, abs=0.005)
        )

    @pytest.mark.parametrize(("flows", "buffer_bdp"), GRID)
    def test_bbr_fills_its_cap(self, flows, buffer_bdp):
        bottleneck = deep(buffer_bdp)
        solution = ware2019.solve(bottleneck, flows)
        inflight = (1 - solution.loss_based_share) * bottleneck.capacity_pkts
        if solution.loss_based_share > 0:
            assert solution.inflight_cap_pkts == pytest.approx(inflight)
        else:  # the cap is more than all there is
            assert solution.inflight_cap_pkts >= bottleneck.capacity_pkts * (1 - 1e-12)

    @pytest.mark.parametrize(("flows", "buffer_bdp"), GRID)
    def test_with_bursts_too(self, flows, buffer_bdp):
        bottleneck = deep(buffer_bdp)
        solution = ware2019.solve(bottleneck, flows, burst_pkts=3)
        assert solution.loss_based_share <= ware2019.solve(bottleneck, flows).loss_based_share
        if solution.loss_based_share > 0:
            inflight = (1 - solution.loss_based_share) * bottleneck.capacity_pkts
            assert solution.inflight_cap_pkts == pytest.approx(inflight)

    def test_limits(self):
        # Equation 5: half of a deep queue; 1 BDP or many flows: nothing is left to the others.
        assert ware2019.solve(deep(1e6), 1).loss_based_share == pytest.approx(0.5, abs=1e-4)
        assert ware2019.solve(deep(1), 1).loss_based_share == 0
        assert ware2019.solve(ROUND, 1000).loss_based_share == 0

    def test_bbr_gets_less_of_deeper_buffers_and_more_with_more_flows(self):
        shares = [ware2019.solve(deep(x), 2).bbr_share for x in (1, 2, 4, 8, 16, 32, 64)]
        assert shares == sorted(shares, reverse=True)
        shares = [ware2019.solve(deep(16), n).bbr_share for n in (1, 2, 4, 8, 16)]
        assert shares == sorted(shares)

    def test_probe_rtt_takes_at_most_all_the_time(self):
        assert ware2019.solve(deep(10_000), 1).bbr_share == 0


class TestCubicResponse:
    # RFC 9438, tables 1 and 2: loss rate, Reno, CUBIC with C = 0.04, 0.4, 4.
    TABLES = {
        0.1: """
            2 12    12     12     12
            3 38    38     38     59
            4 120   120    187    333
            5 379   593    1054   1874
            6 1200  3332   5926   10538
            7 3795  18740  33325  59261
            8 12000 105383 187400 333250""",
        0.01: """
            2 12    12    12    12
            3 38    38    38    38
            4 120   120   120   120
            5 379   379   379   379
            6 1200  1200  1200  1874
            7 3795  3795  5926  10538
            8 12000 18740 33325 59261""",
    }

    @pytest.mark.parametrize("rtt_s", TABLES)
    def test_the_rfc_s_tables(self, rtt_s):
        rows = [[int(word) for word in line.split()] for line in self.TABLES[rtt_s].split("\n")[1:]]
        assert len(rows) == 7
        for decade, reno, *cubic in rows:
            loss = 10.0**-decade
            assert round(cubic_response.reno_avg_w_pkts(loss)) == reno
            found = [cubic_response.response_avg_w_pkts(loss, rtt_s, c) for c in (0.04, 0.4, 4)]
            assert [round(window) for window in found] == cubic

    @pytest.mark.parametrize(
        ("window", "loss"),
        # RFC 9438, table 3, 1 Mbit/s to 10 Gbit/s.
        [(8.3, 2.0e-2), (83.3, 2.9e-4), (833.3, 1.4e-5), (8333.3, 6.3e-7), (83333.3, 2.9e-8)],
    )
    def test_the_loss_rate_that_a_window_needs(self, window, loss):
        found = cubic_response.loss_for_window(window, 0.1)
        # The first is the Reno-friendly region's; the table prints two digits.
        assert found == pytest.approx(loss, rel=0.05)

    @pytest.mark.parametrize("loss", [1e-7, 3e-6, 1e-5, 1e-3, 1e-2])
    def test_backwards_is_backwards(self, loss):
        window = cubic_response.response_avg_w_pkts(loss, 0.08)
        assert cubic_response.loss_for_window(window, 0.08) == pytest.approx(loss)


class TestCubicInterval:
    @pytest.mark.parametrize(
        ("interval_s", "w_max", "w_avg"),
        [(2, 10.7, 9.9), (4, 85, 79), (6, 288, 266), (8, 683, 632), (10, 1333, 1233),
         (15, 4500, 4163), (20, 10667, 9867)],
    )  # fmt: skip
    def test_windows(self, interval_s, w_max, w_avg):
        # An RTT so long that the Reno-friendly region is never it.
        assert cubic_interval.w_max_pkts(interval_s, 10) == pytest.approx(w_max, rel=0.005)
        assert cubic_interval.w_avg_pkts(interval_s, 10) == pytest.approx(w_avg, rel=0.006)

    @pytest.mark.parametrize(
        ("rtt_ms", "crossover_s"), [(20, 8.1), (40, 5.8), (80, 4.1), (100, 3.6), (200, 2.6)]
    )
    def test_where_the_regions_meet(self, rtt_ms, crossover_s):
        found = cubic_interval.crossover_s(rtt_ms / 1e3)
        assert found == pytest.approx(crossover_s, abs=0.06)
        friendly = cubic_interval.ALPHA * found / (0.3 * rtt_ms / 1e3)
        assert friendly == pytest.approx(0.4 * found**3 / 0.3)

    def test_reno_friendly(self):
        assert cubic_interval.w_max_pkts(1, 0.04) == pytest.approx(1.765 / 0.04, rel=1e-3)
        assert cubic_interval.w_avg_pkts(1, 0.04) == pytest.approx(1.5 / 0.04, rel=1e-3)
        assert cubic_interval.rate_pkts_per_s(1, 0.04) == pytest.approx(1.5 / 0.04**2, rel=1e-3)

    @pytest.mark.parametrize("interval_s", [3.0, 5.0, 12.0])
    def test_the_steady_state_is_one(self, interval_s):
        w_max = cubic_interval.w_max_pkts(interval_s, 10)
        assert cubic_interval.next_w_max(interval_s, w_max) == pytest.approx(w_max)
        mean = cubic_interval.w_avg_unsteady_pkts(interval_s, w_max)
        assert mean == pytest.approx(cubic_interval.w_avg_pkts(interval_s, 10))

    def test_an_imposed_interval_takes_ages(self):
        w_max = 100.0
        for _ in range(40):
            w_max = cubic_interval.next_w_max(6, w_max)
        assert w_max == pytest.approx(148, abs=1)

    def test_fast_convergence_yields(self):
        # K = 9.086 s: after 5 s the window is 1000 - 0.4·4.086³ = 972.7, of which 0.85 are taken.
        assert cubic_interval.next_w_max(5, 1000) == pytest.approx(0.85 * 972.7, rel=1e-3)

    @pytest.mark.parametrize("interval_s", [4.0, 8.0, 16.0])
    def test_it_is_the_response_function_in_other_words(self, interval_s):
        # One loss in an epoch's packets.
        rtt_s = 0.1
        rate = cubic_interval.rate_pkts_per_s(interval_s, rtt_s)
        window = cubic_response.response_avg_w_pkts(1 / (rate * interval_s), rtt_s)
        assert window == pytest.approx(cubic_interval.w_avg_pkts(interval_s, rtt_s))

    def test_a_deep_buffer_s_tooth(self):
        bottleneck = deep(64)
        tooth = cubic_interval.at_bottleneck(bottleneck, 1)
        assert tooth.peak_pkts == pytest.approx(65 * 40)
        assert tooth.loss_interval_s == pytest.approx(math.cbrt(0.3 * 2600 / 0.4), rel=1e-4)
        assert tooth.window_mean_pkts == pytest.approx(0.925 * 2600, rel=1e-4)
        assert tooth.utilization == 1
        assert tooth.rtt_mean_ms == pytest.approx(0.925 * 2600, rel=1e-4)

    def test_a_tiny_buffer(self):
        # Long and fat: cubic all the way, and the link idles as the window is short of it.
        tooth = cubic_interval.at_bottleneck(deep(1e-6, 1e6, 0.1), 1)
        assert tooth.utilization == pytest.approx(0.925, rel=1e-3)

    @pytest.mark.parametrize(("flows", "buffer_bdp"), GRID)
    def test_queue_and_utilization_are_possible(self, flows, buffer_bdp):
        tooth = cubic_interval.at_bottleneck(deep(buffer_bdp), flows)
        assert 0.7 <= tooth.utilization <= 1
        assert 0 <= tooth.queue_delay_mean_ms <= 1e3 * 0.04 * buffer_bdp


class TestCubicEpochs:
    #: A lone flow, 50 Mbit/s (4128 packets/s), 40 ms, 1 to 8 BDP: W_max, seconds between losses in
    #: the simulator.
    LONE = ((330, 7.27), (495, 8.32), (825, 10.03), (1486, 12.33))

    @pytest.mark.parametrize(("w_max", "seen_s"), LONE)
    def test_a_lone_flow_loses_later_than_k(self, w_max, seen_s):
        rtt_s = 0.86 * w_max / 4128
        found = cubic_epochs.steady_interval_s(w_max, rtt_s, 0.04)
        assert found == pytest.approx(seen_s, rel=0.03)
        assert cubic_interval.k_s(w_max) < 0.9 * seen_s

    @pytest.mark.parametrize("w_max", [300, 1000, 3000])
    @pytest.mark.parametrize("rtt_s", [0.05, 0.3])
    def test_mean_and_interval_are_inverse(self, w_max, rtt_s):
        interval_s = cubic_epochs.steady_interval_s(w_max, rtt_s, 0.05)
        mean = cubic_epochs.steady_mean_pkts(interval_s, rtt_s, 0.05)
        assert 0.83 * w_max < mean < 0.88 * w_max

    def test_by_hand(self):
        # W_max 1000: K 9.086 s, h = ∛(1.89·K²·0.1) = 2.499 s.
        found = cubic_epochs.steady_interval_s(1000, 0.1, 0.05)
        assert found == pytest.approx(1.2937 * 9.086 - 2.499 / 2 + 0.2 + 0.05, rel=1e-3)

    @pytest.mark.parametrize("start", [0.5, 1.0, 2.0])
    @pytest.mark.parametrize("w_max", [w_max for w_max, _ in LONE])
    def test_both_kinds_of_epochs_return_to_the_steady_peak(self, w_max, start):
        # The mean of T_A and T_B is the steady T; T_A is longer by 0.5874·K + h.
        rtt_s = 0.86 * w_max / 4128
        k = cubic_interval.k_s(w_max)
        half = (0.5874 * k + cubic_epochs.early_s(k, rtt_s)) / 2
        steady_s = cubic_epochs.steady_interval_s(w_max, rtt_s, 0.04)
        pair = [steady_s + half, steady_s - half]
        peak = aim = start * w_max
        for duration_s in pair * 40:
            found = cubic_epochs.epoch(peak, aim, duration_s, rtt_s, 0.04)
            peak, aim = found.peak_pkts, found.w_max
        assert peak == pytest.approx(w_max, rel=0.02)
        trajectory = cubic_epochs.trajectory_mean_pkts(pair * 10, rtt_s, 0.04)
        steady = cubic_epochs.steady_mean_pkts(steady_s, rtt_s, 0.04)
        assert trajectory == pytest.approx(steady, rel=0.03)

    def test_an_epoch_by_hand(self):
        # From 1000 packets at RTT 0.1 s: 700 after 0.1 s, K = 9.086 s, 50 ms behind the curve.
        found = cubic_epochs.epoch(1000, 900, 9.236, 0.1, 0.05)
        assert found.peak_pkts == pytest.approx(1000, abs=0.01)
        assert found.w_max == 1000
        assert found.area == pytest.approx(0.1 * 850 + 9.136 * 925, rel=2e-3)

    def test_fast_convergence(self):
        found = cubic_epochs.epoch(1000, 1001, 0.1, 0.1, 0.05)
        assert (found.w_max, found.peak_pkts) == (850, 700)

    def test_the_reno_friendly_region(self):
        # 20 packets, 40 ms: 14 after 40 ms, then 0.529 packets per 40 ms.
        found = cubic_epochs.epoch(20, 20, 0.44, 0.04, 0.04)
        assert found.peak_pkts == pytest.approx(14 + 5.29, abs=0.01)
        assert cubic_epochs.steady_mean_pkts(0.44, 0.04, 0.04) == pytest.approx(15)

    def test_a_loss_at_the_end_of_recovery(self):
        found = cubic_epochs.epoch(20, 20, 0.02, 0.04, 0.04)
        assert found.peak_pkts == 14
        assert found.area == pytest.approx(0.02 * 17)

    def test_unequal_intervals_have_a_larger_window_than_equal_ones(self):
        # The window is a cube of each.
        equal = cubic_epochs.trajectory_mean_pkts([6.0] * 8, 0.1, 0.1)
        unequal = cubic_epochs.trajectory_mean_pkts([2.0, 10.0] * 4, 0.1, 0.1)
        assert unequal > 1.2 * equal


class TestReno:
    @pytest.mark.parametrize(("loss", "window"), [(1e-3, 38.7), (1e-4, 122.5), (1e-5, 387.3)])
    def test_mathis(self, loss, window):
        assert mathis1997.avg_w_pkts(loss) == pytest.approx(window, abs=0.05)

    def test_mathis_constants(self):
        assert mathis1997.avg_w_pkts(1) == pytest.approx(1.22, abs=0.005)
        assert mathis1997.avg_w_pkts(1, 2) == pytest.approx(0.87, abs=0.005)
        assert mathis1997.loss_for_peak(mathis1997.peak_w_pkts(1e-4, 2), 2) == pytest.approx(1e-4)

    def test_the_sawtooth_with_and_without_a_queue(self):
        # 3/4 when the RTT stands still; ∫w²/∫w = 7/9 when it grows with the window.
        flat = mathis1997.at_bottleneck(deep(1e-6), 1)
        assert flat.window_mean_pkts == pytest.approx(0.75 * 40, rel=1e-4)
        assert flat.utilization == pytest.approx(0.75, rel=1e-4)
        assert flat.loss_interval_s == pytest.approx(20 * 0.04, rel=1e-4)
        standing = mathis1997.at_bottleneck(deep(64), 1)
        assert standing.window_mean_pkts == pytest.approx(7 / 9 * 2600, rel=1e-4)

    def test_a_bdp_of_buffer_is_enough_for_one(self):
        assert mathis1997.at_bottleneck(deep(1), 1).utilization == pytest.approx(1)
        assert mathis1997.at_bottleneck(deep(0.5), 1).utilization < 0.999

    def test_pftk_by_hand(self):
        # p = 0.01, b = 1, RTT 0.1 s, T0 0.4 s. E[W] = 1 + √(264 + 1) = 17.28, Q = 0.2105.
        assert padhye1998.timeout_probability(0.01, 17.279) == pytest.approx(0.2105, abs=1e-4)
        assert padhye1998.rate_pkts_per_s(0.01, 0.1, 0.4) == pytest.approx(110.96, rel=1e-3)
        # 1/(0.1·0.08165 + 0.4·0.18371·0.01·1.0032)
        found = padhye1998.approximate_rate_pkts_per_s(0.01, 0.1, 0.4)
        assert found == pytest.approx(112.33, rel=1e-4)

    def test_pftk_limits(self):
        # Rare losses: Mathis. A small window: timeouts only. A receive window: that over the RTT.
        few = padhye1998.approximate_rate_pkts_per_s(1e-8, 0.1, 0.2)
        assert few == pytest.approx(mathis1997.avg_w_pkts(1e-8) / 0.1, rel=1e-3)
        assert padhye1998.rate_pkts_per_s(1e-8, 0.1, 0.2) == pytest.approx(few, rel=2e-3)
        assert padhye1998.timeout_probability(0.01, 3) == 1
        assert padhye1998.timeout_probability(1e-6, 30) == pytest.approx(0.1, rel=0.01)
        assert padhye1998.approximate_rate_pkts_per_s(1e-8, 0.1, 0.2, w_max_pkts=50) == 500
        limited = padhye1998.rate_pkts_per_s(1e-8, 0.1, 0.2, w_max_pkts=50)
        assert limited == pytest.approx(500, rel=0.01)

    @pytest.mark.parametrize("packets_per_ack", [1, 2])
    def test_pftk_falls_with_loss_rtt_and_rto(self, packets_per_ack):
        rates = [
            padhye1998.rate_pkts_per_s(10.0**-decade, 0.04, 0.2, packets_per_ack)
            for decade in range(6, 0, -1)
        ]
        assert rates == sorted(rates, reverse=True)
        base = padhye1998.rate_pkts_per_s(0.02, 0.04, 0.2, packets_per_ack)
        assert padhye1998.rate_pkts_per_s(0.02, 0.08, 0.2, packets_per_ack) < base
        assert padhye1998.rate_pkts_per_s(0.02, 0.04, 0.4, packets_per_ack) < base


class TestBbrManyFlows:
    @pytest.mark.parametrize(
        ("flows", "bias"),
        [(1, 1.0), (2, 1.111), (4, 1.176), (10, 1.220), (32, 1.240), (128, 1.248)],
    )
    def test_bias(self, flows, bias):
        assert bbr_many_flows.max_filter_bias(flows) == pytest.approx(bias, abs=5e-4)

    def test_bias_tends_to_the_gain(self):
        assert bbr_many_flows.max_filter_bias(10**6) == pytest.approx(1.25, abs=1e-6)

    def test_128_flows(self):
        # 4·128/8333 = 61.4 ms; each window ⌈2·65.1·0.0614⌉ + 3 = 11, and 12 when even.
        solution = bbr_many_flows.solve(MANY, 128)
        assert solution.rtt_est_ms == pytest.approx(61.44, abs=0.01)
        assert solution.cwnd_pkts == 12
        assert solution.queue_delay_ms == pytest.approx(
            1e3 * (128 * 12 / MANY.link_pkts_per_s) - 40
        )
        assert 130 <= solution.queue_delay_ms <= 175
        assert not solution.overflows

    def test_one_flow_leaves_no_queue_and_two_one_bdp(self):
        assert bbr_many_flows.solve(MANY, 1).queue_delay_ms == 0
        assert 40 <= bbr_many_flows.solve(MANY, 2).queue_delay_ms <= 60

    def test_a_small_buffer_bounds_the_queue(self):
        shallow = Bottleneck(MANY.link_pkts_per_s, 0.04, 100.0, 1500, 1448)
        solution = bbr_many_flows.solve(shallow, 16)
        assert solution.queue_delay_ms == pytest.approx(12)
        assert solution.overflows

    @pytest.mark.parametrize(
        ("rate_bps", "segs"), [(1.1e6, 1), (1.3e6, 2), (100e6, 8), (10e9, 127)]
    )
    def test_bursts_as_linux_sizes_them(self, rate_bps, segs):
        assert bbr_many_flows.tso_segs(rate_bps, 1448) == segs


class TestCopa:
    GIGABIT = Bottleneck.of("1gbit", "40ms", "64bdp")

    @pytest.mark.parametrize(
        ("flows", "mean_ms", "swing_ms", "lock_in"),
        [(16, 0.39, 0.97, "no"), (32, 0.78, 1.94, "no"), (64, 1.55, 3.88, "unclear"),
         (128, 3.10, 7.75, "likely")],
    )  # fmt: skip
    def test_a_gigabit(self, flows, mean_ms, swing_ms, lock_in):
        solution = copa_equilibrium.solve(self.GIGABIT, flows)
        assert solution.queue_delay_ms == pytest.approx(mean_ms, abs=0.005)
        assert solution.swing_ms == pytest.approx(swing_ms, abs=0.006)
        assert solution.utilization == pytest.approx(2 * flows / (2 * flows + 1))
        assert solution.lock_in == lock_in

    @pytest.mark.parametrize(
        ("rate", "least", "most"), [("1gbit", 66, 66.1), ("100mbit", 6, 7), ("50mbit", 3, 4)]
    )
    def test_critical_flows(self, rate, least, most):
        found = copa_equilibrium.critical_flows(Bottleneck.of(rate, "40ms", "64bdp"))
        assert least <= found <= most

    def test_a_locked_queue_grows_as_the_root_of_time(self):
        late = copa_equilibrium.locked_queue_delay_s(self.GIGABIT, 128, 120)
        assert late == pytest.approx(0.823, abs=0.001)
        assert copa_equilibrium.locked_queue_delay_s(self.GIGABIT, 128, 0) == 0
        quarter = copa_equilibrium.locked_queue_delay_s(self.GIGABIT, 128, 30)
        assert late / quarter == pytest.approx(2, abs=0.15)


class TestBbrFca:
    FLOWS = [(1, 1), (1, 4), (4, 1), (4, 4), (16, 1)]

    @pytest.mark.parametrize(("own", "cubic"), FLOWS)
    @pytest.mark.parametrize("buffer_bdp", [1, 8, 32])
    def test_the_fixed_point_is_cubic_s_mean(self, own, cubic, buffer_bdp):
        bottleneck = deep(buffer_bdp, 4000.0)
        solution = bbr_fca.solve(bottleneck, own, cubic)
        filled = own * solution.window_pkts + cubic * solution.cubic_peak_pkts
        assert filled == pytest.approx(bottleneck.capacity_pkts)
        mean = 0.85 if solution.reno_friendly else 0.925
        assert solution.window_pkts == pytest.approx(mean * solution.cubic_peak_pkts)
        assert solution.share == pytest.approx(own / (own + cubic))

    @pytest.mark.parametrize(("own", "cubic"), FLOWS)
    def test_the_iteration_stays_at_the_fixed_point(self, own, cubic):
        window = bbr_fca.fixed_point_pkts(1000, own, cubic)
        assert bbr_fca.iterate(window, 1000, own, cubic, 0.3) == pytest.approx(window)

    @pytest.mark.parametrize(("own", "cubic"), FLOWS)
    def test_below_the_limit_it_converges_and_above_it_does_not(self, own, cubic):
        fixed = bbr_fca.fixed_point_pkts(1000, own, cubic)
        limit = bbr_fca.theta_limit(own, cubic)

        def deviation_after(theta: float) -> float:
            window = fixed * 1.0001
            for _ in range(200):
                window = bbr_fca.iterate(window, 1000, own, cubic, theta)
            return abs(window / fixed - 1)

        assert deviation_after(0.9 * limit) < 1e-8
        assert deviation_after(1.02 * limit) > 1e-3

    def test_the_limit_of_sixteen_to_one(self):
        assert bbr_fca.theta_limit(16, 1) == pytest.approx(0.127, abs=0.001)
        # Undamped it diverges from 1.08 BBR-FCA flows per CUBIC flow on.
        assert bbr_fca.theta_limit(107, 100) > 1 > bbr_fca.theta_limit(109, 100)

    def test_stability_is_reported(self):
        bottleneck = deep(8, 4000.0)
        assert bbr_fca.solve(bottleneck, 4, 1, 0.4).stable
        assert not bbr_fca.solve(bottleneck, 4, 1, 0.5).stable
