"""Figures of a prediction: what was captured, and what other algorithms would have done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.figures import Curve, Figure, group_colors
from dumbbell.figures.figure import FloatArray
from dumbbell.fit.connection_series import ConnectionSeries
from dumbbell.fit.fitted_path import FittedPath
from dumbbell.fit.prediction import Prediction

__all__ = ["CAPTION", "draw_prediction"]

#: Bins of a figure's time axis, at most, and RTTs that one has at least.
BINS, BIN_RTTS, LEAST_BINS = 120, 4, 4
CAPTURED = "#404040"
CAPTION = "Bands: 90 % of the paths that explain the capture."


def draw_prediction(fitted: FittedPath, predictions: Sequence[Prediction]) -> list[Figure]:
    """Draw goodput and RTT over time: the capture's, and each algorithm's as a band."""
    seen = fitted.seen.series
    longest_s = fitted.seen.base_rtt_s + fitted.seen.queue_max_s
    # Simulated flows start a little later: a last bin that most do not fill would seem to fall.
    ends = [ran.evidence.series.duration_s for each in predictions for ran in each.runs]
    end_s = min(seen.duration_s, float(np.median(ends)))
    bin_s = min(max(end_s / BINS, BIN_RTTS * longest_s), end_s / LEAST_BINS)
    edges = np.arange(0.0, end_s + bin_s * 1e-6, bin_s)
    colors = group_colors([each.cc for each in predictions])
    found = []
    for name, title, label, measure in (
        ("goodput", "Goodput", "arrived (Mbit/s)", goodput_mbps),
        ("rtt", "RTT", "RTT (ms)", rtt_ms),
    ):
        curves = []
        for each, color in zip(predictions, colors, strict=True):
            runs = np.array([measure(ran.evidence.series, edges) for ran in each.runs])
            low, middle, high = quantiles(runs)
            name_of = f"{each.cc}, predicted"
            curves.append(
                Curve(name_of, edges, held(middle), color, low=held(low), high=held(high),
                      shape="steps", band=True)
            )  # fmt: skip
        captured = held(measure(seen, edges))
        name_of = f"{fitted.cc}, captured"
        curves.append(Curve(name_of, edges, captured, CAPTURED, dashed=1, shape="steps"))
        found.append(
            Figure(
                name=name,
                title=title,
                x_label="time (s)",
                y_label=label,
                curves=tuple(curves),
                caption=CAPTION,
            )
        )
    return found


def held(values: FloatArray) -> FloatArray:
    """Return a value for each edge of the bins: the last is held until the end."""
    return np.append(values, values[-1:])


def goodput_mbps(series: ConnectionSeries, edges: FloatArray) -> FloatArray:
    """Return what arrived in each bin, as a rate.

    What SACK acknowledges counts when it does: cumulative ACKs stand still while a loss is
    repaired, and then jump by more than the link carries.
    """
    at = np.interp(edges, series.time_s, series.arrived_bytes)
    return np.diff(at) * 8e-6 / np.diff(edges)


def rtt_ms(series: ConnectionSeries, edges: FloatArray) -> FloatArray:
    """Return the mean RTT in each bin; NaN where there is no sample."""
    bins = np.digitize(series.rtt_time_s, edges) - 1
    count = edges.size - 1
    inside = (bins >= 0) & (bins < count)
    sums = np.bincount(bins[inside], weights=series.rtt_s[inside], minlength=count)
    counts = np.bincount(bins[inside], minlength=count).astype(np.float64)
    means = np.full(count, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return 1e3 * means


def quantiles(runs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the 5 %, 50 % and 95 % quantile of each bin over the runs, NaN left out."""
    columns = [column[~np.isnan(column)] for column in runs.T]
    rows = [
        np.percentile(column, [5, 50, 95]) if column.size else np.full(3, np.nan)
        for column in columns
    ]
    low, middle, high = np.array(rows).T
    return low, middle, high
