//! What `tc -s` shows of a tin.

use super::tin::Tin;

/// Counts of a tin, and moving averages of its packets' delays.
#[derive(Clone, Copy, Debug)]
pub(super) struct TinStatistics {
    bytes_per_s: u64,
    flow_quantum_bytes: u64,
    pub(super) pkts: u64,
    pub(super) bytes: u64,
    pub(super) drops: u64,
    pub(super) marks: u64,
    pub(super) ack_drops: u64,
    pub(super) max_len_bytes: u64,
    peak_delay_ns: u64,
    average_delay_ns: u64,
    base_delay_ns: u64,
}

impl TinStatistics {
    pub(super) fn new(bytes_per_s: u64, flow_quantum_bytes: u64) -> Self {
        Self {
            bytes_per_s,
            flow_quantum_bytes,
            pkts: 0,
            bytes: 0,
            drops: 0,
            marks: 0,
            ack_drops: 0,
            max_len_bytes: 0,
            peak_delay_ns: 0,
            average_delay_ns: 0,
            base_delay_ns: 0,
        }
    }

    /// A packet leaves after so long a time. The peak rises quickly and falls slowly; the lowest delay,
    /// that of sparse flows, the other way round.
    #[inline]
    pub(super) fn note_delay(&mut self, delay_ns: u64) {
        let average = |average: u64, shift| average - (average >> shift) + (delay_ns >> shift);
        let peak_shift = if delay_ns > self.peak_delay_ns { 2 } else { 8 };
        let base_shift = if delay_ns < self.base_delay_ns { 2 } else { 8 };
        self.average_delay_ns = average(self.average_delay_ns, 8);
        self.peak_delay_ns = average(self.peak_delay_ns, peak_shift);
        self.base_delay_ns = average(self.base_delay_ns, base_shift);
    }
}

/// Statistics of each tin have its number in their names.
macro_rules! names {
    ($($tin:literal),+) => {
        [$([
            concat!("tin", $tin, "_thresh_bps"),
            concat!("tin", $tin, "_target_ns"),
            concat!("tin", $tin, "_interval_ns"),
            concat!("tin", $tin, "_pk_delay_ns"),
            concat!("tin", $tin, "_av_delay_ns"),
            concat!("tin", $tin, "_sp_delay_ns"),
            concat!("tin", $tin, "_backlog_bytes"),
            concat!("tin", $tin, "_pkts"),
            concat!("tin", $tin, "_bytes"),
            concat!("tin", $tin, "_way_inds_pkts"),
            concat!("tin", $tin, "_way_miss_pkts"),
            concat!("tin", $tin, "_way_cols_pkts"),
            concat!("tin", $tin, "_drops_pkts"),
            concat!("tin", $tin, "_marks_pkts"),
            concat!("tin", $tin, "_ack_drop_pkts"),
            concat!("tin", $tin, "_sp_flows"),
            concat!("tin", $tin, "_bk_flows"),
            concat!("tin", $tin, "_un_flows"),
            concat!("tin", $tin, "_max_len_bytes"),
            concat!("tin", $tin, "_quantum_bytes"),
        ]),+]
    };
}

const NAMES: [[&str; 20]; 8] = names!(0, 1, 2, 3, 4, 5, 6, 7);

impl<H> Tin<H> {
    /// Calls `show` with what `tc -s` shows of tin `number`, in its order.
    pub(super) fn show(&self, number: usize, show: &mut dyn FnMut(&'static str, u64)) {
        let (statistics, counts, ways) = (&self.statistics, &self.counts, &self.isolator.counts);
        let values = [
            statistics.bytes_per_s * 8,
            self.settings.target_ns as u64,
            self.settings.interval_ns as u64,
            statistics.peak_delay_ns,
            statistics.average_delay_ns,
            statistics.base_delay_ns,
            self.backlog_bytes,
            statistics.pkts,
            statistics.bytes,
            ways.indirect,
            ways.misses,
            ways.collisions,
            statistics.drops,
            statistics.marks,
            statistics.ack_drops,
            counts.sparse + counts.decaying,
            counts.bulk,
            counts.unresponsive,
            statistics.max_len_bytes,
            statistics.flow_quantum_bytes,
        ];
        for (name, value) in NAMES[number].into_iter().zip(values) {
            show(name, value);
        }
    }
}
