//! The requirements of the kernel engine that this machine meets: the facts behind `dumbbell doctor`.
//!
//! What can be tried is tried, in separate threads and namespaces; nothing is left behind.

mod fact;
mod resources;
mod sandbox;
mod trials;

pub use fact::{Fact, Need, Status};

use crate::bpf;
use crate::machine::kernel;

/// The facts about this machine, in the order of a table. Takes a few tenths of a second.
pub fn machine() -> Vec<Fact> {
    let mut facts = resources::facts().to_vec();
    facts.extend([
        privilege(),
        network_namespaces(),
        rootless(),
        tun_devices(),
        realtime(),
        timer(),
        kernels_own(),
        btf(),
        bpf_objects(),
        c_compiler(),
        bpf_compiler(),
        struct_ops(),
        iterators(),
        callbacks(),
    ]);
    facts.extend(sandbox::facts());
    facts
}

/// `Ok` with the value, or the other status with the problem.
fn status_of(result: Result<String, String>, otherwise: Status) -> (Status, String) {
    match result {
        Ok(value) => (Status::Ok, value),
        Err(problem) => (otherwise, problem),
    }
}

fn privilege() -> Fact {
    let user = rustix::process::geteuid();
    let who = if user.is_root() {
        "root".to_owned()
    } else {
        format!("user {user}")
    };
    let place = if kernel::in_initial_user_namespace() {
        "the initial user namespace"
    } else {
        "a user namespace of its own, as in a rootless container"
    };
    let (status, value) = if kernel::may_load_bpf() {
        (Status::Ok, format!("{who} in {place}"))
    } else {
        (
            Status::Missing,
            format!("{who} in {place}, without CAP_BPF"),
        )
    };
    Fact {
        name: "privilege",
        status,
        value,
        costs: "none of our algorithms in the kernel; only its own, such as `linux/cubic`",
        remedy: "run as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN",
        needed_for: &[Need::Bpf],
    }
}

fn network_namespaces() -> Fact {
    let tried = trials::network_namespace();
    let found = match tried {
        Ok(()) => Ok("created one".to_owned()),
        Err(_) => trials::user_namespace(None)
            .map(|()| "created one, in a user namespace".to_owned())
            .map_err(|error| error.to_string()),
    };
    let (status, value) = status_of(found, Status::Missing);
    Fact {
        name: "network namespaces",
        status,
        value,
        costs: "no kernel engine: its hosts are network namespaces",
        remedy: "run as root, or allow user namespaces (sysctl user.max_user_namespaces)",
        needed_for: &[Need::Kernel],
    }
}

fn rootless() -> Fact {
    /// `nobody` on every distribution.
    const NOBODY: u32 = 65534;
    // Other user namespaces may not have this user.
    let can_be_nobody = rustix::process::geteuid().is_root() && kernel::in_initial_user_namespace();
    let user = can_be_nobody.then_some(NOBODY);
    let found = trials::user_namespace(user)
        .map(|()| "user namespaces can be created without root".to_owned())
        .map_err(|error| format!("not without root: {error}"));
    let (status, value) = status_of(found, Status::Limited);
    Fact {
        name: "user namespaces",
        status,
        value,
        costs: "the kernel engine needs root even for the kernel's own algorithms",
        remedy: "sysctl user.max_user_namespaces=10000, kernel.unprivileged_userns_clone=1 and \
                 kernel.apparmor_restrict_unprivileged_userns=0, where these exist",
        needed_for: &[],
    }
}

fn tun_devices() -> Fact {
    let found = trials::tun_device()
        .map(|()| "/dev/net/tun; created one".to_owned())
        .map_err(|error| format!("/dev/net/tun: {error}"));
    let (status, value) = status_of(found, Status::Missing);
    Fact {
        name: "TUN devices",
        status,
        value,
        costs: "no kernel engine: packets reach the bottleneck through them",
        remedy: "modprobe tun; in a container, pass the device in (--device /dev/net/tun)",
        needed_for: &[Need::Kernel],
    }
}

fn realtime() -> Fact {
    let found = trials::realtime_priority()
        .map(|()| "SCHED_FIFO granted".to_owned())
        .map_err(|error| format!("SCHED_FIFO denied: {error}"));
    let (status, value) = status_of(found, Status::Limited);
    Fact {
        name: "real-time priority",
        status,
        value,
        costs: "packets are late when another process has the core",
        remedy: "run as root, or with CAP_SYS_NICE or `ulimit -r 99`",
        needed_for: &[],
    }
}

fn timer() -> Fact {
    /// A hundredth of a 20 ms RTT.
    const LATE_US: f64 = 200.0;
    let late = trials::oversleep();
    let value = format!(
        "sleeps of 500 µs end {:.0} µs late (median), {:.0} µs (p99)",
        late.p50_us, late.p99_us
    );
    let is_good = late.p99_us <= LATE_US;
    Fact {
        name: "timer",
        status: if is_good { Status::Ok } else { Status::Limited },
        value,
        costs: "packets leave the bottleneck late, in bursts",
        remedy: "stop other work; use a machine or virtual machine with high-resolution timers",
        needed_for: &[],
    }
}

