//! A host's timers fire at multiples of its granularity, from an origin of its own.

use std::collections::BTreeSet;

use dumbbell_quic::End;

use crate::path::Path;

const GRANULARITY_NS: u64 = 1_000_000;

/// Where between two multiples the sender's timers are due within a second of bulk transfer.
fn phases(seed: u64) -> BTreeSet<u64> {
    let mut path = Path::new("quic/noq:bbr3", seed, None);
    let mut phases = BTreeSet::new();
    while path.step(1_000_000_000) {
        let timer_ns = path.pair.next_timer_ns(End::Sender);
        phases.insert(timer_ns % GRANULARITY_NS);
    }
    phases
}

/// Hosts whose timers fired in step would send in step, and the queue would drop the same one's packets each time.
#[test]
fn two_hosts_are_not_in_step() {
    let all = [1, 2, 3].map(phases);
    for own in &all {
        assert_eq!(own.len(), 1, "one host's timers are in step");
    }
    let different: BTreeSet<_> = all.iter().flatten().collect();
    assert_eq!(different.len(), 3, "{different:?}");
}
