//! Facts about the machine: kernel, processors, memory, clock.

use std::{fs, thread};

use super::fact::{Fact, Status};
use crate::machine::kernel;

pub(super) fn facts() -> [Fact; 4] {
    [linux(), cpus(), memory(), clock_source()]
}

fn linux() -> Fact {
    Fact {
        name: "Linux",
        status: Status::Ok,
        value: kernel::release(),
        costs: "no kernel engine",
        remedy: "Linux",
        needed_for: &[],
    }
}

fn cpus() -> Fact {
    let count = thread::available_parallelism().map_or(1, usize::from);
    let value = match first_value("/proc/cpuinfo", "model name") {
        Some(model) => format!("{count} × {model}"),
        None => count.to_string(),
    };
    Fact {
        name: "CPUs",
        status: if count >= 2 {
            Status::Ok
        } else {
            Status::Limited
        },
        value,
        costs: "TCP takes the core from the bottleneck, so its packets are late",
        remedy: "two cores or more",
        needed_for: &[],
    }
}

fn memory() -> Fact {
    let available = first_value("/proc/meminfo", "MemAvailable");
    let kilobytes = available.and_then(|value| value.trim_end_matches(" kB").parse::<u64>().ok());
    let kilobytes = kilobytes.unwrap_or(0);
    Fact {
        name: "memory",
        status: if kilobytes >= 1 << 20 {
            Status::Ok
        } else {
            Status::Limited
        },
        value: format!("{:.1} GiB available", kilobytes as f64 / f64::from(1 << 20)),
        costs: "long runs of many flows do not fit",
        remedy: "1 GiB or more",
        needed_for: &[],
    }
}

fn clock_source() -> Fact {
    /// These are read without a system call or a slow device.
    const FAST: [&str; 5] = [
        "tsc",
        "kvm-clock",
        "arch_sys_counter",
        "hyperv_clocksource_tsc_page",
        "riscv_clocksource",
    ];
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let name = fs::read_to_string(path).unwrap_or_default();
    let name = name.trim();
    Fact {
        name: "clock source",
        status: if FAST.contains(&name) {
            Status::Ok
        } else {
            Status::Limited
        },
        value: if name.is_empty() { "unknown" } else { name }.to_owned(),
        costs: "every packet costs more time, so fewer flows and lower rates are possible",
        remedy: "boot with clocksource=tsc, if it is stable",
        needed_for: &[],
    }
}

/// The first `key : value` of a file in /proc.
fn first_value(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == key).then(|| value.trim().to_owned())
    })
}
