//! The parameters of a QUIC group's hosts.

use std::collections::BTreeMap;

use dumbbell_cc::Param;

use crate::error::Error;
use crate::settings::Settings;
use crate::spec::{Spec, named};

/// Largest UDP payload (RFC 768, RFC 791), bytes.
const MAX_MTU_BYTES: i64 = 65_527;
/// Smallest that QUIC may assume (RFC 9000 §14), bytes.
const MIN_MTU_BYTES: i64 = 1200;

/// Sets what only an algorithm of ours has.
const PACED: &str = "paced";

/// What the hosts of a flow let their user set, 0 being the stack's default where the range has it.
pub fn params(spec: &Spec<'_>) -> Vec<Param> {
    let mut params = vec![
        Param::of(
            "mtu_bytes",
            "bytes",
            "UDP payload from the start, without discovery; 0: 1200 and discovery up to 1452",
            (0, MAX_MTU_BYTES),
            0,
        ),
        Param::of(
            "ack_delay_us",
            "us",
            "how long the receiver may delay an ACK, by the ACK frequency extension; 0: 25 ms, as agreed without it",
            (0, 1_000_000),
            0,
        ),
        Param::of(
            "ack_every_pkts",
            "packets",
            "how many packets an ACK is for, by the ACK frequency extension; 0: 2, without it",
            (0, 1000),
            0,
        ),
        Param::of(
            "gso_batch_pkts",
            "packets",
            "most packets that the stack hands down at once",
            (1, 64),
            10,
        ),
        Param::of(
            "window_bytes",
            "bytes",
            "receive window; the sender holds eight of it; 0: 1.25 MB for the stream",
            (0, 1 << 40),
            0,
        ),
        Param::of(
            "timer_granularity_us",
            "us",
            "timers fire at multiples of this; 1000 is tokio's",
            (1, 1_000_000),
            1000,
        ),
        Param::of(
            PACED,
            "",
            "the stack paces an algorithm of dumbbell's that asks for no rate; 0: nothing does, as in Linux",
            (0, 1),
            1,
        ),
    ];
    params.retain(|param| param.name != PACED || spec.ours().is_some());
    params
}

/// Values of parameters, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Those of the hosts, all of them.
    pub hosts: BTreeMap<String, i64>,
    /// What is left for an algorithm of ours.
    pub ours: BTreeMap<String, i64>,
}

/// Takes the hosts' parameters out of those that were given.
///
/// # Errors
///
/// A value is out of its range; without an algorithm of ours, a parameter that is not the stack's.
pub fn choose_params(spec: &Spec<'_>, given: &BTreeMap<String, i64>) -> Result<Chosen, Error> {
    let known = params(spec);
    let mut chosen: BTreeMap<String, i64> = known
        .iter()
        .map(|param| (param.name.clone(), param.default))
        .collect();
    let mut left = BTreeMap::new();
    for (name, &value) in given {
        if name == PACED && spec.ours().is_none() {
            return Err(Error::AlwaysPaced {
                name: spec.name().to_owned(),
            });
        }
        let Some(param) = known.iter().find(|param| param.name == *name) else {
            if spec.ours().is_none() {
                return Err(Error::UnknownParam {
                    name: spec.name().to_owned(),
                    param: name.clone(),
                    known: named(known.iter().map(|param| param.name.clone())),
                });
            }
            left.insert(name.clone(), value);
            continue;
        };
        let is_small_mtu = name == "mtu_bytes" && (1..MIN_MTU_BYTES).contains(&value);
        if !(param.min..=param.max).contains(&value) || is_small_mtu {
            return Err(Error::OutOfRange {
                name: spec.name().to_owned(),
                param: name.clone(),
                value,
                range: if name == "mtu_bytes" {
                    format!("0, or {MIN_MTU_BYTES} to {MAX_MTU_BYTES}")
                } else {
                    format!("{} to {}", param.min, param.max)
                },
                unit: param.unit.clone(),
            });
        }
        chosen.insert(name.clone(), value);
    }
    Ok(Chosen {
        hosts: chosen,
        ours: left,
    })
}

/// Settings of hosts from the parameters that [`choose_params`] chose.
pub fn settings(
    params: &BTreeMap<String, i64>,
    seed: u64,
    size_bytes: Option<u64>,
    has_ecn: bool,
) -> Settings {
    let value = |name: &str| params.get(name).map_or(0, |&value| value.unsigned_abs());
    let unless_default = |name: &str| Some(value(name)).filter(|&value| value > 0);
    Settings {
        seed,
        size_bytes,
        has_ecn,
        mtu_bytes: unless_default("mtu_bytes").map(|bytes| bytes as u16),
        ack_delay_us: unless_default("ack_delay_us"),
        ack_threshold_pkts: unless_default("ack_every_pkts").map(|pkts| pkts as u32),
        gso_batch_pkts: value("gso_batch_pkts").max(1) as usize,
        window_bytes: unless_default("window_bytes"),
        timer_granularity_ns: 1000 * value("timer_granularity_us").max(1),
        is_paced: value(PACED) != 0,
    }
}
