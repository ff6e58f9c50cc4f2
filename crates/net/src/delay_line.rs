//! Propagation delay, constant or in steps.

use std::collections::VecDeque;

use crate::ring::Ring;

/// A change of a line's delay. What is on the line then keeps the time it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DelayStep {
    /// Time of the step, ns.
    pub at_ns: u64,
    /// Delay of what enters from then on, ns.
    pub delay_ns: u64,
}

/// Gives back what it takes, in order, a delay later.
#[derive(Clone, Debug)]
pub struct DelayLine<T> {
    delay_ns: u64,
    /// Delays to come, in order of time.
    steps: VecDeque<DelayStep>,
    /// When the first of them is due, ns; `u64::MAX`: never.
    next_step_ns: u64,
    /// Nothing comes out before, ns: what entered ahead of the last step.
    not_before_ns: u64,
    items: Ring<(u64, T)>,
}

impl<T> DelayLine<T> {
    /// An empty line of `delay_ns`.
    pub fn new(delay_ns: u64) -> Self {
        Self::with_steps(delay_ns, VecDeque::new())
    }

    /// An empty line of `delay_ns` at first, and of other delays later, in order of time.
    pub fn with_steps(delay_ns: u64, steps: VecDeque<DelayStep>) -> Self {
        Self {
            delay_ns,
            next_step_ns: steps.front().map_or(u64::MAX, |step| step.at_ns),
            steps,
            not_before_ns: 0,
            items: Ring::new(),
        }
    }

    /// Something enters at `now_ns`, no earlier than what entered before it. Returns when it
    /// comes out if nothing does before it: there is another [`DelayLine::next_event`].
    #[inline]
    pub fn push(&mut self, now_ns: u64, item: T) -> Option<u64> {
        self.push_made(now_ns, || item).0
    }

    /// The same of what is made at the place it is put in; also returns it.
    #[inline]
    pub(crate) fn push_made(
        &mut self,
        now_ns: u64,
        make: impl FnOnce() -> T,
    ) -> (Option<u64>, &mut T) {
        while self.next_step_ns <= now_ns {
            self.step();
        }
        // Where the delay falls, what enters catches up with what is on the line, and stays behind.
        let due_ns = (now_ns + self.delay_ns).max(self.not_before_ns);
        debug_assert!(
            self.items
                .back()
                .is_none_or(|&(last_ns, _)| last_ns <= due_ns)
        );
        let is_next = self.items.len() == 0;
        let (_, item) = self.items.push_made(|| (due_ns, make()));
        (is_next.then_some(due_ns), item)
    }

    /// Something enters at `now_ns`, which may be before or after what entered before it: it comes out in
    /// the order of the times. Returns when it comes out if it is the next.
    pub fn insert(&mut self, now_ns: u64, item: T) -> Option<u64> {
        while self.next_step_ns <= now_ns {
            self.step();
        }
        let due_ns = (now_ns + self.delay_ns).max(self.not_before_ns);
        let is_later = |other: &(u64, T)| other.0 > due_ns;
        let place = self.items.insert_before((due_ns, item), is_later);
        (place == 0).then_some(due_ns)
    }

    /// The delay of what enters from now on; it stays behind what has entered.
    pub fn set_delay(&mut self, delay_ns: u64) {
        self.delay_ns = delay_ns;
        self.not_before_ns = self.items.back().map_or(0, |&(due_ns, _)| due_ns);
    }

    /// The delay of what enters from `now_ns` on, also if steps were due before.
    pub fn change_delay(&mut self, now_ns: u64, delay_ns: u64) {
        while self.next_step_ns <= now_ns {
            self.step();
        }
        self.set_delay(delay_ns);
    }

    /// The next delay holds for what enters from now on.
    #[cold]
    fn step(&mut self) {
        if let Some(step) = self.steps.pop_front() {
            self.set_delay(step.delay_ns);
        }
        let next = self.steps.front();
        self.next_step_ns = next.map_or(u64::MAX, |step| step.at_ns);
    }

    /// When the next item comes out, ns.
    #[inline]
    pub fn next_event(&self) -> Option<u64> {
        self.items.front().map(|&(due_ns, _)| due_ns)
    }

