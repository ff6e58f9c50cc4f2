//! Packets that the capture has twice: duplicated by the network or the capture, not by TCP.
//!
//! A repeated packet is a copy, and no retransmission, if nothing in its headers has changed and the first one is too
//! recent for a retransmission. How recent that is depends on what would tell a retransmission apart:
//!
//! | the packet has | a copy comes within |
//! |---|---|
//! | an IP id: most stacks change it for a retransmission | the shortest round trip, 10 to 200 ms |
//! | no id (IPv6, or 0: RFC 6864), but timestamps | the shortest round trip, 1 to 200 ms |
//! | neither | the shortest round trip, 0.1 to 200 ms |
//!
//! A duplicate ACK repeats the ACK before it in everything but the id. Without one it is a copy only in a capture that
//! has copies of most of the connection's data and SYNs, and at most as late as those.

use crate::packet::{TcpFlags, TcpPacket};

/// Number of previous packets that are compared (as in tcptrace).
const REMEMBERED: usize = 8;
/// No timer expires earlier: Linux's `TCP_RTO_MIN`.
const TIMER_NS: u64 = 200_000_000;
/// For any round trip: copies by another path of the network, by another interface, by a mirror port.
const WITH_ID_NS: u64 = 10_000_000;
const WITH_TIMESTAMPS_NS: u64 = 1_000_000;
const BARE_NS: u64 = 100_000;

/// How often a connection's packets without an IP id that take sequence numbers were captured twice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CopyTally {
    originals: u32,
    copies: u32,
    longest_gap_ns: u64,
}

impl CopyTally {
    /// How soon an equal ACK is a copy: not at all unless most packets have copies; the last may still get one.
    fn limit_of_ack_ns(self) -> u64 {
        let is_mirrored =
            self.copies > 0 && self.copies.saturating_add(1).saturating_mul(2) >= self.originals;
        if is_mirrored {
            2 * self.longest_gap_ns.max(1)
        } else {
            0
        }
    }
}

/// The last packets of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecentPackets {
    /// The lower half of each fingerprint: half as many instructions find that there is none.
    halves: [u32; REMEMBERED],
    fingerprints: [u64; REMEMBERED],
    times_ns: [u64; REMEMBERED],
    next: u8,
    /// Since the packet that the last one repeats; the last of those without an id.
    gap_ns: u64,
}

impl RecentPackets {
    /// Whether the packet is a copy of one of the last; remembers it. `earliest_ns`: how
    /// soon its sender may send anything again, if that is known; `copies`: of the connection.
    #[inline]
    pub(crate) fn is_copy(
        &mut self,
        packet: &TcpPacket,
        earliest_ns: impl FnOnce() -> Option<u64>,
        copies: &mut CopyTally,
    ) -> bool {
        let ip_id = packet.ip_id.unwrap_or(0);
        if ip_id == 0 {
            return self.is_copy_without_id(packet, earliest_ns(), copies);
        }
        let print = fingerprint(packet, ip_id);
        if self.halves.contains(&(print as u32)) {
            return self.is_soon(print, packet, limit_ns(packet, WITH_ID_NS, earliest_ns()));
        }
        self.remember(print, packet.time_ns);
        false
    }

    /// Whether the packet with that fingerprint came within the limit; remembers it if not.
    #[cold]
    fn is_soon(&mut self, print: u64, packet: &TcpPacket, limit_ns: u64) -> bool {
        let same = (self.fingerprints.iter()).position(|&known| known == print);
        let Some(index) = same else {
            self.remember(print, packet.time_ns);
            return false;
        };
        let gap_ns = packet.time_ns.abs_diff(self.times_ns[index]);
        self.gap_ns = gap_ns;
        if gap_ns >= limit_ns {
            self.times_ns[index] = packet.time_ns;
        }
        gap_ns < limit_ns
    }

