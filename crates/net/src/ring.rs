//! A queue in one piece of memory.

/// First in, first out, like a `VecDeque`, for what every packet passes: the capacity is a power of two, so that no index
/// is compared with it, and an entry has cache lines of its own.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// A power of two of them.
    slots: Vec<Slot<T>>,
    /// Place of the first entry, modulo the number of slots.
    first: usize,
    len: usize,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot<T>(Option<T>);

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![Slot(None)],
            first: 0,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push_back(&mut self, entry: T) {
        self.push_made(|| entry);
    }

    /// Makes an entry at the place it is put in, and returns it.
    #[inline]
    pub(crate) fn push_made(&mut self, make: impl FnOnce() -> T) -> &mut T {
        if self.len == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.len += 1;
        self.slots[place].0.insert(make())
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        self.skip_front();
        self.take_skipped()
    }

    /// The first entry leaves the queue. Its slot keeps it until another entry needs the slot.
    #[inline]
    pub(crate) fn skip_front(&mut self) {
        debug_assert!(self.len > 0, "there is a first entry");
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
    }

    /// What was skipped last.
    #[inline]
    pub(crate) fn skipped(&self) -> Option<&T> {
        self.slots[self.place(usize::MAX)].0.as_ref()
    }

    /// What was skipped last, to keep.
    #[inline]
    pub(crate) fn take_skipped(&mut self) -> Option<T> {
        let place = self.place(usize::MAX);
        self.slots[place].0.take()
    }

    /// The entry with `index`, the first being 0.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len {
            return None;
        }
        self.slots[self.place(index)].0.as_ref()
    }

    /// Where an entry would be, whether there is one or not: nothing is read.
    #[inline]
    pub(crate) fn slot(&self, index: usize) -> &impl Sized {
        &self.slots[self.place(index)]
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.get(0)
    }

    pub(crate) fn back(&self) -> Option<&T> {
        self.get(self.len.wrapping_sub(1))
    }

    /// Entries in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(|index| self.get(index))
    }

    /// Puts an entry in front of the last ones, those that are `behind` it; its index.
    pub(crate) fn insert_before(&mut self, entry: T, is_behind: impl Fn(&T) -> bool) -> usize {
        self.push_back(entry);
        let mut index = self.len - 1;
        while index > 0 && self.get(index - 1).is_some_and(&is_behind) {
            let (place, before) = (self.place(index), self.place(index - 1));
            self.slots.swap(place, before);
            index -= 1;
        }
        index
    }

    #[inline]
    fn place(&self, index: usize) -> usize {
        self.first.wrapping_add(index) & (self.slots.len() - 1)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut slots: Vec<Slot<T>> = Vec::with_capacity(2 * self.len);
        for index in 0..self.len {
            let place = self.place(index);
            slots.push(Slot(self.slots[place].0.take()));
        }
        slots.resize_with(2 * self.len, || Slot(None));
        (self.slots, self.first) = (slots, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What it does is what a `VecDeque` does.
        #[test]
        fn it_is_a_queue(steps in prop::collection::vec((0_u8..5, any::<u8>()), 0..300)) {
            let (mut ring, mut model) = (Ring::new(), VecDeque::new());
            for (step, value) in steps {
                match step {
                    4 if !model.is_empty() => {
                        ring.skip_front();
                        let out = model.pop_front();
                        prop_assert_eq!(ring.skipped(), out.as_ref());
                    }
                    0 | 1 | 4 => {
                        prop_assert_eq!(*ring.push_made(|| value), value);
                        model.push_back(value);
                    }
                    2 => prop_assert_eq!(ring.pop_front(), model.pop_front()),
                    _ => {
                        let index = ring.insert_before(value, |&other| other > value);
                        let place = model.iter().rposition(|&other| other <= value);
                        let place = place.map_or(0, |place| place + 1);
                        model.insert(place, value);
                        prop_assert_eq!(index, place);
                    }
                }
                prop_assert_eq!(ring.len(), model.len());
                prop_assert_eq!((ring.front(), ring.back()), (model.front(), model.back()));
                prop_assert!(ring.iter().eq(&model));
                prop_assert_eq!(ring.get(model.len()), None);
            }
        }
    }
}
