"""Linux's Reno as a module: it is in `tcp_cong.c`, next to the code that registers the others."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["reno_module"]

#: From the growth of the window, which Reno shares with others, to the end of its ops table.
RENO = re.compile(
    r"^(?:__bpf_kfunc )?u32 tcp_slow_start\(.*^struct tcp_congestion_ops tcp_reno = \{.*?^\};$",
    re.MULTILINE | re.DOTALL,
)
#: The text's own functions, so that none of ours by these names is called instead.
OWN = (
    "tcp_slow_start", "tcp_cong_avoid_ai", "tcp_reno_ssthresh", "tcp_reno_cong_avoid",
    "tcp_reno_undo_cwnd",
)  # fmt: skip
BEFORE = "#include <linux/module.h>\n#include <net/tcp.h>\n"
AFTER = """
static int __init reno_register(void)
{
	return tcp_register_congestion_control(&tcp_reno);
}
module_init(reno_register);
"""


def reno_module(tree: Path, directory: Path) -> str:
    """Write Linux's text of Reno, unchanged, as a module's source; return the file's path.

    Parameters
    ----------
    tree
        A Linux source tree.
    directory
        Where the file goes: `tcp_reno.c`.
    """
    text = RENO.search((tree / "net/ipv4/tcp_cong.c").read_text())
    if text is None:
        raise ValueError(f"{tree}: Reno is not where it was in `net/ipv4/tcp_cong.c`")
    renamed = "".join(f"#define {name} linux_{name}\n" for name in OWN)
    path = directory / "tcp_reno.c"
    path.write_text(BEFORE + renamed + text[0] + AFTER)
    return str(path)