    #[inline]
    fn remember(&mut self, print: u64, time_ns: u64) {
        let at = usize::from(self.next) % REMEMBERED;
        self.halves[at] = print as u32;
        self.fingerprints[at] = print;
        self.times_ns[at] = time_ns;
        self.next = self.next.wrapping_add(1);
    }

    #[inline(never)]
    fn is_copy_without_id(
        &mut self,
        packet: &TcpPacket,
        earliest_ns: Option<u64>,
        tally: &mut CopyTally,
    ) -> bool {
        let takes_sequence_numbers =
            packet.payload_bytes > 0 || packet.flags.has(TcpFlags::SYN | TcpFlags::FIN);
        let limit_ns = if takes_sequence_numbers {
            let least_ns = match packet.timestamps {
                Some(_) => WITH_TIMESTAMPS_NS,
                None => BARE_NS,
            };
            limit_ns(packet, least_ns, earliest_ns)
        } else {
            tally.limit_of_ack_ns()
        };
        self.gap_ns = u64::MAX;
        let print = with_blocks(fingerprint(packet, 0), packet);
        let is_copy = self.is_soon(print, packet, limit_ns);
        if takes_sequence_numbers && is_copy {
            tally.copies = tally.copies.saturating_add(1);
            tally.longest_gap_ns = tally.longest_gap_ns.max(self.gap_ns);
        } else if takes_sequence_numbers {
            tally.originals = tally.originals.saturating_add(1);
        }
        is_copy
    }

    /// Whether the last packet may be a copy although nothing proves it: its headers would be the same if it had been
    /// sent again, and its original is recent.
    pub(crate) fn may_be_copy(&self, packet: &TcpPacket) -> bool {
        let is_bare = packet.ip_id.unwrap_or(0) == 0 && packet.timestamps.is_none();
        is_bare && self.gap_ns < TIMER_NS
    }
}

/// A packet that repeats another this much later may have been sent again, if only a change of its headers would have
/// said so within `least_ns`.
#[cold]
fn limit_ns(packet: &TcpPacket, least_ns: u64, earliest_ns: Option<u64>) -> u64 {
    if let Some(earliest_ns) = earliest_ns {
        return earliest_ns.clamp(least_ns, TIMER_NS);
    }
    // A SYN is sent again by a timer only.
    if least_ns == WITH_ID_NS || packet.flags.has(TcpFlags::SYN) {
        TIMER_NS / 2
    } else {
        least_ns
    }
}

// Odd multipliers that spread each field over the upper half.
const MULTIPLIERS: [u64; 3] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
];

/// A hash of the packet, never 0.
#[inline]
fn fingerprint(packet: &TcpPacket, ip_id: u16) -> u64 {
    let (tsval, tsecr) = packet.timestamps.unwrap_or((0, 0));
    let sequence = u64::from(packet.seq) << 32 | u64::from(packet.ack);
    let timestamps = u64::from(tsval) << 32 | u64::from(tsecr);
    let rest = u64::from(packet.payload_bytes) << 48
        ^ u64::from(packet.flags.0) << 32
        ^ u64::from(packet.window) << 16
        ^ u64::from(ip_id);
    let mut mixed = sequence.wrapping_mul(MULTIPLIERS[0]);
    mixed = (mixed ^ mixed >> 32 ^ timestamps).wrapping_mul(MULTIPLIERS[1]);
    mixed = (mixed ^ mixed >> 32 ^ rest).wrapping_mul(MULTIPLIERS[2]);
    mixed ^ mixed >> 32 | 1
}

/// The SACK blocks too, by which duplicate ACKs differ.
fn with_blocks(print: u64, packet: &TcpPacket) -> u64 {
    let blocks = packet.sack.as_slice().iter();
    let mixed = blocks.fold(print, |mixed, &(start, end)| {
        let block = u64::from(start) << 32 | u64::from(end);
        (mixed ^ mixed >> 32 ^ block).wrapping_mul(MULTIPLIERS[0])
    });
    mixed | 1
}
