//! Decides which of a discipline's queues a flow is in.

use crate::random::finalize;

/// Salted hash of flows into a number of buckets. Both directions of a connection have one hash, as
/// in Linux (`skb_get_hash()` puts the addresses in order first).
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowHash {
    salt: u64,
    buckets: u32,
}

impl FlowHash {
    pub(super) fn new(salt: u64, buckets: u32) -> Self {
        Self { salt, buckets }
    }

    /// The bucket of a flow: hash·buckets / 2³², as Linux's `reciprocal_scale()`.
    #[inline]
    pub(super) fn bucket(self, flow: u32) -> u32 {
        let z = finalize(self.salt ^ u64::from(flow).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (((z >> 32) * u64::from(self.buckets)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the salts, of 1000, with which flow 0 shares its bucket with at most `others` of 99 other flows.
    fn salts_with_at_most(others: usize, salts: u64) -> f64 {
        let good = (0..salts).filter(|&salt| {
            let hash = FlowHash::new(salt.wrapping_mul(0xd134_2543_de82_ef95), 1024);
            let own = hash.bucket(0);
            (1..100).filter(|&flow| hash.bucket(flow) == own).count() <= others
        });
        good.count() as f64 / salts as f64
    }

    /// RFC 8290 §5.3: of 100 flows in 1024 queues one is alone with 90.78 %, and shares with at most
    /// one other with 99.57 %.
    #[test]
    fn flows_collide_as_seldom_as_chance_has_it() {
        let salts = 20_000;
        let tolerance = |p: f64| 4.0 * (p * (1.0 - p) / salts as f64).sqrt();
        for (others, expected) in [(0, 0.9078), (1, 0.9957)] {
            let found = salts_with_at_most(others, salts);
            assert!(
                (found - expected).abs() < tolerance(expected),
                "{found} with at most {others} others"
            );
        }
    }

    #[test]
    fn every_bucket_is_used_and_none_beyond() {
        for buckets in [1, 3, 1024] {
            let hash = FlowHash::new(7, buckets);
            let used: std::collections::BTreeSet<_> =
                (0..20 * buckets).map(|flow| hash.bucket(flow)).collect();
            assert!(used.iter().all(|&bucket| bucket < buckets));
            assert!(used.len() as u32 >= buckets - buckets / 100);
        }
    }
}
