//! Which endpoint wants to be woken when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Deadlines of many endpoints, of which each has one that moves all the time.
///
/// A deadline that moves later stays in the heap at its old time and is looked at then;
/// only one that moves earlier is pushed. An RTO that every ACK pushes out thus costs nothing.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Earliest entry of each endpoint in the heap, ns; `u64::MAX`: none.
    queued_ns: Vec<u64>,
}

impl Timers {
    pub(crate) fn new(endpoints: usize) -> Self {
        Self { heap: BinaryHeap::new(), queued_ns: vec![u64::MAX; endpoints] }
    }

    /// The endpoint's deadline is now `due_ns` (`u64::MAX`: none).
    #[inline]
    pub(crate) fn set(&mut self, endpoint: u32, due_ns: u64) {
        let queued_ns = &mut self.queued_ns[endpoint as usize];
        if due_ns < *queued_ns {
            *queued_ns = due_ns;
            self.heap.push(Reverse((due_ns, endpoint)));
        }
    }

    /// When the next endpoint may want to be woken, ns; it may turn out that it does not.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |&Reverse((due_ns, _))| due_ns)
    }

    /// Takes the next endpoint out; its deadline must be set again.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        while let Some(Reverse((due_ns, endpoint))) = self.heap.pop() {
            let queued_ns = &mut self.queued_ns[endpoint as usize];
            if *queued_ns == due_ns {
                *queued_ns = u64::MAX;
                return Some(endpoint);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_deadline_wins_and_its_stale_twin_is_skipped() {
        let mut timers = Timers::new(3);
        timers.set(0, 50);
        timers.set(1, 20);
        timers.set(0, 10);
        assert_eq!((timers.next_ns(), timers.pop()), (10, Some(0)));
        assert_eq!(timers.pop(), Some(1));
        assert_eq!(timers.pop(), None, "the entry at 50 was superseded");
    }

    #[test]
    fn equal_deadlines_go_by_number() {
        let mut timers = Timers::new(3);
        for endpoint in [2, 0, 1] {
            timers.set(endpoint, 5);
        }
        assert_eq!([timers.pop(), timers.pop(), timers.pop()], [Some(0), Some(1), Some(2)]);
    }
}
