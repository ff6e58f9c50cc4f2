"""`tools/wording.py` finds the wording that `make lint` refuses."""

import runpy
from collections import Counter
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "wording.py"))


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("page.md", "Two congestion\ncontrols, and a congestion control.", {"count noun": 2}),
        ("page.md", "A congestion control algorithm, a congestion-control laboratory.", {}),
        ("page.md", "So many words, told by nobody.", {"so many": 1, "tells": 1, "nobody": 1}),
        (
            "page.md",
            "One run is no evidence for sure; it is mended.",
            {"no evidence": 2, "mended": 1},
        ),
        ("code.rs", "//! As `dumbbell queues` lists.", {"old command": 1, "opening": 1}),
        ("code.rs", "/// Which.\nfn a() {}\n", {"opening": 1, "two words": 1}),
        ("code.rs", "/// Which link\n/// it is, whatever comes.\n", {"opening": 1, "whatever": 1}),
        ("code.rs", "//! The link's rate, bit/s.\n\nlet a = 1; // As here.\n", {}),
        ("code.py", 'def a():\n    """The mean."""\n', {"two words": 1}),
        ("code.py", '"""The mean, in µs."""\n\nA = """As text."""\n', {}),
    ],
)
def test_what_is_found(path, text, found):
    assert Counter(name for name, _, _ in TOOL["problems"](path, text)) == found


def test_a_place_is_a_line():
    ((_, line, words),) = TOOL["problems"]("page.md", "One.\n\nIt is done anew.")
    assert (line, words) == (3, "anew")
