"""A small Linux tree, and a `make` that writes what Linux's build would."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = [
    "CLOCK", "HOSTS_READING", "MAKE", "READING", "TREE", "UTIL", "contents", "put_program",
    "write_tree",
]  # fmt: skip

GETRANDOM = "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)"
READING = "return time_travel_time / TIMER_MULTIPLIER;"
STEP = "time_travel_update_time_rel(TIMER_MULTIPLIER);"
HOSTS_READING = "return os_nsecs() / TIMER_MULTIPLIER;"
RATE = "clocksource_register_hz(&timer_clocksource, NSEC_PER_SEC/TIMER_MULTIPLIER)"
UTIL, CLOCK = "arch/um/os-Linux/util.c", "arch/um/kernel/time.c"
TREE = {
    "Makefile": "VERSION = 6\n",
    "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n\n"
    "config UML_TIME_TRAVEL_SUPPORT\n\tbool\n",
    "arch/um/drivers/Makefile": "obj-y := stdio_console.o fd.o\nobj-y += harddog.o\n",
    "arch/um/include/asm/Kbuild": "generic-y += irq.h\n",
    "arch/um/include/asm/archrandom.h": "/* of Linux */\n",
    "arch/um/include/linux/time-internal.h": "#define TIMER_MIN_DELTA  500\n",
    CLOCK: f"\t\t\t{STEP}\n\t{READING}\n\t{HOSTS_READING}\n\terr = {RATE};\n",
    UTIL: f"{GETRANDOM}\n{{\n\treturn getrandom(buf, len, flags);\n}}\n",
    "net/ipv4/Kconfig": 'menuconfig TCP_CONG_ADVANCED\n\tbool "More"\n\n'
    'config TCP_CONG_CUBIC\n\ttristate "CUBIC"\n\nconfig TCP_CONG_MINE\n\ttristate "Mine"\n',
    "net/ipv4/Makefile": "obj-$(CONFIG_TCP_CONG_CUBIC) += tcp_cubic.o\n"
    "obj-$(CONFIG_TCP_CONG_MINE) += tcp_mine.o\n",
    "net/ipv4/tcp_cubic.c": '\t.name\t\t= "cubic",\n',
    "net/ipv4/tcp_mine.c": '\t.name\t\t= "mine",\n',
    "Documentation/index": "text",
    "Documentation/Kconfig": "config WARN\n",
    ".git/config": "of git",
    "kernel/old.o": "object",
}

MAKE = """#!{python} -IS
import pathlib, subprocess, sys, time
tree = pathlib.Path(sys.argv[sys.argv.index("-C") + 1])
out = pathlib.Path(next(a for a in sys.argv if a.startswith("O="))[2:])
target, config = sys.argv[-1], out / ".config"
(tree / "wait").exists() and target == "vmlinux" and (
    pathlib.Path((tree / "wait").read_text()).touch(), subprocess.run(["sleep", "60"]))
if target == "tinyconfig":
    config.write_text("# Linux/um 6.99.1 Kernel Configuration\\n")
if target == "olddefconfig":
    absent = (tree / "absent").read_text().split() if (tree / "absent").exists() else []
    lines = [l for l in config.read_text().splitlines() if not any(a + "=" in l for a in absent)]
    hz = (tree / "arch/um/Kconfig").read_text().split("default ")[1].split()[0]
    config.write_text("\\n".join([*lines, f"CONFIG_HZ={{hz}}"]) + "\\n")
if target == "vmlinux":
    print("  HOSTCC  scripts/basic/fixdep")
    print("  CC      kernel/fork.o")
    print("  CC      net/ipv4/tcp.o", flush=True)
    if (tree / "fail").exists():
        print((tree / "fail").read_text().replace("TREE", str(tree)), file=sys.stderr)
        sys.exit(2)
    (out / "include/config").mkdir(parents=True)
    (out / "include/config/kernel.release").write_text("6.99.1\\n")
    (out / "vmlinux").write_text("a kernel")
    (out / "vmlinux").chmod(0o755)
"""


def write_tree(root: Path, changes: Mapping[str, str | None] = {}) -> Path:
    """Write a small tree; with other texts of some files, or without them."""
    for name, text in {**TREE, **changes}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    return root


def contents(root: Path) -> dict[str, bytes]:
    """Return what is in a directory's files."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def put_program(directory: Path, name: str, text: str) -> None:
    """Write a program."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(text.replace("{python}", sys.executable).replace("{{", "{").replace("}}", "}"))
    path.chmod(0o755)
