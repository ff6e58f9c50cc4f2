"""Student's t distribution, compared with scipy's."""

import pytest
from scipy.special import stdtr, stdtrit

from dumbbell.statistics.student_t import student_cdf, student_quantile

FREEDOMS = [1, 1.5, 2, 3, 4.7, 9, 29.3, 100, 779, 1e4]


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("t", [-300.0, -12.5, -3.0, -1.0, -1e-3, 0.0, 0.5, 2.0, 40.0])
def test_the_cdf_is_scipys(t, freedom):
    assert student_cdf(t, freedom) == pytest.approx(stdtr(freedom, t), rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("p", [0.55, 0.9, 0.95, 0.975, 0.995, 0.9999])
def test_the_quantile_is_scipys(p, freedom):
    assert student_quantile(freedom, p) == pytest.approx(stdtrit(freedom, p), rel=1e-10)
