//! CAKE's ACK filter: a pure ACK that arrives may make an older one superfluous that still waits.

use std::collections::VecDeque;

use crate::{Header, Packet, PureAck, SackOrder, packet::is_after};

/// ECE and CWR of [`PureAck::ecn_flags`], and AE.
const ECE_CWR: u8 = 0b011;
const AE: u8 = 0b100;

/// The packet of a flow's queue that the one that has just joined at its end makes superfluous.
///
/// As in Linux, an ACK is dropped only if another pure ACK lies between or, in aggressive mode, if it is right
/// before the new one; only if the new one acknowledges at least as much and reports all that it reports;
/// and never where ECE or CWR change, which would lose a signal. There data with an ACK can make older ACKs
/// superfluous too; here only a pure ACK does.
#[inline]
pub(super) fn superfluous<H: Header>(
    packets: &VecDeque<Packet<H>>,
    is_aggressive: bool,
) -> Option<usize> {
    let last = packets.len() - 1;
    let arrived = packets.get(last)?;
    if last == 0 {
        return None;
    }
    let ack = arrived.header.pure_ack()?;
    let mut candidate: Option<(usize, u8)> = None;
    let mut found = 0;
    for (index, packet) in packets.iter().take(last).enumerate() {
        if packet.flow != arrived.flow || packet.header.is_forward() != arrived.header.is_forward()
        {
            continue;
        }
        let Some(older) = packet.header.pure_ack() else {
            continue;
        };
        let flags = older.ecn_flags & ECE_CWR;
        if candidate.is_some_and(|(_, of_candidate)| of_candidate != flags) {
            candidate = None;
            found -= 1;
        }
        if !may_be_dropped(&older, &ack) {
            continue;
        }
        match arrived.header.sack_order(&packet.header) {
            SackOrder::Less => continue,
            SackOrder::Same if older.number == ack.number => continue,
            SackOrder::Same | SackOrder::More => {}
        }
        let (first, _) = *candidate.get_or_insert((index, flags));
        if found > 0 {
            return Some(first);
        }
        found += 1;
    }
    let (index, flags) = candidate?;
    let is_right_before = index + 1 == last;
    (is_aggressive && is_right_before && flags == ack.ecn_flags & ECE_CWR).then_some(index)
}

/// Whether an older ACK, SACK blocks apart, says nothing that the new one does not.
fn may_be_dropped(older: &PureAck, ack: &PureAck) -> bool {
    !older.says_more
        && older.ecn_flags & AE == 0
        && !older.is_after(ack)
        && !is_after(older.ts_val, ack.ts_val)
        && !is_after(older.ts_ecr, ack.ts_ecr)
}