    /// A look at the item that comes out `place` items after the next.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.items.get(place).map(|(_, item)| item)
    }

    /// Where it is, if there is one: nothing is read.
    #[inline]
    pub(crate) fn slot(&self, place: usize) -> &impl Sized {
        self.items.slot(place)
    }

    /// A look at the next item.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.items.front().map(|(_, item)| item)
    }

    /// The next item is out, whenever it is due: [`DelayLine::out`] shows it until something enters. Returns when the one
    /// behind it comes out, ns; `u64::MAX`: there is none.
    #[inline]
    pub(crate) fn let_out(&mut self) -> u64 {
        self.items.skip_front();
        self.next_event().unwrap_or(u64::MAX)
    }

    /// What came out last.
    #[inline]
    pub(crate) fn out(&self) -> Option<&T> {
        self.items.skipped().map(|(_, item)| item)
    }

    /// What came out last, to keep.
    #[inline]
    pub(crate) fn take_out(&mut self) -> Option<T> {
        self.items.take_skipped().map(|(_, item)| item)
    }

    /// The next item, whenever it is due.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        self.items.pop_front().map(|(_, item)| item)
    }

    /// The next item, if it is due at `now_ns`.
    #[inline]
    pub fn pop(&mut self, now_ns: u64) -> Option<T> {
        if self.next_event()? > now_ns {
            return None;
        }
        self.items.pop_front().map(|(_, item)| item)
    }

    /// Whether the delay will change, or has.
    pub(crate) fn changes_delay(&self) -> bool {
        !self.steps.is_empty() || self.not_before_ns > 0
    }

    /// What entered last (1), before that (2) and so on, and when it entered, ns, where the delay does not change.
    #[inline]
    pub(crate) fn nth_back(&self, place: usize) -> Option<(&T, u64)> {
        let (due_ns, item) = self.items.get(self.items.len().checked_sub(place)?)?;
        Some((item, due_ns - self.delay_ns))
    }

    /// The smallest delay that it has from now on, ns.
    pub fn least_delay_ns(&self) -> u64 {
        let later_ns = self.steps.iter().map(|step| step.delay_ns);
        later_ns.fold(self.delay_ns, u64::min)
    }

    /// Everything on the line, first out first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comes_out_after_the_delay_and_not_a_nanosecond_before() {
        let mut line = DelayLine::new(20_000_000);
        assert_eq!(line.push(5, 'a'), Some(20_000_005));
        assert_eq!(line.push(5, 'b'), None, "the first comes out before it");
        assert_eq!(line.next_event(), Some(20_000_005));
        assert_eq!(line.pop(20_000_004), None);
        assert_eq!(
            (line.pop(20_000_005), line.pop(20_000_005)),
            (Some('a'), Some('b'))
        );
        assert_eq!(line.pop(u64::MAX), None);
    }

    #[test]
    fn what_is_inserted_overtakes_what_is_later() {
        let mut line = DelayLine::new(20);
        assert_eq!(line.insert(10, 'a'), Some(30));
        assert_eq!(line.insert(5, 'b'), Some(25), "it is the next now");
        assert_eq!(
            line.insert(10, 'c'),
            None,
            "of equal times the first is first"
        );
        let order: String = std::iter::from_fn(|| line.pop_front()).collect();
        assert_eq!(order, "bac");
    }

    fn stepped(delay_ns: u64, steps: &[(u64, u64)]) -> DelayLine<u64> {
        let steps = steps
            .iter()
            .map(|&(at_ns, delay_ns)| DelayStep { at_ns, delay_ns });
        DelayLine::with_steps(delay_ns, steps.collect())
    }

    /// What enters at each of `times_ns`, and when it comes out.
    fn due_ns(mut line: DelayLine<u64>, times_ns: impl IntoIterator<Item = u64>) -> Vec<u64> {
        for now_ns in times_ns {
            line.push(now_ns, now_ns);
        }
        std::iter::from_fn(|| {
            let due_ns = line.next_event()?;
            line.pop(due_ns).map(|_| due_ns)
        })
        .collect()
    }

    #[test]
    fn a_step_holds_for_what_enters_from_its_time_on() {
        let line = stepped(20, &[(100, 60), (200, 20)]);
        assert_eq!(due_ns(line, [99, 100, 199]), [119, 160, 259]);
    }

    #[test]
    fn where_the_delay_falls_nothing_overtakes() {
        let line = stepped(60, &[(100, 20)]);
        // What entered at 99 comes out at 159; until 139 what follows would be ahead of it.
        assert_eq!(due_ns(line, [99, 100, 120, 140]), [159, 159, 159, 160]);
    }

    #[test]
    fn steps_while_nothing_enters_hold_afterwards() {
        let line = stepped(60, &[(100, 20), (110, 40), (120, 10)]);
        assert_eq!(due_ns(line, [50, 130]), [110, 140]);
    }

    proptest! {
        /// In order, never before its delay has passed, and later than that only because of what
        /// is in front.
        #[test]
        fn first_in_first_out_whatever_the_steps(
            gaps_ns in prop::collection::vec(0_u64..50, 1..100),
            first_ns in 0_u64..500,
            steps in prop::collection::vec((1_u64..500, 0_u64..500), 0..8),
        ) {
            let running = |sum: &mut u64, gap: u64| { *sum += gap; Some(*sum) };
            let times_ns: Vec<u64> = gaps_ns.into_iter().scan(0, running).collect();
            let (step_gaps_ns, delays_ns): (Vec<u64>, Vec<u64>) = steps.into_iter().unzip();
            let steps: Vec<(u64, u64)> =
                step_gaps_ns.into_iter().scan(0, running).zip(delays_ns).collect();
            let due = due_ns(stepped(first_ns, &steps), times_ns.clone());
            prop_assert_eq!(due.len(), times_ns.len());
            let mut last_ns = 0;
            for (&now_ns, &due_ns) in times_ns.iter().zip(&due) {
                let held = steps.iter().rev().find(|&&(at_ns, _)| at_ns <= now_ns);
                let delay_ns = held.map_or(first_ns, |&(_, delay_ns)| delay_ns);
                prop_assert_eq!(due_ns, last_ns.max(now_ns + delay_ns));
                last_ns = due_ns;
            }
        }
    }
}
