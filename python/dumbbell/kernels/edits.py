"""What is changed in a Linux tree before it is built: all of it, each with its reason.

An edit replaces exactly one place, so a tree in which that place is different is refused instead of
built with half of what it needs. Where older trees differ, the edit has a variant for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dumbbell.base.errors import KernelError

__all__ = ["DRIVER", "FACTS", "FACTS_FILE", "Edit", "Variant", "apply", "edits", "parts", "text_of"]

#: The driver, and where it is put.
DRIVER = Path(__file__).parent / "driver"
DRIVERS = "arch/um/drivers"

#: What a tree's release does not say, because changes of others have it too: a macro, which is
#: defined for the driver if a file of the tree has a text. They are in `dumbbell_tree.h`.
FACTS = {
    # 5.18.
    "DUMBBELL_HAS_DELIVERED_CE": ("include/net/tcp.h", "prior_delivered_ce;"),
    # 6.11.
    "DUMBBELL_HAS_ACK_IN_CONG_CONTROL": (
        "include/net/tcp.h",
        "(*cong_control)(struct sock *sk, u32 ack, int flag,",
    ),
    # 6.18.
    "DUMBBELL_HAS_ACCECN": ("include/net/netns/ipv4.h", "sysctl_tcp_ecn_option;"),
    # 7.x.
    "DUMBBELL_HAS_PKT_SEGS": ("include/net/sch_generic.h", "pkt_segs;"),
    # 7.x.
    "DUMBBELL_HAS_CWND_EVENT_TX_START": ("include/net/tcp.h", "(*cwnd_event_tx_start)("),
    # Google's tree with BBRv3, in place of min_tso_segs.
    "DUMBBELL_HAS_TSO_SEGS": ("include/net/tcp.h", "(*tso_segs)(struct sock *sk, unsigned int "),
}
FACTS_FILE = f"{DRIVERS}/dumbbell_tree.h"


@dataclass(frozen=True)
class Variant:
    """One way to make an edit.

    Attributes
    ----------
    file
        Of the tree.
    old, new
        What is replaced, and by what.
    adds
        Files of the driver that are put into the tree with it, by their path in the tree. A tree
        that has one of them already is not one for this variant.
    """

    file: str
    old: str
    new: str
    adds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Edit:
    """A change of a tree.

    Attributes
    ----------
    name
        For errors.
    reason
        Why it is needed.
    variants
        The first that fits is taken.
    only_with
        One of `FACTS`: other trees do not need it.
    """

    name: str
    reason: str
    variants: tuple[Variant, ...]
    only_with: str = ""


def edits(hz: int) -> tuple[Edit, ...]:
    """Return the edits of a kernel with a tick of this rate."""
    files = sorted(path.name for path in DRIVER.glob("dumbbell*.[ch]"))
    objects = [f"{name.removesuffix('.c')}.o" for name in files if name.endswith(".c")]
    clock = "arch/um/kernel/time.c"
    nanoseconds = "TCP's timers and pacing are exact to 1 ns instead of 256"
    return (
        Edit(
            "tick",
            "UML has 100 ticks a second; servers have 250 or 1000, and TCP's timers go by them",
            (Variant("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n",
                     f"config HZ\n\tint\n\tdefault {hz}\n"),),
        ),
        Edit(
            "random numbers",
            "they come from the host; a run's follow from the seed of its scenario",
            (
                Variant(
                    "arch/um/os-Linux/util.c",
                    "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n"
                    "{\n\treturn getrandom(buf, len, flags);\n",
                    "extern long dumbbell_getrandom(void *buf, unsigned long len, "
                    "unsigned int flags);\n\n"
                    "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n"
                    "{\n\treturn dumbbell_getrandom(buf, len, flags);\n",
                ),
                # Before 5.19 UML has no source of random numbers, and collects them.
                Variant(
                    "arch/um/Kconfig",
                    "config UML_TIME_TRAVEL_SUPPORT\n",
                    "config ARCH_RANDOM\n\tdef_bool y\n\nconfig UML_TIME_TRAVEL_SUPPORT\n",
                    {"arch/um/include/asm/archrandom.h": "archrandom.h"},
                ),
            ),
        ),
        Edit(
            "clock's reading",
            nanoseconds,
            (Variant(clock, "return time_travel_time / TIMER_MULTIPLIER;",
                     "return time_travel_time;"),),
        ),
        Edit(
            "clock's reading without time travel",
            nanoseconds,
            (Variant(clock, "return os_nsecs() / TIMER_MULTIPLIER;", "return os_nsecs();"),),
        ),
        Edit(
            "clock's rate",
            nanoseconds,
            (Variant(clock,
                     "clocksource_register_hz(&timer_clocksource, NSEC_PER_SEC/TIMER_MULTIPLIER)",
                     "clocksource_register_hz(&timer_clocksource, NSEC_PER_SEC)"),),
        ),
        Edit(
            "timers' resolution",
            "what is due within 500 ns of the last event would be late",
            (Variant("arch/um/include/linux/time-internal.h", "#define TIMER_MIN_DELTA  500",
                     "#define TIMER_MIN_DELTA  1"),),
        ),
        Edit(
            "clock's cost",
            "a program that asks for the time until something happens waits for that many readings",
            (Variant(clock, "time_travel_update_time_rel(TIMER_MULTIPLIER);",
                     "{\n\t\t\textern unsigned long long "
                     "dumbbell_clock_step(unsigned long long now_ns);\n\n\t\t\t"
                     "time_travel_update_time_rel(dumbbell_clock_step(time_travel_time));\n"
                     "\t\t}"),),
        ),
        Edit(
            "size of a packet",
            "an algorithm that knows only its least size calls what chooses it",
            (
                Variant(
                    "net/ipv4/tcp_output.c",
                    "static u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now,\n",
                    "u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now,\n"
                    "\t\t     int min_tso_segs);\n\n"
                    "u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now,\n",
                ),
            ),
            only_with="DUMBBELL_HAS_TSO_SEGS",
        ),
        Edit(
            "driver",
            "it runs a scenario in the kernel, where a packet needs no system call",
            (
                Variant(
                    f"{DRIVERS}/Makefile",
                    "obj-y := stdio_console.o ",
                    f"dumbbell-objs := {' '.join(objects)}\n"
                    "obj-y := dumbbell.o stdio_console.o ",
                    {f"{DRIVERS}/{name}": name for name in files},
                ),
            ),
        ),
    )  # fmt: skip


def apply(tree: Path, hz: int) -> None:
    """Make all edits, and say in a header what the tree has.

    Parameters
    ----------
    tree
        May consist of links to files, which stay as they are: what is changed becomes a file.
    hz
        Ticks a second.

    Raises
    ------
    KernelError
        The tree does not have what an edit replaces.
    """
    facts = facts_of(tree)
    replace(tree / FACTS_FILE, facts)
    for edit in edits(hz):
        if edit.only_with not in facts:
            continue
        chosen = variant_for(tree, edit)
        path = tree / chosen.file
        replace(path, text_of(path).replace(chosen.old, chosen.new))
        for place, name in chosen.adds.items():
            replace(tree / place, (DRIVER / name).read_text(encoding="utf-8"))


def facts_of(tree: Path) -> str:
    """Return a header that says what a tree has."""
    macros = [
        f"#define {macro}\n"
        for macro, (file, text) in FACTS.items()
        if text in text_of(tree / file)
    ]
    return f"/* What this tree has: written by dumbbell's edits.py. */\n{''.join(macros)}"


def variant_for(tree: Path, edit: Edit) -> Variant:
    """Return the variant of an edit that fits a tree.

    Raises
    ------
    KernelError
        None does.
    """
    for variant in edit.variants:
        if any((tree / place).exists() for place in variant.adds):
            continue
        count = text_of(tree / variant.file).count(variant.old)
        if count == 1:
            return variant
        if count > 1:
            what = f"has `{first_line(variant.old)}` {count} times"
            raise KernelError(refusal(edit, variant, what))
    first = edit.variants[0]
    raise KernelError(refusal(edit, first, f"lacks `{first_line(first.old)}`"))


def refusal(edit: Edit, variant: Variant, what: str) -> str:
    """Return the error about an edit that cannot be made."""
    return (
        f"the edit `{edit.name}` does not fit this tree: `{variant.file}` {what}; "
        "use an unchanged tree of Linux 5.3 to 7.3 there"
    )


def first_line(text: str) -> str:
    """Return the first line of a text, in which spaces are single."""
    return " ".join(text.partition("\n")[0].split())


def text_of(path: Path) -> str:
    """Return a file's text; nothing if it does not exist."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""


def replace(path: Path, text: str) -> None:
    """Write a file in place of another, or of a link, whose target stays as it is."""
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def parts(hz: int) -> Iterator[str]:
    """Yield all that the edits consist of, for a digest."""
    yield repr(sorted(FACTS.items()))
    for edit in edits(hz):
        for variant in edit.variants:
            yield from (edit.name, variant.file, variant.old, variant.new, *sorted(variant.adds))
