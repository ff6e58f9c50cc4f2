//! What may happen to a packet before it joins a link's queue: it is cut into segments, and passes
//! impairments.

use super::{Link, pass};
use crate::{DropReason, Effects, Header, Observer, Packet};

impl<H: Header> Link<H> {
    /// Like [`Link::arrive`], where something may happen to a packet before it joins the queue.
    #[inline(never)]
    pub(super) fn arrive_otherwise<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packet: Packet<H>,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        let segments = packet.header.segments();
        if segments == 1 || u64::from(packet.wire_bytes) <= self.uncut_bytes {
            return self.arrive_alone(index, now_ns, packet, effects, observer);
        }
        observer.split(now_ns, index, &packet);
        for segment in 0..segments {
            let segment = packet.segment(segment);
            self.arrive_alone(index, now_ns, segment, effects, observer);
        }
    }

    fn arrive_alone<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packet: Packet<H>,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        self.change(index, now_ns, observer);
        observer.arrives(now_ns, index, &packet);
        if self.before.is_empty() {
            self.join(now_ns, packet, effects);
        } else {
            self.arrive_impaired(index, now_ns, packet, effects, observer);
        }
        self.report(index, now_ns, effects, observer);
        observer.enqueued(now_ns, index, self);
    }

    /// A packet passes the impairments before the queue. Apart, so that links without any stay small.
    #[inline(never)]
    fn arrive_impaired<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packet: Packet<H>,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        let mut packet = packet;
        let (passes, is_copied) = pass(&mut self.before, now_ns, &mut packet);
        let copy = is_copied.then(|| packet.copy());
        if let Some(copy) = &copy {
            observer.duplicated(now_ns, index, copy);
        }
        let go_on = |link: &mut Self,
                     passes: Option<u64>,
                     packet: Packet<H>,
                     effects: &mut Effects<H>,
                     observer: &mut O| {
            debug_assert!(
                passes.is_none_or(|late_ns| late_ns == 0),
                "only behind a link"
            );
            match passes {
                Some(_) => link.join(now_ns, packet, effects),
                None => observer.refused(now_ns, index, &packet, DropReason::Impairment),
            }
        };
        go_on(self, passes, packet, effects, observer);
        if let Some(mut copy) = copy {
            // The arrival is over, and the copy's is one by itself.
            self.report(index, now_ns, effects, observer);
            observer.enqueued(now_ns, index, self);
            observer.arrives(now_ns, index, &copy);
            let (passes, _) = pass(&mut self.before, now_ns, &mut copy);
            go_on(self, passes, copy, effects, observer);
        }
    }
}
