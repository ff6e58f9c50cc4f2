"""Every congestion control compiles to BPF as it stands, by clang and by zig's, without a warning.

zig is a Python package, so its half always runs; clang's runs where one is installed.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

CC = Path(__file__).parents[2] / "cc"
SOURCES = sorted(CC.glob("*.bpf.c"))

# A BPF program has the kernel's argument list, whatever of it it uses.
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
COMMON = ("-mcpu=v3", "-O2", "-g", *WARNINGS, f"-I{CC / 'include'}")
CLANG_NAMES = ("clang", *(f"clang-{version}" for version in range(25, 14, -1)))
CLANG = next(filter(None, map(shutil.which, CLANG_NAMES)), None)
# zig turns the undefined-behaviour sanitizer on, which BPF has no runtime for.
ZIG = (
    sys.executable, "-m", "ziglang", "cc", "-target", "bpfel-freestanding",
    "-fno-sanitize=undefined",
)  # fmt: skip

EM_BPF = 247  # e_machine of the ELF header, linux/elf-em.h

COMPILERS = [
    pytest.param(
        (CLANG, "-target", "bpfel"),
        id="clang",
        marks=pytest.mark.skipif(CLANG is None, reason="no clang on PATH; apt install clang"),
    ),
    pytest.param(ZIG, id="zig"),
]


def compile_bpf(
    compiler: Sequence[str], source: Path, to: Path
) -> subprocess.CompletedProcess[str]:
    command = [*compiler, *COMMON, "-c", str(source), "-o", str(to)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_finds_the_congestion_controls():
    known = {
        "bbr",
        "bbr3",
        "bbr_fca",
        "copa",
        "cubic",
        "dctcp",
        "l3dr",
        "ledbat",
        "nagi",
        "prague",
        "reno",
        "vegas",
    }
    assert known <= {path.name.split(".")[0] for path in SOURCES}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiles_without_a_warning(compiler, source, tmp_path):
    built = tmp_path / "built.o"
    result = compile_bpf(compiler, source, built)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    header = built.read_bytes()[:20]
    assert header[:4] == b"\x7fELF"
    assert int.from_bytes(header[18:20], "little") == EM_BPF


@pytest.mark.parametrize("compiler", COMPILERS)
def test_refuses_a_field_that_the_kernel_does_not_let_it_write(compiler, tmp_path):
    statement = "\treturn max(tp->snd_cwnd >> 1, 2U);\n"
    text = (CC / "reno.bpf.c").read_text(encoding="utf-8")
    assert statement in text
    source = tmp_path / "forbidden.bpf.c"
    source.write_text(text.replace(statement, f"\ttcp_sk(sk)->delivered = 1;\n{statement}"))
    result = compile_bpf(compiler, source, tmp_path / "forbidden.o")
    assert result.returncode != 0
    assert "delivered" in result.stderr
    assert "const" in result.stderr
    # And nothing else is wrong with it: a field that it may write compiles.
    allowed = tmp_path / "allowed.bpf.c"
    allowed.write_text(text.replace(statement, f"\ttcp_sk(sk)->snd_ssthresh = 1;\n{statement}"))
    result = compile_bpf(compiler, allowed, tmp_path / "allowed.o")
    assert result.returncode == 0, result.stderr
