//! Constant propagation delay.

use std::collections::VecDeque;

/// Gives back what it takes, in order, a constant time later.
#[derive(Debug)]
pub struct DelayLine<T> {
    delay_ns: u64,
    items: VecDeque<(u64, T)>,
}

impl<T> DelayLine<T> {
    /// An empty line of `delay_ns`.
    pub fn new(delay_ns: u64) -> Self {
        Self {
            delay_ns,
            items: VecDeque::new(),
        }
    }

    /// Something enters at `now_ns`, no earlier than what entered before it. Returns when it
    /// comes out if nothing does before it: there is another [`DelayLine::next_event`].
    #[inline]
    pub fn push(&mut self, now_ns: u64, item: T) -> Option<u64> {
        let due_ns = now_ns + self.delay_ns;
        debug_assert!(
            self.items
                .back()
                .is_none_or(|&(last_ns, _)| last_ns <= due_ns)
        );
        self.items.push_back((due_ns, item));
        (self.items.len() == 1).then_some(due_ns)
    }

    /// When the next item comes out, ns.
    #[inline]
    pub fn next_event(&self) -> Option<u64> {
        self.items.front().map(|&(due_ns, _)| due_ns)
    }

    /// A look at the next item, if it is due at `now_ns`.
    #[inline]
    pub fn peek(&self, now_ns: u64) -> Option<&T> {
        let (due_ns, item) = self.items.front()?;
        (*due_ns <= now_ns).then_some(item)
    }

    /// The next item, if it is due at `now_ns`.
    #[inline]
    pub fn pop(&mut self, now_ns: u64) -> Option<T> {
        if self.next_event()? > now_ns {
            return None;
        }
        self.items.pop_front().map(|(_, item)| item)
    }

    /// Everything on the line, first out first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
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
}
