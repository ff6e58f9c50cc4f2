"""The path of a capture, and what another algorithm would have got on it."""

from dumbbell.fit.figures import draw_prediction
from dumbbell.fit.fit import fit
from dumbbell.fit.fitted_path import FittedPath
from dumbbell.fit.interval import Interval
from dumbbell.fit.prediction import Outcome, Prediction, what_if

__all__ = ["FittedPath", "Interval", "Outcome", "Prediction", "draw_prediction", "fit", "what_if"]