fn kernels_own() -> Fact {
    let (instances, own): (Vec<String>, Vec<String>) = kernel::congestion_controls()
        .into_iter()
        .partition(|name| name.contains('.'));
    let mut value = own.join(" ");
    if !instances.is_empty() {
        value = format!("{value}; of other runs: {}", instances.join(" "));
    }
    let has_all = ["reno", "cubic", "bbr"]
        .iter()
        .all(|&wanted| own.iter().any(|name| name == wanted));
    Fact {
        name: "the kernel's own algorithms",
        status: if has_all { Status::Ok } else { Status::Limited },
        value,
        costs: "`linux/reno`, `linux/cubic` or `linux/bbr` cannot be run",
        remedy: "modprobe tcp_bbr tcp_cubic",
        needed_for: &[],
    }
}

fn btf() -> Fact {
    let found = if kernel::has_btf() {
        Ok("/sys/kernel/btf/vmlinux".to_owned())
    } else {
        Err("no /sys/kernel/btf/vmlinux".to_owned())
    };
    let (status, value) = status_of(found, Status::Missing);
    Fact {
        name: "BTF",
        status,
        value,
        costs: "none of our algorithms in the kernel",
        remedy: "a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions build it",
        needed_for: &[Need::Bpf],
    }
}

fn bpf_objects() -> Fact {
    let found = dumbbell_cc::builtins_bpf_compiler()
        .map(|compiler| format!("built with {compiler}"))
        .ok_or_else(|| "no BPF compiler when dumbbell was built".to_owned());
    let (status, value) = status_of(found, Status::Missing);
    Fact {
        name: "built-in algorithms for the kernel",
        status,
        value,
        costs: "none of our built-in algorithms in the kernel",
        remedy: "install clang, or run `pip install ziglang`, and build dumbbell again",
        needed_for: &[Need::Bpf],
    }
}

fn c_compiler() -> Fact {
    let found = dumbbell_cc::native_compiler().ok_or_else(|| "none".to_owned());
    let (status, value) = status_of(found, Status::Limited);
    Fact {
        name: "C compiler",
        status,
        value,
        costs: "no congestion control from a C file of your own",
        remedy: "pip install 'dumbbell[cc]', or install gcc or clang",
        needed_for: &[],
    }
}

fn bpf_compiler() -> Fact {
    let found = dumbbell_cc::bpf_compiler().ok_or_else(|| "none".to_owned());
    let (status, value) = status_of(found, Status::Limited);
    Fact {
        name: "BPF compiler",
        status,
        value,
        costs: "no congestion control from a C file of your own in the kernel",
        remedy: "pip install 'dumbbell[cc]', or install clang",
        needed_for: &[],
    }
}

fn struct_ops() -> Fact {
    let request = dumbbell_cc::Request {
        name: "reno".to_owned(),
        ..dumbbell_cc::Request::default()
    };
    let found = bpf::Loaded::load(&request)
        .map(|loaded| format!("loaded and registered {}", loaded.kernel_name))
        .map_err(|error| error.to_string().lines().next().unwrap_or("").to_owned());
    let (status, value) = status_of(found, Status::Missing);
    Fact {
        name: "struct_ops",
        status,
        value,
        costs: "none of our algorithms in the kernel",
        remedy: "Linux 6.4 or newer with BPF and BTF, as root",
        needed_for: &[Need::Bpf],
    }
}

fn iterators() -> Fact {
    let found = bpf::StateReader::new([], 1)
        .map(|_| "the state of sockets can be read".to_owned())
        .map_err(|error| error.to_string().lines().next().unwrap_or("").to_owned());
    let (status, value) = status_of(found, Status::Limited);
    Fact {
        name: "BPF iterators",
        status,
        value,
        costs: "no time series of the state that our algorithms have in the kernel",
        remedy: "a kernel that loads BPF programs of type tracing, as root",
        needed_for: &[],
    }
}

fn callbacks() -> Fact {
    let (status, value) = if bpf::skipping_kernel::leaves_programs_out() {
        (
            Status::Limited,
            "this kernel (not one of kernel.org) leaves BPF programs out while process 1 is on the CPU"
                .to_owned(),
        )
    } else {
        (Status::Ok, "every BPF program runs".to_owned())
    };
    Fact {
        name: "callbacks",
        status,
        value,
        costs: "now and then a callback of our algorithms is missed: some runs are INVALID (`window`), and \
                `min_tso_segs` is not loaded",
        remedy: "another kernel; or run an INVALID run again",
        needed_for: &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_complete_and_on_one_line() {
        let facts = machine();
        for fact in &facts {
            for text in [fact.name, &fact.value, fact.costs, fact.remedy] {
                assert!(!text.is_empty() && !text.contains('\n'), "{fact:?}");
            }
        }
        let names: Vec<&str> = facts.iter().map(|fact| fact.name).collect();
        for name in [
            "Linux",
            "CPUs",
            "TUN devices",
            "struct_ops",
            "BPF iterators",
        ] {
            assert!(names.contains(&name), "{names:?}");
        }
    }

    #[test]
    fn trials_leave_nothing() {
        let before = kernel::congestion_controls();
        struct_ops();
        network_namespaces();
        tun_devices();
        let devices = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
        assert!(!devices.contains("dumbbell"), "{devices}");
        let ours = || {
            kernel::congestion_controls()
                .into_iter()
                .filter(|name| name.starts_with("reno.") && !before.contains(name))
                .count()
        };
        // Unregistering ends a moment later, and other tests may do the same.
        for _ in 0..100 {
            if ours() == 0 {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{} algorithms stayed", ours());
    }
}
