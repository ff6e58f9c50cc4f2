//! FQ-CoDel's two lists of flows (RFC 8290 §4.2), which FQ-PIE has too.

use std::collections::{BTreeMap, VecDeque};

/// Who is served next.
pub(crate) struct Turns {
    quantum: i64,
    pub(crate) new: VecDeque<u32>,
    pub(crate) old: VecDeque<u32>,
    deficit: BTreeMap<u32, i64>,
}

impl Turns {
    pub(crate) fn new(quantum_bytes: u64) -> Self {
        Self {
            quantum: quantum_bytes as i64,
            new: VecDeque::new(),
            old: VecDeque::new(),
            deficit: BTreeMap::new(),
        }
    }

    /// A packet of `flow` arrived.
    pub(crate) fn arrived(&mut self, flow: u32) {
        if !self.new.contains(&flow) && !self.old.contains(&flow) {
            self.new.push_back(flow);
            self.deficit.insert(flow, self.quantum);
        }
    }

    /// The flow whose turn it is.
    pub(crate) fn flow(&mut self) -> Option<u32> {
        loop {
            let is_new = !self.new.is_empty();
            let flow = *self.new.front().or(self.old.front())?;
            let deficit = self.deficit.get_mut(&flow).expect("it is listed");
            if *deficit > 0 {
                return Some(flow);
            }
            *deficit += self.quantum;
            self.pop(is_new);
            self.old.push_back(flow);
        }
    }

    fn pop(&mut self, is_new: bool) {
        if is_new {
            self.new.pop_front();
        } else {
            self.old.pop_front();
        }
    }

    /// The flow whose turn it is has nothing to send.
    pub(crate) fn is_empty(&mut self, flow: u32) {
        let is_new = !self.new.is_empty();
        self.pop(is_new);
        if is_new && !self.old.is_empty() {
            self.old.push_back(flow);
        }
    }

    pub(crate) fn sent(&mut self, flow: u32, bytes: i64) {
        *self.deficit.get_mut(&flow).expect("it is listed") -= bytes;
    }
}
