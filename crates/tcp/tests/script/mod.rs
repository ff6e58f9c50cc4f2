//! Tests that read like a tcpdump, after packetdrill: a script feeds one endpoint and lists what it
//! sends, and when. Times are ms, segments are numbered from 0.
//!
//! ```text
//! 200   < ack 2 sack 3:5      // arrives at 200 ms
//! 200   > 2 rtx               // leaves at once
//! 432.5 > 12                  // a timer's doing
//! 500   .                     // time passes, nothing leaves
//! 500   ! write 100           // the application does something
//! ```
//!
//! [`SenderScript`] feeds ACKs to a sender, [`ReceiverScript`] segments to a receiver, and [`Pair`]
//! joins both by a path that loses, delays and duplicates the packets it is given.

mod pair;
mod receiver_script;
mod sender_script;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dumbbell_cc::{Flow, Instance, Request};
use dumbbell_net::Packet;
use dumbbell_tcp::{DataHeader, SackBlock, Segment};

pub(crate) use pair::{BackLink, Fate, Pair, Path};
pub(crate) use receiver_script::{ReceiverScript, linux_receiver};
pub(crate) use sender_script::{SenderScript, bulk};

pub(crate) const NS_PER_MS: u64 = 1_000_000;
/// Payload of a full segment, bytes.
pub(crate) const MSS_BYTES: u32 = 1448;

/// A built-in congestion control algorithm with its default parameters.
pub(crate) fn load(name: &str) -> Flow {
    load_with(name, &[])
}

/// A built-in congestion control algorithm with some parameters set.
pub(crate) fn load_with(name: &str, params: &[(&str, i64)]) -> Flow {
    let request = Request {
        name: name.to_owned(),
        params: params
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
    };
    Instance::load(&request, 1)
        .expect("a built-in congestion control algorithm")
        .new_flow()
}

/// A packet as a sender sends it.
fn as_data(packet: Packet<Segment>) -> Packet<DataHeader> {
    let Segment::Data(header) = packet.header else {
        panic!("a sender sends no {packet:?}");
    };
    Packet {
        flow: packet.flow,
        wire_bytes: packet.wire_bytes,
        ecn: packet.ecn,
        hop: packet.hop,
        arrived_ns: packet.arrived_ns,
        header,
    }
}

/// One line of a script.
#[derive(Debug)]
enum Line<'a> {
    /// `<`: this arrives.
    Arrives(u64, Vec<&'a str>),
    /// `>`: this leaves.
    Leaves(u64, String),
    /// `.`: nothing else happens until then.
    Passes(u64),
    /// `!`: the application does this.
    Does(u64, Vec<&'a str>),
}

fn parse(script: &str) -> Vec<Line<'_>> {
    script
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .map(|line| {
            let mut words = line.split_whitespace();
            let (time_ns, sign) = match (words.next(), words.next()) {
                (Some(time), Some(sign)) => (parse_ms(time), sign),
                _ => panic!("`{line}` is not `time < > . or !`"),
            };
            let words: Vec<&str> = words.collect();
            match sign {
                "<" => Line::Arrives(time_ns, words),
                ">" => Line::Leaves(time_ns, words.join(" ")),
                "." => Line::Passes(time_ns),
                "!" => Line::Does(time_ns, words),
                _ => panic!("`{line}`: use `<`, `>`, `.` or `!`"),
            }
        })
        .collect()
}

/// Milliseconds with at most six decimals, in ns: exact.
fn parse_ms(text: &str) -> u64 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let parse = |digits: &str| digits.parse::<u64>().expect("a time in ms");
    parse(whole) * NS_PER_MS + parse(&format!("{fraction:0<6}"))
}

/// The inverse of [`parse_ms`].
fn format_ms(time_ns: u64) -> String {
    let (whole, fraction) = (time_ns / NS_PER_MS, time_ns % NS_PER_MS);
    let text = format!("{whole}.{fraction:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `3` is segment 3, `3:6` are 3, 4 and 5.
fn parse_range(text: &str) -> SackBlock {
    let parse = |digits: &str| digits.parse::<u32>().expect("a segment number");
    match text.split_once(':') {
        Some((start, end)) => SackBlock {
            start: parse(start),
            end: parse(end),
        },
        None => SackBlock {
            start: parse(text),
            end: parse(text) + 1,
        },
    }
}

fn format_range(start: u32, end: u32) -> String {
    if end == start + 1 {
        start.to_string()
    } else {
        format!("{start}:{end}")
    }
}

/// Compares what left with the script, line by line.
fn assert_same(left: &[(u64, String)], want: &[(u64, String)]) {
    let show = |lines: &[(u64, String)]| {
        lines.iter().fold(String::new(), |mut text, (time, what)| {
            let _ = writeln!(text, "    {} > {what}", format_ms(*time));
            text
        })
    };
    assert!(
        left == want,
        "what left\n{}is not what the script says\n{}",
        show(left),
        show(want)
    );
}
