//! A direction over time, in bins; they get wider as it lasts.

/// Initial width of an adaptive bin.
const FIRST_WIDTH_NS: u64 = 1_000_000;
/// Largest number of bins of a fixed width; beyond it, bins widen as well.
const MAX_FIXED_BINS: usize = 1 << 17;
/// No window known; see [`Bin::window_bytes`].
const UNKNOWN: u64 = u64::MAX;

/// What happened in one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    /// The bin starts at `index` × width.
    pub(crate) index: u64,
    pub(crate) rtt_count: u32,
    pub(crate) retransmitted_pkts: u32,
    pub(crate) rtt_sum_ns: u64,
    pub(crate) rtt_max_ns: u64,
    /// From the point to the data's sender and back.
    pub(crate) near_rtt_count: u32,
    /// Retransmissions of what was lost before the point.
    pub(crate) unseen_original_pkts: u32,
    pub(crate) near_rtt_sum_ns: u64,
    /// At the end of the bin.
    pub(crate) inflight_bytes: u64,
    /// At the end of the bin.
    pub(crate) inflight_sack_bytes: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) unique_bytes: u64,
    window_bytes: u64,
}

impl Bin {
    /// The window that the other side last advertised.
    pub(crate) fn window_bytes(&self) -> Option<u64> {
        (self.window_bytes != UNKNOWN).then_some(self.window_bytes)
    }

    pub(crate) fn set_window(&mut self, window_bytes: Option<u64>) {
        self.window_bytes = window_bytes.unwrap_or(UNKNOWN);
    }

    /// Merges the bin that followed.
    fn absorb(&mut self, later: &Self) {
        self.rtt_count += later.rtt_count;
        self.retransmitted_pkts += later.retransmitted_pkts;
        self.rtt_sum_ns = self.rtt_sum_ns.saturating_add(later.rtt_sum_ns);
        self.rtt_max_ns = self.rtt_max_ns.max(later.rtt_max_ns);
        self.near_rtt_count += later.near_rtt_count;
        self.unseen_original_pkts += later.unseen_original_pkts;
        self.near_rtt_sum_ns = self.near_rtt_sum_ns.saturating_add(later.near_rtt_sum_ns);
        self.inflight_bytes = later.inflight_bytes;
        self.inflight_sack_bytes = later.inflight_sack_bytes;
        self.payload_bytes += later.payload_bytes;
        self.unique_bytes += later.unique_bytes;
        self.window_bytes = later.window_bytes;
    }
}

/// Bins of one direction; empty ones are omitted.
#[derive(Clone, Debug)]
pub(crate) struct BinSeries {
    bins: Vec<Bin>,
    width_ns: u64,
    max_bins: usize,
    /// End of the last bin.
    end_ns: u64,
}

impl BinSeries {
    /// `interval_ns` wide, or as wide as needed for `max_bins`.
    pub(crate) fn new(interval_ns: Option<u64>, max_bins: usize) -> Self {
        Self {
            bins: Vec::new(),
            width_ns: interval_ns.unwrap_or(FIRST_WIDTH_NS).max(1),
            max_bins: if interval_ns.is_some() {
                MAX_FIXED_BINS
            } else {
                max_bins.max(2)
            },
            end_ns: 0,
        }
    }

    pub(crate) fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// Memory of the bins.
    #[inline]
    pub(crate) fn held_bytes(&self) -> usize {
        self.bins.capacity() * size_of::<Bin>()
    }

    /// Halves the number of bins, at least; they get wider.
    pub(crate) fn coarsen(&mut self) {
        self.widen_to(self.bins.len() / 2);
        self.end_ns = self
            .bins
            .last()
            .map_or(0, |last| (last.index + 1).saturating_mul(self.width_ns));
        self.bins.shrink_to_fit();
    }

    pub(crate) fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// The bin at `since_ns` since the capture's first packet; the last one if time went back.
    #[inline]
    pub(crate) fn at(&mut self, since_ns: u64) -> &mut Bin {
        if since_ns >= self.end_ns {
            self.open(since_ns);
        }
        self.bins.last_mut().expect("one was opened")
    }

    fn open(&mut self, since_ns: u64) {
        if self.bins.len() >= self.max_bins {
            self.widen_to(self.max_bins / 2);
        }
        let index = since_ns / self.width_ns;
        self.end_ns = (index + 1).saturating_mul(self.width_ns);
        if self.bins.last().is_some_and(|last| last.index >= index) {
            return;
        }
        self.bins.push(Bin {
            index,
            rtt_count: 0,
            retransmitted_pkts: 0,
            rtt_sum_ns: 0,
            rtt_max_ns: 0,
            near_rtt_count: 0,
            unseen_original_pkts: 0,
            near_rtt_sum_ns: 0,
            inflight_bytes: 0,
            inflight_sack_bytes: 0,
            payload_bytes: 0,
            unique_bytes: 0,
            window_bytes: UNKNOWN,
        });
    }

    /// Doubles the width until there are few enough bins.
    fn widen_to(&mut self, max_bins: usize) {
        while self.bins.len() > max_bins.max(1) {
            self.width_ns = self.width_ns.saturating_mul(2);
            for bin in &mut self.bins {
                bin.index /= 2;
            }
            self.bins.dedup_by(|later, kept| {
                let is_same = later.index == kept.index;
                if is_same {
                    kept.absorb(later);
                }
                is_same
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_widen_and_lose_nothing() {
        let mut series = BinSeries::new(None, 8);
        for millisecond in 0..1000u64 {
            let bin = series.at(millisecond * 1_000_000);
            bin.payload_bytes += 10;
            bin.inflight_bytes = millisecond;
        }
        assert!(series.bins().len() <= 8);
        assert_eq!(
            series
                .bins()
                .iter()
                .map(|bin| bin.payload_bytes)
                .sum::<u64>(),
            10_000
        );
        assert_eq!(
            series.bins().last().map(|bin| bin.inflight_bytes),
            Some(999)
        );
        let starts: Vec<u64> = series.bins().iter().map(|bin| bin.index).collect();
        assert!(starts.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn sparse_bins_widen_as_far_as_it_takes() {
        let mut series = BinSeries::new(None, 4);
        for power in 0..60 {
            series.at(1 << power).payload_bytes += 1;
        }
        assert!(series.bins().len() <= 4);
        assert_eq!(
            series
                .bins()
                .iter()
                .map(|bin| bin.payload_bytes)
                .sum::<u64>(),
            60
        );
    }

    #[test]
    fn a_fixed_width_stays() {
        let mut series = BinSeries::new(Some(10), 4);
        for time_ns in [0, 9, 10, 95, 40] {
            series.at(time_ns).payload_bytes += 1;
        }
        assert_eq!(series.width_ns(), 10);
        let bins: Vec<_> = series
            .bins()
            .iter()
            .map(|b| (b.index, b.payload_bytes))
            .collect();
        assert_eq!(
            bins,
            [(0, 2), (1, 1), (9, 2)],
            "time that goes back stays in the last bin"
        );
    }
}
