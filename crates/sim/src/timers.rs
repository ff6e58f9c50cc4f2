//! Which endpoint wants to be woken when.

use crate::earliest::{WIDTH, earliest, index_of};

/// Deadlines of many endpoints, of which each has one that moves all the time.
///
/// A tournament: level 0 has the endpoints' entries, each level above the earliest of every
/// eight below. A deadline that moves later leaves its entry where it is, to be looked at
/// then; only one that moves earlier is entered. An RTO that every ACK pushes out thus
/// costs nothing, and an entry costs one cache line per level, without a branch to mispredict.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Entries, ns; `u64::MAX`: none. The last level has one node, the earliest of all.
    levels: Vec<Vec<[u64; WIDTH]>>,
}

impl Timers {
    pub(crate) fn new(endpoints: usize) -> Self {
        let mut levels = Vec::new();
        let mut entries = endpoints.max(1);
        loop {
            let nodes = entries.div_ceil(WIDTH);
            levels.push(vec![[u64::MAX; WIDTH]; nodes]);
            if nodes == 1 {
                return Self { levels };
            }
            entries = nodes;
        }
    }

    /// The endpoint's deadline is now `due_ns` (`u64::MAX`: none). Returns whether that may change
    /// [`Timers::next_ns`].
    #[inline]
    pub(crate) fn set(&mut self, endpoint: u32, due_ns: u64) -> bool {
        let entry = endpoint as usize;
        let is_earlier = due_ns < self.levels[0][entry / WIDTH][entry % WIDTH];
        if is_earlier {
            self.enter(entry, due_ns);
        }
        is_earlier
    }

    /// When the next endpoint may want to be woken, ns; it may turn out that it does not.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.levels.last().map_or(u64::MAX, |top| earliest(&top[0]))
    }

    /// Takes the next endpoint out, at equal times the one with the lower number; its
    /// deadline must be set again.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let due_ns = self.next_ns();
        if due_ns == u64::MAX {
            return None;
        }
        // From the root to the first child that is due then: one is, or its parent would not be.
        let levels = self.levels.iter().rev();
        let entry = levels.fold(0, |node, level| {
            node * WIDTH + index_of(&level[node], due_ns)
        });
        self.enter(entry, u64::MAX);
        Some(entry as u32)
    }

    #[inline]
    fn enter(&mut self, mut entry: usize, mut due_ns: u64) {
        for level in &mut self.levels {
            let node = &mut level[entry / WIDTH];
            node[entry % WIDTH] = due_ns;
            due_ns = earliest(node);
            entry /= WIDTH;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_deadline_wins_and_a_later_one_waits_at_its_old_time() {
        let mut timers = Timers::new(3);
        timers.set(0, 50);
        timers.set(1, 20);
        timers.set(0, 10);
        timers.set(1, 90);
        assert_eq!((timers.next_ns(), timers.pop()), (10, Some(0)));
        assert_eq!(
            (timers.next_ns(), timers.pop()),
            (20, Some(1)),
            "looked at when first due"
        );
        assert_eq!(timers.pop(), None, "both were taken out");
    }

    #[test]
    fn equal_deadlines_go_by_number() {
        let mut timers = Timers::new(70);
        for endpoint in [64, 2, 9, 1, 69] {
            timers.set(endpoint, 5);
        }
        let order: Vec<u32> = std::iter::from_fn(|| timers.pop()).collect();
        assert_eq!(order, [1, 2, 9, 64, 69]);
    }
}
