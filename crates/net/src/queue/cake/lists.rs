//! The lists that a tin's flows are on. A flow is on one of them or on none.

use super::QUEUES;

/// Neighbours of a flow on its list; alone with itself when it is on none.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    next: u16,
    previous: u16,
}

/// A list: where its ring begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Flows that have just begun to send, or send little.
    New = QUEUES as isize,
    /// Flows that take turns.
    Old,
    /// Empty queues whose AQM has not come to rest.
    Decaying,
}

/// Rings through arrays, so that a flow changes its list without a search and without an allocation.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    neighbours: Box<[Neighbours]>,
}

impl Lists {
    pub(super) fn new() -> Self {
        let alone = |index| Neighbours {
            next: index,
            previous: index,
        };
        Self {
            neighbours: (0..QUEUES as u16 + 3).map(alone).collect(),
        }
    }

    /// The first flow of a list.
    #[inline]
    pub(super) fn front(&self, list: List) -> Option<usize> {
        let first = self.neighbours[list as usize].next;
        (usize::from(first) < QUEUES).then_some(usize::from(first))
    }

    /// The flow behind one on its list; behind the last is the first.
    #[inline]
    pub(super) fn behind(&self, flow: usize, list: List) -> usize {
        let next = usize::from(self.neighbours[flow].next);
        if next < QUEUES {
            return next;
        }
        usize::from(self.neighbours[list as usize].next)
    }

    /// The flows before `first` go to the end of its list, in their order: what moves is where the ring begins.
    #[inline]
    pub(super) fn begin_with(&mut self, first: usize, list: List) {
        self.remove(list as usize);
        let last = std::mem::replace(&mut self.neighbours[first].previous, list as u16);
        self.neighbours[usize::from(last)].next = list as u16;
        self.neighbours[list as usize] = Neighbours {
            next: first as u16,
            previous: last,
        };
    }

    /// Takes a flow off its list, if it is on one.
    #[inline]
    pub(super) fn remove(&mut self, flow: usize) {
        let Neighbours { next, previous } = self.neighbours[flow];
        self.neighbours[usize::from(previous)].next = next;
        self.neighbours[usize::from(next)].previous = previous;
        self.neighbours[flow] = Neighbours {
            next: flow as u16,
            previous: flow as u16,
        };
    }

    /// Puts a flow at the end of a list, from wherever it is.
    #[inline]
    pub(super) fn move_to_end(&mut self, flow: usize, list: List) {
        self.remove(flow);
        let last = std::mem::replace(&mut self.neighbours[list as usize].previous, flow as u16);
        self.neighbours[usize::from(last)].next = flow as u16;
        self.neighbours[flow] = Neighbours {
            next: list as u16,
            previous: last,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_begin_with_a_flow_is_to_move_those_before_it_to_the_end() {
        let order = |mut lists: Lists| {
            let next = || {
                let flow = lists.front(List::Old)?;
                lists.remove(flow);
                Some(flow)
            };
            std::iter::from_fn(next).collect::<Vec<_>>()
        };
        let all = [4, 1, 7, 2];
        for count in 1..=all.len() {
            for before in 0..count {
                let mut lists = Lists::new();
                (all[..count].iter()).for_each(|&flow| lists.move_to_end(flow, List::Old));
                let mut moved = lists.clone();
                (all[..before].iter()).for_each(|&flow| moved.move_to_end(flow, List::Old));
                lists.begin_with(all[before], List::Old);
                let walk = |&flow: &usize| Some(lists.behind(flow, List::Old));
                let walked = std::iter::successors(Some(all[before]), walk).take(count);
                assert!(walked.eq(order(moved.clone())));
                assert_eq!(order(lists), order(moved));
            }
        }
    }

    #[test]
    fn flows_leave_lists_in_order_and_from_the_middle() {
        let mut lists = Lists::new();
        assert_eq!(lists.front(List::New), None);
        for flow in [3, 5, 7] {
            lists.move_to_end(flow, List::Old);
        }
        lists.move_to_end(5, List::New);
        let mut order = Vec::new();
        while let Some(flow) = lists.front(List::Old) {
            order.push(flow);
            lists.remove(flow);
        }
        assert_eq!((order, lists.front(List::New)), (vec![3, 7], Some(5)));
        lists.move_to_end(5, List::New);
        assert_eq!(lists.front(List::New), Some(5), "alone on its list");
    }
}
