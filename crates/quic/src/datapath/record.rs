//! The record of packets on their way.

use std::mem;

use dumbbell_tcp::SentSegment;

use super::Datapath;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) pn: u64,
    pub(super) bytes: u16,
    pub(super) is_out: bool,
    pub(super) segment: SentSegment,
    pub(super) in_flight: u32,
    pub(super) lost: u32,
}

impl Datapath {
    pub(super) fn forget_all(&mut self) {
        let sock = &mut self.flow.sock;
        sock.packets_out = 0;
        sock.snd_una = sock.snd_nxt;
        self.una = self.nxt;
        self.sent.clear();
    }

    /// Where a packet is in the record: few numbers are left out.
    fn place(&self, pn: u64) -> Option<usize> {
        let since_first = pn.checked_sub(self.sent.front()?.pn)? as usize;
        match self.sent.get(since_first) {
            Some(sent) if sent.pn == pn => Some(since_first),
            _ => self.sent.binary_search_by_key(&pn, |sent| sent.pn).ok(),
        }
    }

    /// Takes a packet out of the record.
    pub(super) fn take(&mut self, pn: u64) -> Option<Sent> {
        let place = self.place(pn)?;
        let sent = &mut self.sent[place];
        if !mem::replace(&mut sent.is_out, false) {
            return None;
        }
        let taken = *sent;
        self.flow.sock.packets_out -= 1;
        while self.sent.front().is_some_and(|first| !first.is_out) {
            let first = self.sent.pop_front();
            let bytes = first.map_or(0, |first| u32::from(first.bytes));
            self.flow.sock.snd_una = self.flow.sock.snd_una.wrapping_add(bytes);
            self.una = self.una.wrapping_add(1);
        }
        Some(taken)
    }
}
