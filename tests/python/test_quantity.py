from fractions import Fraction

import pytest

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.quantity import Buffer, Rate, Size, Time, expand, expand_counts


@pytest.mark.parametrize(
    ("kind", "text", "value", "printed"),
    [
        (Rate, "50mbit", 50_000_000, "50mbit"),
        (Rate, "50Mbit/s", 50_000_000, "50mbit"),
        (Rate, "50M", 50_000_000, "50mbit"),
        (Rate, "50Mbps", 50_000_000, "50mbit"),
        (Rate, "800kbps", 800_000, "800kbit"),
        (Rate, "0.5gbit", 500_000_000, "500mbit"),
        (Rate, "1500kbit", 1_500_000, "1.5mbit"),
        (Rate, "1234567bit", 1_234_567, "1234567bit"),
        (Time, "40ms", 40_000_000, "40ms"),
        (Time, "120s", 120_000_000_000, "120s"),
        (Time, "2min", 120_000_000_000, "120s"),
        (Time, "500us", 500_000, "500us"),
        (Time, "500µs", 500_000, "500us"),
        (Time, " 1.5 s ", 1_500_000_000, "1.5s"),
        (Time, "0s", 0, "0s"),
        (Size, "500kB", 500_000, "500kB"),
        (Size, "10MB", 10_000_000, "10MB"),
        (Size, "8MiB", 8_388_608, "8MiB"),
        (Size, "1448B", 1448, "1448B"),
    ],
)
def test_reads_and_prints(kind, text, value, printed):
    quantity = kind.parse(text, "value")
    assert quantity == value
    assert str(quantity) == printed
    assert kind.parse(printed, "value") == quantity


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        (Rate, "50", "rate `50` has no unit; use e.g. `50mbit`, `800kbit` or `1gbit`"),
        (Rate, "50ms", "wrong unit `ms`"),
        (Rate, "fast", "is not a number with a unit"),
        (Rate, "-1mbit", "is negative"),
        (Rate, "0mbit", "is zero"),
        (Rate, "1e99gbit", "is too large"),
        (
            Rate,
            "1e999999999gbit",
            "use an exponent from -99 to 99",
        ),  # and no attempt to count that far
        (Rate, "50Mb", "unit `Mb`"),
        (Rate, "nanmbit", "is not a number"),
    ],
)
def test_refuses(kind, text, says):
    with pytest.raises(ScenarioError) as caught:
        kind.parse(text, "rate", minimum=1)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "amount", "unit", "limit_bytes"),
    [
        ("2bdp", Fraction(2), "bdp", 500_000),
        ("0.5BDP", Fraction(1, 2), "bdp", 125_000),
        ("500kB", Fraction(500_000), "B", 500_000),
        ("0.1bdp", Fraction(1, 10), "bdp", 25_000),
    ],
)
def test_buffer_limit(text, amount, unit, limit_bytes):
    buffer = Buffer.parse(text)
    assert buffer == Buffer(amount, unit)
    # 1 BDP of 50 Mbit/s × 40 ms is 250,000 B.
    assert buffer.limit_bytes(50_000_000, 40_000_000) == limit_bytes
    assert Buffer.parse(str(buffer)) == buffer


def test_buffer_in_packets():
    assert str(Buffer.parse("64pkt")) == "64pkt"
    with pytest.raises(ScenarioError, match="not a whole number of packets"):
        Buffer.parse("1.5pkt")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2bdp", ["2bdp"]),
        ("1bdp,4bdp", ["1bdp", "4bdp"]),
        ("0.5..64bdp", ["0.5bdp", "1bdp", "2bdp", "4bdp", "8bdp", "16bdp", "32bdp", "64bdp"]),
        ("1bdp..5bdp", ["1bdp", "2bdp", "4bdp", "5bdp"]),
        ("10..50ms/5", ["10ms", "20ms", "30ms", "40ms", "50ms"]),
        ("1,4bdp", ["1bdp", "4bdp"]),
        ("1..2,8bdp,64pkt", ["1bdp", "2bdp", "8bdp", "64pkt"]),
        ("64pkt,1..2bdp", ["64pkt", "1bdp", "2bdp"]),
    ],
)
def test_expands(text, values):
    assert expand(text, "buffer", Buffer.examples) == values


@pytest.mark.parametrize("text", ["1..4", "4..1bdp", "0..4bdp", "1ms..4bdp", "1..4bdp/1", "..4bdp"])
def test_refuses_range(text):
    with pytest.raises(ScenarioError):
        expand(text, "buffer", Buffer.examples)


def test_expands_counts():
    assert expand_counts("1,4", "flows") == [1, 4]
    assert expand_counts("16..128", "flows") == [16, 32, 64, 128]
    for text in ("0", "-1", "a", "1.5", "4..1x", ""):
        with pytest.raises(ScenarioError):
            expand_counts(text, "flows")
