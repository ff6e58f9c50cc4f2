"""What can go wrong around the kernel engine: one clear line each, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.kernel
needs_bpf = pytest.mark.kernel(bpf=True)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root to mount")

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

#: As `dumbbell run` has it, in words that a shell takes.
RUN = f"{sys.executable} -m dumbbell run --engine kernel --rate 20mbit --rtt 20ms --time 1s"

#: The verifier follows every path, and this one writes to a field that is read-only in the kernel.
REFUSED = """
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"

char _license[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
u32 BPF_PROG(refused_ssthresh, struct sock *sk)
{
	u32 *forbidden = (u32 *)&tcp_sk(sk)->snd_una;

	*forbidden = 0; /* read-only in the kernel */
	return 2;
}

SEC("struct_ops")
void BPF_PROG(refused_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
}

SEC("struct_ops")
u32 BPF_PROG(refused_undo_cwnd, struct sock *sk)
{
	return 2;
}

SEC(".struct_ops")
struct tcp_congestion_ops refused = {
	.ssthresh	= (void *)refused_ssthresh,
	.cong_avoid	= (void *)refused_cong_avoid,
	.undo_cwnd	= (void *)refused_undo_cwnd,
	.name		= "refused",
};
"""


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line with file systems of its own, which are gone when it ends."""
    return subprocess.run(
        ["/usr/bin/env", "unshare", "--mount", "sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@needs_root
def test_without_tun_devices_there_is_one_line():
    result = shell(f"mount -t tmpfs none /dev/net && exec {RUN} linux/cubic")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert "/dev/net/tun" in result.stderr
    assert result.stderr.count("\n") == 1


@needs_root
def test_a_full_disk_costs_the_files_and_not_the_result(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    result = shell(
        f"mount -t tmpfs -o size=4k none {place} && exec {RUN} linux/cubic --json --out {place}/run"
    )
    assert result.returncode == 2
    assert json.loads(result.stdout)["engine"] == "kernel"
    assert result.stderr.startswith("error: ")
    assert "no space left" in result.stderr
    assert result.stderr.count("\n") == 1


@needs_bpf
def test_what_the_verifier_refuses_is_shown_with_its_line(tmp_path):
    refused = tmp_path / "refused.bpf.c"
    refused.write_text(REFUSED)
    result = subprocess.run(
        [*RUN.split(), str(refused)], capture_output=True, text=True, check=False, timeout=100
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert "*forbidden = 0" in result.stderr, "the source line"
    assert "refused.bpf.c" in result.stderr
    assert "Traceback" not in result.stderr
    assert not {name for name in AVAILABLE.read_text().split() if name.startswith("refused")}
