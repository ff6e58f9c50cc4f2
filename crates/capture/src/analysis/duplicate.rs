//! Packets that the capture has twice: duplicated by the network or the capture, not by TCP.

use crate::packet::TcpPacket;

/// Number of previous packets that are compared (as in tcptrace).
const REMEMBERED: usize = 8;

/// The last packets of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecentPackets {
    fingerprints: [u64; REMEMBERED],
    next: u8,
}

impl RecentPackets {
    /// Whether the packet is one of the last, by its IP id and everything in its headers that a
    /// later transmission would change; remembers it. IPv6 has no id, and 0 means none (RFC 6864).
    #[inline]
    pub(crate) fn is_repeated(&mut self, packet: &TcpPacket) -> bool {
        let Some(ip_id) = packet.ip_id.filter(|&id| id != 0) else {
            return false;
        };
        let fingerprint = fingerprint(packet, ip_id);
        if self.fingerprints.contains(&fingerprint) {
            return true;
        }
        self.fingerprints[usize::from(self.next)] = fingerprint;
        self.next = (self.next + 1) % REMEMBERED as u8;
        false
    }
}

/// A hash of the packet, never 0.
#[inline]
fn fingerprint(packet: &TcpPacket, ip_id: u16) -> u64 {
    // Odd multipliers that spread each field over the upper half.
    const MULTIPLIERS: [u64; 3] = [
        0x9e37_79b9_7f4a_7c15,
        0xbf58_476d_1ce4_e5b9,
        0x94d0_49bb_1331_11eb,
    ];
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
