//! When the host sends, compared with Linux.
//!
//! `DUMBBELL_PACKETDRILL_TIMES` names a folder with a file for each script, `SUITE::NAME` with `+` for `/`: number of
//! the first byte, bytes of payload and µs of every packet that Linux sent, a line each
//! (`tests/python/packetdrill_scripts.py` writes it). Timers fire on ticks, far ones on coarser ticks, and a
//! script may begin at any tick: the one that fits best counts.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::runner;
use crate::script::Script;

/// Where Linux's times are.
const VARIABLE: &str = "DUMBBELL_PACKETDRILL_TIMES";
/// Ticks at which a script may begin: two apart, as packetdrill begins at a tick of a clock of 100 a second.
const PHASES: u64 = 256;
const NS_PER_PHASE: u64 = 2_000_000;
/// What a script's calls take on Linux may add up to nearly a tick, µs.
const NEAR_US: i64 = 950;

/// A packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    pub(crate) seq: u32,
    pub(crate) payload_bytes: u32,
    /// From the script's start.
    pub(crate) time_us: i64,
}

/// Packets, and how many of them leave within a tick of Linux's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) near: usize,
    pub(crate) all: usize,
}

/// How a script agrees with what Linux did, if that is known.
pub(crate) fn compare(script: &Script, name: &str) -> Option<Agreement> {
    let folder = PathBuf::from(env::var_os(VARIABLE)?);
    let linux = read(&folder, name)?;
    let phases = (0..PHASES).map(|phase| {
        let (_, departures) = runner::play(script, phase * NS_PER_PHASE);
        agreement(&linux, &departures)
    });
    phases.max_by_key(|agreement| agreement.near)
}

fn read(folder: &Path, name: &str) -> Option<Vec<Departure>> {
    let text = fs::read_to_string(folder.join(name.replace('/', "+"))).ok()?;
    let departures = text.lines().map(|line| {
        let mut words = line.split(' ');
        Some(Departure {
            seq: words.next()?.parse().ok()?,
            payload_bytes: words.next()?.parse().ok()?,
            time_us: words.next()?.parse().ok()?,
        })
    });
    departures.collect()
}

/// Each packet of Linux's may be several of ours, as segmentation offload sends them.
fn agreement(linux: &[Departure], ours: &[Departure]) -> Agreement {
    let mut agreement = Agreement::default();
    let mut rest = ours;
    for packet in linux {
        let (mut next, end) = (packet.seq, packet.seq.wrapping_add(packet.payload_bytes));
        let before = rest.len();
        while let [own, others @ ..] = rest
            && own.seq == next
        {
            let is_near = (own.time_us - packet.time_us).abs() <= NEAR_US;
            agreement.near += usize::from(is_near);
            next = next.wrapping_add(own.payload_bytes);
            rest = others;
            if next >= end {
                break;
            }
        }
        agreement.all += (before - rest.len()).max(1);
    }
    agreement.all += rest.len();
    agreement
}
