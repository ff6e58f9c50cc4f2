//! The waiting ACK that the one that arrives makes superfluous.

use dumbbell_net::{Header, PureAck, SackOrder};

use super::tin::Flow;
use crate::recomputed::Waiting;

/// Whether `a` is after `b` modulo 2³².
fn after(a: u32, b: u32) -> bool {
    a != b && a.wrapping_sub(b) < 1 << 31
}

/// Whether all that `old` says is in the later `new`.
fn covers(new: &Waiting, old: &Waiting) -> bool {
    let (Some(later), Some(earlier)) = (new.labels.ack, old.labels.ack) else {
        return false;
    };
    let is_known = !earlier.says_more
        && !after(earlier.ts_val, later.ts_val)
        && !after(earlier.ts_ecr, later.ts_ecr)
        && !after(earlier.number, later.number);
    is_known
        && match new.labels.sack_order(&old.labels) {
            SackOrder::Less => false,
            SackOrder::Same => earlier.number != later.number,
            SackOrder::More => true,
        }
}

/// Takes the ACK out that the last packet of `flow` replaces. The first that may go does so when there is a second,
/// or at once when it is next to the last packet and the filter is aggressive. No change of ECN's flags is lost.
pub(super) fn filter(flow: &mut Flow, is_aggressive: bool) -> Option<Waiting> {
    let last = flow.queue.len() - 1;
    let new = flow.queue[last];
    new.labels.ack?;
    let flags = |packet: &Waiting| packet.labels.ack.map_or(0, |ack: PureAck| ack.ecn_flags);
    let mut first: Option<usize> = None;
    let mut found = 0;
    for at in 0..last {
        let old = flow.queue[at];
        // Data has flags too, but a header here does not say which.
        if old.labels.ack.is_none() {
            continue;
        }
        if first.is_some_and(|first| flags(&flow.queue[first]) != flags(&old)) {
            first = None;
            found -= 1;
        }
        if !covers(&new, &old) {
            continue;
        }
        let first = *first.get_or_insert(at);
        found += 1;
        if found > 1 {
            return flow.queue.remove(first);
        }
    }
    let first = first?;
    let is_next = first + 1 == last && flags(&flow.queue[first]) == flags(&new);
    if is_aggressive && is_next {
        return flow.queue.remove(first);
    }
    None
}
