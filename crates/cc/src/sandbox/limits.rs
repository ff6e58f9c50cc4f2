//! Bounds on what a process can use.

use std::io;

/// Bounds on what a process can use; none where `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// CPU time per process, s.
    pub(crate) cpu_s: Option<u64>,
    /// Address space per process, bytes.
    pub(crate) address_space_bytes: Option<u64>,
    /// Size of each file that is written, in memory too, bytes.
    pub(crate) file_bytes: Option<u64>,
    pub(crate) open_files: Option<u64>,
}

impl Limits {
    /// Those of a process that runs congestion control algorithms: a backstop, which no honest run reaches.
    pub(crate) fn of_a_run() -> Self {
        const DAY_S: u64 = 86_400;
        const SMALLEST_BYTES: u64 = 4 << 30;
        let memory_bytes = rustix::system::sysinfo();
        let memory_bytes = memory_bytes.totalram * u64::from(memory_bytes.mem_unit);
        let bytes = SMALLEST_BYTES.max(memory_bytes);
        Self {
            cpu_s: Some(DAY_S),
            address_space_bytes: Some(bytes),
            file_bytes: Some(bytes / 2),
            // One for each group of a scenario, and some.
            open_files: Some(4096),
        }
    }

    /// Binds the calling process, and all that it starts. Only makes system calls.
    pub(crate) fn apply(&self) -> io::Result<()> {
        let limits = [
            (libc::RLIMIT_CPU, self.cpu_s),
            (libc::RLIMIT_AS, self.address_space_bytes),
            (libc::RLIMIT_FSIZE, self.file_bytes),
            (libc::RLIMIT_NOFILE, self.open_files),
            (libc::RLIMIT_CORE, Some(0)),
        ];
        for (resource, limit) in limits {
            if let Some(limit) = limit {
                lower(resource, limit)?;
            }
        }
        Ok(())
    }
}

fn lower(resource: libc::__rlimit_resource_t, limit: u64) -> io::Result<()> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes an `rlimit`, which `now` is.
    if unsafe { libc::getrlimit(resource, &raw mut now) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let limit = limit.min(now.rlim_max);
    let lowered = libc::rlimit {
        rlim_cur: limit,
        rlim_max: limit,
    };
    // SAFETY: the kernel reads an `rlimit`, which `lowered` is.
    if unsafe { libc::setrlimit(resource, &raw const lowered) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
