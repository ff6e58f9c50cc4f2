//! The response function: the window that a loss every n packets leaves a sender. Sender
//! and receiver are joined by nothing but delay and that loss; slow start ends early.

use std::collections::BTreeMap;

use dumbbell_cc::{Instance, Request};
use dumbbell_net::{DelayLine, Packet};
use dumbbell_tcp::{Receiver, ReceiverConfig, SackStore, Segment, Sender, SenderConfig};

use crate::script::{MSS_BYTES, NS_PER_MS};

const RTT_NS: u64 = 100 * NS_PER_MS;
/// This packet is lost as well, to end slow start long before it would overshoot.
const FIRST_LOST_PKT: u64 = 50;
/// Losses before cwnd counts: where it began is forgotten by then.
const UNCOUNTED_LOSSES: u64 = 10;
const COUNTED_LOSSES: u64 = 5;

/// A connection over a path of constant delay that loses every `loss_interval_pkts`-th packet.
struct LossyPath {
    sender: Sender,
    receiver: Receiver,
    forward: DelayLine<Packet<Segment>>,
    back: DelayLine<Packet<Segment>>,
    sacks: SackStore,
    loss_interval_pkts: u64,
    offered_pkts: u64,
}

impl LossyPath {
    fn new(cc: &str, loss_interval_pkts: u64) -> Self {
        let request = Request {
            name: cc.to_owned(),
            params: BTreeMap::new(),
        };
        let instance = Instance::load(&request, 1).unwrap_or_else(|error| panic!("{error}"));
        let sender = SenderConfig {
            closes: false,
            sndbuf_pkts: 1 << 20,
            tso: false,
            ..SenderConfig::new(0, MSS_BYTES, None)
        };
        let receiver = ReceiverConfig {
            rwnd_bytes: MSS_BYTES << 20,
            delayed_ack: false,
            ..ReceiverConfig::new(0, MSS_BYTES, RTT_NS)
        };
        Self {
            sender: Sender::new(sender, instance.new_flow()),
            receiver: Receiver::new(receiver),
            forward: DelayLine::new(RTT_NS / 2),
            back: DelayLine::new(RTT_NS / 2),
            sacks: SackStore::new(),
            loss_interval_pkts,
            offered_pkts: 0,
        }
    }

    /// Runs until `losses` packets in all were lost.
    fn run_until(&mut self, losses: u64) {
        while self.offered_pkts / self.loss_interval_pkts < losses {
            let events = [self.forward.next_event(), self.back.next_event()];
            let timer_ns = self
                .sender
                .next_timer_ns()
                .min(self.receiver.next_timer_ns());
            let now_ns = events.into_iter().flatten().fold(timer_ns, u64::min);
            self.step(now_ns);
        }
    }

    fn step(&mut self, now_ns: u64) {
        if let Some(packet) = self.forward.pop(now_ns) {
            if let Segment::Data(header) = &packet.header {
                let receiver = &mut self.receiver;
                receiver.on_packet(now_ns, header, packet.wire_bytes, packet.ecn);
            }
        } else if self.receiver.next_timer_ns() <= now_ns {
            self.receiver.on_timer(now_ns);
        } else if let Some(packet) = self.back.pop(now_ns) {
            if let Segment::Ack(ack) = &packet.header {
                let sack = self.sacks.get(ack.sack);
                self.sender.on_ack(now_ns, ack, sack);
                self.sacks.free(ack.sack);
            }
        } else {
            self.sender.on_timer(now_ns);
        }
        for ack in self.receiver.poll_transmit(&mut self.sacks).to_vec() {
            self.back.push(now_ns, ack);
        }
        self.send(now_ns);
    }

    fn send(&mut self, now_ns: u64) {
        for packet in self.sender.poll_transmit(now_ns).to_vec() {
            self.offered_pkts += 1;
            let is_lost = self.offered_pkts == FIRST_LOST_PKT
                || self.offered_pkts.is_multiple_of(self.loss_interval_pkts);
            if !is_lost {
                self.forward.push(now_ns, packet);
            }
        }
    }
}

/// Mean cwnd over time, packets.
fn mean_cwnd_pkts(cc: &str, loss_interval_pkts: u64) -> f64 {
    let mut path = LossyPath::new(cc, loss_interval_pkts);
    path.sender.start(0);
    path.send(0);
    path.run_until(UNCOUNTED_LOSSES);
    let before = *path.sender.counters();
    path.run_until(UNCOUNTED_LOSSES + COUNTED_LOSSES);
    let after = path.sender.counters();
    let pkt_ns = after.cwnd_pkt_ns - before.cwnd_pkt_ns;
    pkt_ns as f64 / (after.active_ns - before.active_ns) as f64
}

/// RFC 9438 §5.1, table 1: 1.054·(RTT/p)^0.75 packets at C = 0.4 and RTT = 0.1 s, or Reno's
/// window where that is larger (p = 10⁻³).
///
/// −5 % to +20 %. The table is the window at which an epoch of 1/p packets ends when the curve
/// is back at W_max, after K. With windows in whole packets the curve is there ∛(1/C) = 1.36 s
/// earlier, so an epoch that much shorter than K returns to the same W_max as well: the window
/// may rest anywhere up to 1.2 times the table's. At p = 10⁻³ both curves take turns, and their
/// maximum is above either.
#[test]
fn cubic_s_window_is_that_of_rfc_9438_s_table() {
    for (loss_interval_pkts, table_pkts) in [
        (1_000, 38.0),
        (10_000, 187.0),
        (100_000, 1054.0),
        (1_000_000, 5926.0),
    ] {
        let found_pkts = mean_cwnd_pkts("cubic", loss_interval_pkts);
        assert!(
            (0.95 * table_pkts..=1.2 * table_pkts).contains(&found_pkts),
            "CUBIC, p = 1/{loss_interval_pkts}: mean cwnd {found_pkts:.1} pkts, RFC 9438 {table_pkts}"
        );
    }
}

/// Mathis et al. 1997 with a round trip of recovery: an epoch of 1/p packets begins at W/2, stays there for one round trip
/// and then grows by a packet in each, up to W. 2 %: an epoch is a whole number of round trips, at p = 10⁻³ 26 or 27.
#[test]
fn reno_s_window_is_that_of_its_epoch() {
    for loss_interval_pkts in [1_000, 10_000, 100_000] {
        let found_pkts = mean_cwnd_pkts("reno", loss_interval_pkts);
        // 3/8·W² + W/2 = 1/p, in W/2 + 1 round trips.
        let peak_pkts = (-0.5 + (0.25 + 1.5 * loss_interval_pkts as f64).sqrt()) / 0.75;
        let expected_pkts = loss_interval_pkts as f64 / (peak_pkts / 2.0 + 1.0);
        assert!(
            (found_pkts - expected_pkts).abs() <= 0.02 * expected_pkts,
            "Reno, p = 1/{loss_interval_pkts}: mean cwnd {found_pkts:.1} pkts, not {expected_pkts:.1}"
        );
    }
}
