//! With many flows, what a flow needs when its packet comes is in no cache any more: some 30 lines, for which it would wait
//! one after the other. Whose packet comes next, and after that, is known: they are in a line. So the memory of their flows
//! is fetched while others are processed.
//!
//! Nothing happens earlier or otherwise because of it. Runs with few flows, which it would delay, do without.

use dumbbell_cc::fetch;
use dumbbell_net::SourceId;
use dumbbell_tcp::Segment;

use crate::endpoints::Endpoints;
use crate::engine::Engine;
use crate::tap::Tap;

/// From how many bytes of flows on it is done. Measured on a processor with second caches of 1 MB: with 2 MB of flows it
/// takes as much time as it saves.
const BEYOND_CACHES_BYTES: usize = 4 << 20;
/// How many packets ahead a flow is fetched, and what its fields lead to: then the fields are there.
const FLOW_PLACES: usize = 4;
const RINGS_PLACES: usize = 2;
/// How many packets ahead a packet itself is fetched.
const SLOT_PLACES: usize = 16;

/// Whether `flows` flows have room in no cache that is near enough.
pub(crate) fn is_beyond_caches(flows: usize) -> bool {
    flows * size_of::<Endpoints>() > BEYOND_CACHES_BYTES
}

impl<T: Tap> Engine<T> {
    /// Fetches what packets will need that come out of a source after its next one.
    #[inline(never)]
    pub(crate) fn look_ahead(&self, source: SourceId) {
        let coming = |place| {
            let packet = self.network.ahead(source, place)?;
            let flow = self.flows.get(packet.flow as usize)?;
            Some((flow, matches!(packet.header, Segment::Ack(_))))
        };
        match coming(FLOW_PLACES) {
            Some((flow, true)) => flow.fetch_sender(),
            Some((flow, false)) => flow.fetch_receiver(),
            None => {}
        }
        fetch(self.network.slot_ahead(source, SLOT_PLACES));
        if let Some(packet) = self.network.departing(source, FLOW_PLACES)
            && let Some(meter) = self.watch.meter.flows.get(packet.flow as usize)
        {
            fetch(meter);
        }
        match coming(RINGS_PLACES) {
            Some((flow, true)) => flow.fetch_rings_of_sender(),
            Some((flow, false)) => flow.receiver.fetch_ahead(),
            None => {}
        }
    }

    /// Fetches the endpoint whose timer is the next after that of the event that was.
    #[inline(always)]
    pub(crate) fn look_at_next_timer(&self, source: SourceId) {
        if !self.network.is_timer(source) {
            return;
        }
        let (endpoint, _) = self.timers.next();
        if let Some(flow) = self.flows.get(endpoint / 2) {
            if endpoint.is_multiple_of(2) {
                flow.fetch_sender();
            } else {
                flow.fetch_receiver();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_cc::{Instance, Request};
    use dumbbell_scenario::{Control, Group, Limit, Queue, Scenario};

    use crate::engine::Engine;
    use crate::summarize::summarize;

    /// With losses, pacing timers and delayed ACKs.
    #[test]
    fn looking_ahead_changes_nothing() {
        let mut scenario = Scenario {
            duration_ns: 2_000_000_000,
            ..Scenario::dumbbell(20_000_000, Queue::drop_tail(Limit::Bytes(60_000)))
        };
        scenario.groups = ["cubic", "bbr"]
            .map(|name| Group {
                cc: name.into(),
                flows: 10,
                base_rtt_ns: 30_000_000,
                ..Group::default()
            })
            .into();
        let outcome = |looks_ahead: bool| {
            let instances = ["cubic", "bbr"].map(|name| {
                let request = Request {
                    name: name.into(),
                    ..Request::default()
                };
                Instance::load(&request, 1).expect("it is built in")
            });
            let mut engine = Engine::new(&scenario, &instances, ());
            let control = Control::default();
            let ran = match looks_ahead {
                true => engine.run_on::<true>(&control),
                false => engine.run_on::<false>(&control),
            };
            ran.expect("it runs");
            let summary = summarize(&scenario, &engine, &instances);
            assert!(summary.bottleneck.dropped_pkts > 0);
            serde_json::to_string(&summary).expect("it has a text")
        };
        assert_eq!(outcome(true), outcome(false));
    }
}
