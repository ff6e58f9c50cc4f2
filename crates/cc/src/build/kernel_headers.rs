//! The kernel headers that a module's source may include. Each includes
//! `cc/include/linux-module/environment.h`, which has everything.

use std::path::Path;
use std::{fs, io};

/// Paths below the kernel's `include` directory.
const KERNEL_HEADERS: [&str; 62] = [
    "asm/byteorder.h",
    "asm/div64.h",
    "asm/unaligned.h",
    "linux/atomic.h",
    "linux/average.h",
    "linux/bitops.h",
    "linux/bits.h",
    "linux/bpf.h",
    "linux/btf.h",
    "linux/btf_ids.h",
    "linux/bug.h",
    "linux/build_bug.h",
    "linux/cache.h",
    "linux/compiler.h",
    "linux/compiler_types.h",
    "linux/container_of.h",
    "linux/cpu.h",
    "linux/device.h",
    "linux/err.h",
    "linux/errno.h",
    "linux/export.h",
    "linux/filter.h",
    "linux/gfp.h",
    "linux/hrtimer.h",
    "linux/if_ether.h",
    "linux/in.h",
    "linux/inet.h",
    "linux/inet_diag.h",
    "linux/init.h",
    "linux/jiffies.h",
    "linux/kernel.h",
    "linux/ktime.h",
    "linux/limits.h",
    "linux/list.h",
    "linux/log2.h",
    "linux/math.h",
    "linux/math64.h",
    "linux/minmax.h",
    "linux/mm.h",
    "linux/module.h",
    "linux/moduleparam.h",
    "linux/net.h",
    "linux/percpu.h",
    "linux/prandom.h",
    "linux/printk.h",
    "linux/random.h",
    "linux/sched.h",
    "linux/sched/clock.h",
    "linux/skbuff.h",
    "linux/slab.h",
    "linux/stddef.h",
    "linux/string.h",
    "linux/sysctl.h",
    "linux/tcp.h",
    "linux/time.h",
    "linux/types.h",
    "linux/version.h",
    "linux/win_minmax.h",
    "net/inet_connection_sock.h",
    "net/net_namespace.h",
    "net/sock.h",
    "net/tcp.h",
];

/// Writes them to `dir`, which must be on the compiler's include path.
pub(crate) fn write_below(dir: &Path) -> io::Result<()> {
    for header in KERNEL_HEADERS {
        let path = dir.join(header);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(path, "#include <environment.h>\n")?;
    }
    Ok(())
}
