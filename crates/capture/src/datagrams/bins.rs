//! Packets of a flow over time; bins get wider as it lasts.

/// Width of the bins at first.
const FIRST_WIDTH_NS: u64 = 1_000_000;

/// What happened in one interval; sides as in the flow's key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    /// It starts at `index` × width.
    pub(super) index: u64,
    pub(super) pkts: [u32; 2],
    pub(super) bytes: [u64; 2],
    pub(super) largest_bytes: [u32; 2],
    /// Round trips that the spin bit showed, and their sum.
    pub(super) spins: [u32; 2],
    pub(super) spin_ns: [u64; 2],
}

/// Bins of a flow; empty ones are omitted.
#[derive(Debug)]
pub(super) struct Bins {
    bins: Vec<Bin>,
    width_ns: u64,
    max_bins: usize,
}

impl Bins {
    pub(super) fn new(max_bins: usize) -> Self {
        Self {
            bins: Vec::new(),
            width_ns: FIRST_WIDTH_NS,
            max_bins: max_bins.max(2),
        }
    }

    pub(super) fn width_ns(&self) -> u64 {
        self.width_ns
    }

    pub(super) fn all(&self) -> &[Bin] {
        &self.bins
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.bins.capacity() * size_of::<Bin>()
    }

    /// Adds a packet, and the round trip that it shows; one whose time went back counts in the last bin.
    pub(super) fn add(&mut self, since_ns: u64, side: usize, bytes: u32, spin_ns: Option<u64>) {
        let index = since_ns / self.width_ns;
        if self.bins.last().is_none_or(|last| last.index < index) {
            if self.bins.len() >= self.max_bins {
                self.widen_to(self.max_bins / 2);
                return self.add(since_ns, side, bytes, spin_ns);
            }
            self.bins.push(Bin {
                index,
                ..Bin::default()
            });
        }
        let Some(bin) = self.bins.last_mut() else {
            return;
        };
        bin.pkts[side] = bin.pkts[side].saturating_add(1);
        bin.bytes[side] += u64::from(bytes);
        bin.largest_bytes[side] = bin.largest_bytes[side].max(bytes);
        if let Some(spin_ns) = spin_ns {
            bin.spins[side] = bin.spins[side].saturating_add(1);
            bin.spin_ns[side] = bin.spin_ns[side].saturating_add(spin_ns);
        }
    }

    /// Halves the number of bins, at least.
    pub(super) fn coarsen(&mut self) {
        self.widen_to(self.bins.len() / 2);
        self.bins.shrink_to_fit();
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

impl Bin {
    /// Mean of the round trips that the spin bit showed on a side.
    pub(super) fn mean_spin_ns(&self, side: usize) -> Option<f64> {
        (self.spins[side] > 0).then(|| self.spin_ns[side] as f64 / f64::from(self.spins[side]))
    }

    fn absorb(&mut self, later: &Self) {
        for side in [0, 1] {
            self.pkts[side] = self.pkts[side].saturating_add(later.pkts[side]);
            self.bytes[side] += later.bytes[side];
            self.largest_bytes[side] = self.largest_bytes[side].max(later.largest_bytes[side]);
            self.spins[side] = self.spins[side].saturating_add(later.spins[side]);
            self.spin_ns[side] = self.spin_ns[side].saturating_add(later.spin_ns[side]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_widen_and_lose_nothing() {
        let mut bins = Bins::new(8);
        for millisecond in 0..1000u64 {
            bins.add(
                millisecond * 1_000_000,
                (millisecond % 2) as usize,
                10,
                Some(7),
            );
        }
        bins.add(0, 0, 1200, None);
        assert!(bins.all().len() <= 8);
        let total: u64 = bins.all().iter().flat_map(|bin| bin.bytes).sum();
        assert_eq!(total, 10_000 + 1200);
        let spins: u32 = bins.all().iter().flat_map(|bin| bin.spins).sum();
        assert_eq!(spins, 1000);
        assert!(
            bins.all()
                .iter()
                .all(|bin| bin.mean_spin_ns(0) == Some(7.0))
        );
        assert_eq!(
            bins.all().last().map(|bin| bin.largest_bytes),
            Some([1200, 10]),
            "time that goes back stays in the last bin"
        );
        bins.coarsen();
        let pkts: u32 = bins.all().iter().flat_map(|bin| bin.pkts).sum();
        assert_eq!(pkts, 1001);
    }
}
