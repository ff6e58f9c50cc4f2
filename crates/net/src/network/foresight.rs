//! Links without events, as parts of a network.

use super::Network;
use crate::link::Arrival;
use crate::{Header, Observer, Packet};

impl<H: Header> Network<H> {
    /// From now on links that can do without have no events: this network is idle, nothing in it will be changed but by
    /// its own steps, and observers may hear of a departure when it is looked for ([`Network::settle`]).
    pub fn foresee(&mut self) {
        for (link, propagation) in self
            .links
            .iter_mut()
            .zip(self.lines.iter().skip(1).step_by(2))
        {
            link.foresee(propagation);
        }
    }

    /// Informs `observer` of everything that went on a wire before `until_ns`.
    pub fn settle<O: Observer<H>>(&mut self, until_ns: u64, observer: &mut O) {
        for index in 0..self.links.len() {
            self.settle_link(index, until_ns, observer);
        }
    }

    #[inline(always)]
    pub(super) fn settle_link<O: Observer<H>>(
        &mut self,
        index: usize,
        until_ns: u64,
        observer: &mut O,
    ) {
        let propagation = &self.lines[2 * index + 1];
        self.links[index].settle(index, until_ns, propagation, observer);
    }

    /// Packets that wait for a link, of super-packets each segment.
    pub fn waiting_segments(&self, link: usize) -> u64 {
        let propagation = &self.lines[2 * link + 1];
        let link = &self.links[link];
        link.waiting_segments() + link.foreseen_segments(propagation)
    }

    #[inline(always)]
    pub(super) fn arrive_foreseen<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        hop: u32,
        packets: &[Packet<H>],
        observer: &mut O,
    ) {
        let (event, source) = self.event;
        let arrival = Arrival {
            now_ns,
            hop,
            event,
            is_after: 2 * index < source,
        };
        let (link, propagation) = (&mut self.links[index], &mut self.lines[2 * index + 1]);
        let due_ns = link.arrive_foreseen(index, arrival, packets, propagation, observer);
        if let Some(due_ns) = due_ns {
            self.due.set(2 * index + 1, due_ns);
        }
    }
}
