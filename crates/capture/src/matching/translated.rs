//! Connections whose addresses or ports are translated between the captures (NAT).

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::Matcher;
use crate::ends::Ends;

/// Their ends, where addresses or ports are translated.
#[derive(Clone, Debug, Default)]
pub struct Translated(Arc<HashSet<Ends, RandomState>>);

impl Translated {
    pub(super) fn new(ends: HashSet<Ends, RandomState>) -> Self {
        Self(Arc::new(ends))
    }

    #[inline]
    pub(super) fn has(&self, ends: &Ends) -> bool {
        self.0.contains(ends)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Matcher {
    /// A flow of the second capture is one of the first, with other addresses or ports.
    pub(super) fn merge(&mut self, after: usize, before: usize) {
        if after == before || self.flows[after].merged_into.is_some() {
            return;
        }
        let merged = &mut self.flows[after];
        if merged.places[0] > 0 {
            return;
        }
        merged.merged_into = Some(before);
        let (places, largest_bytes) = (merged.places[1], merged.largest_bytes[1]);
        let only_after_pkts = merged.only_after_pkts;
        let flow = &mut self.flows[before];
        flow.places[1] += places;
        flow.largest_bytes[1] = flow.largest_bytes[1].max(largest_bytes);
        flow.only_after_pkts += only_after_pkts;
        self.totals.translated_directions += 1;
    }

    /// Ends of connections in one capture only, if there are some on either side.
    pub(super) fn one_sided(&self) -> HashSet<Ends, RandomState> {
        let places = |known: &[Option<usize>; 2], side: usize| -> u64 {
            known
                .iter()
                .flatten()
                .map(|&flow| self.flows[flow].places[side])
                .sum()
        };
        let of = |missing: usize| {
            let ends = self
                .by_ends
                .iter()
                .filter(move |(_, known)| places(known, missing) == 0);
            ends.map(|(&ends, _)| ends).collect()
        };
        let [only_after, only_before]: [HashSet<Ends, RandomState>; 2] = [of(0), of(1)];
        if only_after.is_empty() || only_before.is_empty() {
            return HashSet::default();
        }
        only_after.union(&only_before).copied().collect()
    }
}
