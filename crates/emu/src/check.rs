//! What this engine refuses on any machine, with the reason and the fix.

use dumbbell_declare::{Engines, Settings as _};
use dumbbell_scenario::Scenario;

use crate::error::Error;

/// Linux's TCP_MIN_MSS; and the largest that fits, with headers, in the 16 bits of a frame's
/// length.
const MIN_MSS_BYTES: u32 = 88;
const MAX_MSS_BYTES: u32 = 65_000;

/// Rejects what this engine cannot run on any machine, with the reason and the fix.
///
/// # Errors
///
/// [`Error::Refused`]: the scenario is inconsistent, or has what only the simulator has.
pub fn check(scenario: &Scenario) -> Result<(), Error> {
    scenario
        .check()
        .map_err(|refusal| Error::Refused(refusal.to_string()))?;
    check_mss(scenario)?;
    check_memory(scenario)?;
    check_hosts(scenario)
}

/// Rejects segments that no TUN device carries.
fn check_mss(scenario: &Scenario) -> Result<(), Error> {
    for group in &scenario.groups {
        if !(MIN_MSS_BYTES..=MAX_MSS_BYTES).contains(&group.host.mss_bytes) {
            return Err(Error::Refused(format!(
                "mss `{}B` of `{}` is not supported by the kernel engine; use `{MIN_MSS_BYTES}B` to `{MAX_MSS_BYTES}B`",
                group.host.mss_bytes, group.cc.name
            )));
        }
    }
    Ok(())
}

/// Rejects memory that sockets share: only simulated ones do.
fn check_memory(scenario: &Scenario) -> Result<(), Error> {
    match scenario.tcp_mem_bytes {
        Some(_) => Err(Error::Refused(
            "`tcp_mem` is not supported by the kernel engine, whose sockets have this machine's memory; omit `tcp_mem`, or use `--engine simulator`".to_owned(),
        )),
        None => Ok(()),
    }
}

/// Rejects what only a simulated host's TCP has: the fields of [`Host`] that say so.
fn check_hosts(scenario: &Scenario) -> Result<(), Error> {
    for group in &scenario.groups {
        for set in group.host.changed() {
            let (name, why) = (set.parameter.name, set.parameter.facts.why);
            if set.parameter.facts.engines == Engines::Both {
                continue;
            }
            let what = match set.text() {
                Some(value) if why.is_empty() => format!("{name} `{value}`"),
                _ => format!("`{name}`"),
            };
            let why = if why.is_empty() {
                String::new()
            } else {
                format!(", {why}")
            };
            return Err(Error::Refused(format!(
                "{what} of `{}` is not supported by the kernel engine{why}; omit `{name}`, or use `--engine simulator`",
                group.cc.name
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dumbbell_scenario::{Group, Host, Limit, Queue, ReceiverKind, linux_release};

    use super::*;

    #[test]
    fn what_only_the_simulator_has_is_refused_with_the_fix() {
        const TCP: &str = ", whose hosts have this machine's TCP";
        const CUTS: &str = ", whose relay cuts super-packets into packets";
        let host = Host::default;
        for (host, what, name, why) in [
            (
                Host {
                    ooo_limit_pkts: Some(48),
                    ..host()
                },
                "ooo_limit `48pkt`",
                "ooo_limit",
                "",
            ),
            (
                Host {
                    gso: true,
                    ..host()
                },
                "`gso`",
                "gso",
                CUTS,
            ),
            (
                Host {
                    tcp: linux_release::Config::linux_4_15(),
                    ..host()
                },
                "`tcp`",
                "tcp",
                TCP,
            ),
            (
                Host {
                    timer_lateness_ns: 1,
                    ..host()
                },
                "`timer_lateness`",
                "timer_lateness",
                TCP,
            ),
            (
                Host {
                    receiver: ReceiverKind::freebsd,
                    ..host()
                },
                "`receiver`",
                "receiver",
                TCP,
            ),
            (
                Host {
                    sndbuf_auto: true,
                    ..host()
                },
                "`sndbuf_auto`",
                "sndbuf_auto",
                TCP,
            ),
            (
                Host {
                    ooo_memory: true,
                    ..host()
                },
                "`ooo_memory`",
                "ooo_memory",
                TCP,
            ),
            (
                Host {
                    gro_ns: 200_000,
                    ..host()
                },
                "gro `200us`",
                "gro",
                "",
            ),
            (
                Host {
                    gro_ns: 500,
                    ..host()
                },
                "gro `500ns`",
                "gro",
                "",
            ),
        ] {
            let expected = format!(
                "{what} of `cubic` is not supported by the kernel engine{why}; omit `{name}`, or use `--engine simulator`"
            );
            assert_eq!(refusal(host), Err(expected));
        }
    }

    #[test]
    fn what_both_engines_have_is_not_refused() {
        assert_eq!(refusal(Host::default()), Ok(()));
        let host = Host {
            rwnd_bytes: 1 << 20,
            tso: false,
            nagle: false,
            ..Host::default()
        };
        assert_eq!(refusal(host), Ok(()));
    }

    fn refusal(host: Host) -> Result<(), String> {
        let group = Group {
            cc: "cubic".into(),
            base_rtt_ns: 20_000_000,
            host,
            ..Group::default()
        };
        let scenario = Scenario {
            groups: vec![group],
            ..Scenario::dumbbell(1_000_000, Queue::drop_tail(Limit::Packets(10)))
        };
        check_hosts(&scenario).map_err(|error| error.to_string())
    }
}
