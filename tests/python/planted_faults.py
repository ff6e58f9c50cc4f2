"""Congestion controls with a known fault, made of the built-in sources by one change of their text.

A change whose text is no longer in the source fails loudly, so that none of them goes stale.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

CC = Path(__file__).resolve().parents[2] / "cc"


@dataclass(frozen=True)
class PlantedFault:
    """A fault: in which source, what it replaces, and what that was in reality."""

    name: str
    source: str
    changed: str
    before: str
    after: str

    def write(self, directory: Path) -> str:
        """Write the congestion control with the fault; return its path."""
        for header in CC.glob("*.h"):
            shutil.copy(header, directory)
        text = (CC / self.changed).read_text(encoding="utf-8")
        assert text.count(self.before) == 1, f"{self.changed} no longer has {self.before!r}"
        text = text.replace(self.before, self.after)
        if self.changed == self.source:
            (directory / f"{self.name}.bpf.c").write_text(text, encoding="utf-8")
        else:
            (directory / self.changed).write_text(text, encoding="utf-8")
            shutil.copy(CC / self.source, directory / f"{self.name}.bpf.c")
        return str(directory / f"{self.name}.bpf.c")


#: CUBIC's curve moves on while an application pauses, and the window jumps when it resumes: Linux
#: before 4.3 (commit 30927520dbae, "tcp_cubic: better follow cubic curve after idle period", 2015).
CUBIC_IDLE = PlantedFault(
    "cubic_idle",
    "cubic.bpf.c",
    "cubic.bpf.c",
    "\tca->epoch_start_us = min(ca->epoch_start_us + idle_us, tp->tcp_mstamp);\n",
    "\t(void)idle_us;\n",
)

#: BBR that leaves its window as a timeout left it: one packet.
BBR_TIMEOUT = PlantedFault(
    "bbr_timeout",
    "bbr.bpf.c",
    "bbr_v1.h",
    "\tif (rs->acked_sacked) {\n\t\tcwnd = bbr_recovery_cwnd(sk, rs);\n",
    "\tif (rs->acked_sacked && ca->prev_ca_state != TCP_CA_Loss) {\n"
    "\t\tcwnd = bbr_recovery_cwnd(sk, rs);\n",
)

#: Reno that repairs one hole per round trip, as without SACK (RFC 6582), and sends nothing else
#: meanwhile.
RENO_NO_SACK = PlantedFault(
    "reno_no_sack",
    "reno.bpf.c",
    "reno.bpf.c",
    'SEC(".struct_ops")\nstruct tcp_congestion_ops reno = {\n',
    """SEC("struct_ops")
void BPF_PROG(reno_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;

	if (state == TCP_CA_Recovery)
		tp->snd_cwnd = 1;
	else if (state == TCP_CA_Open && tp->snd_cwnd == 1)
		tp->snd_cwnd = tp->snd_ssthresh;
	else if (rs->acked_sacked > 0)
		tcp_reno_cong_avoid(sk, ack, rs->acked_sacked);
}

SEC(".struct_ops")
struct tcp_congestion_ops reno = {
	.cong_control	= (void *)reno_cong_control,
""",
)
