//! What may leave: windows and bursts. What is lost and leaves again is in `retransmit`.

use std::ops::Range;

use dumbbell_cc::CaEvent;
use dumbbell_net::{Ecn, Packet};

use crate::counters::Limit;
use crate::packet::{self, DATA_HEADER_BYTES, DataHeader, DataInfo, Offload, SegmentKind};
use crate::recovery::Retransmit;
use crate::segments::{HEAD, PUSHED, Segment, TransmitState};
use crate::sender::{Half, Sender};
use crate::super_packet::Burst;
use crate::timers::XmitTimer;

impl Sender {
    /// Retransmissions first, then new data, as far as windows and pacing allow.
    #[inline(always)]
    pub(crate) fn transmit(&mut self) {
        if self.recovery.retransmit != Retransmit::None {
            self.transmit_again();
        }
        self.transmit_new();
    }

    #[inline(never)]
    fn transmit_again(&mut self) {
        if std::mem::replace(&mut self.recovery.retransmit, Retransmit::None) == Retransmit::New {
            self.transmit_new_first();
            if self.nxt > self.recovery.high_seq {
                return;
            }
            self.recovery.frto = false;
        }
        self.retransmit_lost();
    }

    #[cold]
    fn transmit_new_first(&mut self) {
        self.transmit_new();
    }

    /// Whether application, send buffer and receiver allow another segment.
    pub(crate) fn may_send_new(&self) -> bool {
        if self.nxt >= self.stream.end {
            // A FIN needs no room in the send buffer.
            return self.nxt < self.stream.segments_end()
                && self.stream.sent_bytes < self.output.wnd_end_bytes;
        }
        self.nxt < self.una.saturating_add(self.output.sndbuf_pkts) && self.window_admits(1) > 0
    }

    #[inline(always)]
    fn transmit_new(&mut self) {
        let mut sent_pkts = 0;
        let mut is_cwnd_limited = false;
        let mut max_segs = 0; // computed only when something may be sent
        let sndbuf_end = self.una.saturating_add(self.output.sndbuf_pkts);
        let data_end = self.stream.end.min(sndbuf_end);
        let runaway_pkts = self.output.runaway_pkts;
        self.output.limit = Limit::None;
        while self.nxt < data_end {
            if self.is_paced_out() {
                break;
            }
            let sock = &self.cc.sock;
            let (in_flight, cwnd) = (sock.packets_in_flight(), sock.snd_cwnd.min(runaway_pkts));
            if in_flight >= cwnd {
                self.output.limit = Limit::Cwnd;
                if in_flight >= runaway_pkts {
                    self.cc.note_runaway();
                }
                break;
            }
            let cwnd_left = cwnd - in_flight;
            let wnd_left = self.window_admits(cwnd_left.saturating_add(1));
            if wnd_left == 0 {
                self.note_rwnd_limited();
                break;
            }
            if max_segs == 0 {
                max_segs = self.max_burst_pkts();
            }
            if max_segs > 1
                && data_end - self.nxt > 1
                && self.defers_burst(cwnd_left, wnd_left, max_segs)
            {
                let unsent = self.stream.end - self.nxt;
                is_cwnd_limited = cwnd_left < wnd_left && cwnd_left <= unsent;
                if is_cwnd_limited {
                    self.output.limit = Limit::Cwnd;
                } else if wnd_left <= cwnd_left && wnd_left <= unsent {
                    self.note_rwnd_limited();
                }
                break;
            }
            // No more than half of cwnd in one burst, so that ACKs keep clocking.
            let quota = (cwnd >> 1).max(1).min(cwnd_left).min(max_segs);
            let mut burst = quota.min(data_end - self.nxt).min(wnd_left);
            if self.nxt + burst == self.stream.end && self.holds_tail() {
                burst -= 1;
                if burst == 0 {
                    break;
                }
            }
            self.send_burst(burst);
            sent_pkts += burst;
        }
        if self.nxt >= data_end {
            self.note_out_of_data(self.nxt < self.stream.end);
        }
        if data_end == self.stream.end {
            sent_pkts += self.close_after_data();
        }
        self.finish_transmit(sent_pkts, is_cwnd_limited);
    }

    #[cold]
    fn note_rwnd_limited(&mut self) {
        self.output.limit = Limit::Rwnd;
        let knows_path = self.output.runaway_pkts != u32::MAX;
        if knows_path && self.cc.has_run_away_behind_window(self.config.mss_bytes) {
            self.cc.note_runaway();
        }
    }

    #[inline(always)]
    fn finish_transmit(&mut self, sent_pkts: u32, is_cwnd_limited: bool) {
        if sent_pkts > 0 {
            if self.in_cwnd_reduction() {
                self.cc.sock.prr_out += sent_pkts;
            }
            self.schedule_loss_probe(false);
        }
        let sock = &self.cc.sock;
        let is_cwnd_limited = is_cwnd_limited || sock.packets_in_flight() >= sock.snd_cwnd;
        if sent_pkts > 0 || is_cwnd_limited {
            self.validate_cwnd(is_cwnd_limited);
        }
        self.check_persist_timer();
        self.output.nagle.end_transmission();
    }

    /// One burst of new segments: one transmission to pacing and to the clock.
    #[inline(never)]
    pub(crate) fn send_new(&mut self, burst: u32) {
        self.send_burst(burst);
    }

    #[inline(always)]
    fn send_burst(&mut self, burst: u32) {
        let is_fin = self.nxt >= self.stream.end;
        self.begin_transmission(is_fin);
        let prior_packets = self.cc.sock.packets_out;
        let mut segment = Segment::stamped(&self.cc.sock, 0);
        let first = self.nxt;
        let end = first + burst;
        let mut kind = SegmentKind::Data;
        let mut payload_bytes = self.config.mss_bytes;
        let mut burst_bytes = u64::from(burst) * u64::from(payload_bytes);
        // What takes the last bytes, or the FIN, is the last of a burst; all before are alike.
        let has_last = end >= self.stream.end;
        let alike = first..end - u32::from(has_last);
        self.segments.reserve(self.una, end - 1);
        for seq in alike.clone() {
            *self.segments.get_mut(seq) = segment;
        }
        // `__tcp_transmit_skb`: what takes several packets ends in PSH, so that receive offload lets it go.
        let pushes = burst > 1 && !self.config.behaviour.pushes_writes_only;
        if pushes && !has_last {
            self.segments.get_mut(end - 1).flags |= PUSHED;
        }
        if !self.config.gso {
            self.emit_alike(alike, pushes && !has_last);
        }
        if has_last {
            let seq = end - 1;
            (kind, payload_bytes) = self.prepare_last(seq, &mut segment);
            burst_bytes -= u64::from(self.config.mss_bytes - payload_bytes);
            *self.segments.get_mut(seq) = segment;
            if !self.config.gso {
                self.emit(seq, kind, payload_bytes, segment.flags);
            }
        }
        if self.config.gso {
            self.send_super_packets(Burst {
                first,
                segments: burst,
                last_kind: kind,
                last_bytes: payload_bytes,
                flags: self.segments.get(end - 1).flags,
            });
        }
        self.segments.get_mut(first).flags |= HEAD;
        if self.segments.records_transmit_states() {
            self.record_transmit_states(first, burst);
        }
        self.nxt = end;
        self.cc.sock.packets_out += burst;
        let data_pkts = if is_fin { 0 } else { burst };
        self.counters.sent_pkts += u64::from(data_pkts);
        self.stream.sent_bytes += burst_bytes;
        debug_assert!(
            self.stream.sent_bytes <= self.output.wnd_end_bytes,
            "sent beyond the receive window"
        );
        let snd_nxt = (self.stream.sent_bytes as u32).wrapping_add(u32::from(self.has_sent_fin()));
        let sock = &mut self.cc.sock;
        sock.data_segs_out = sock.data_segs_out.saturating_add(data_pkts);
        sock.bytes_sent += burst_bytes;
        sock.snd_nxt = snd_nxt;
        self.end_transmission(burst_bytes);
        // A loss probe, if allowed, takes the timer as soon as everything is sent.
        let is_timed_here =
            prior_packets == 0 || self.timers.pending() == Some(XmitTimer::LossProbe);
        if is_timed_here && !self.allows_loss_probe() {
            self.rearm_rto(false);
        }
    }

    /// The segment that takes the last bytes written, or the FIN behind it, is about to be sent for
    /// the first time: its kind and payload, bytes.
    #[cold]
    fn prepare_last(&mut self, seq: u32, segment: &mut Segment) -> (SegmentKind, u32) {
        let kind = self.stream.kind_of(seq);
        let payload_bytes = self.payload_bytes(seq);
        self.stream.boundaries.note(seq, payload_bytes);
        if kind != SegmentKind::Fin {
            segment.flags |= PUSHED;
            if payload_bytes < self.config.mss_bytes {
                self.output.short_end = seq + 1;
            }
        }
        (kind, payload_bytes)
    }

    /// A tail loss probe with new data leaves regardless of cwnd (RFC 8985 §7.3).
    pub(crate) fn send_probe_segment(&mut self) {
        self.send_new(1);
        if self.in_cwnd_reduction() {
            self.cc.sock.prr_out += 1;
        }
    }

    /// Before a transmission: the first one after an idle period starts a new flight, unless it has
    /// no data.
    pub(crate) fn begin_transmission(&mut self, is_fin: bool) {
        if !is_fin {
            if self.cc.sock.packets_in_flight() == 0 {
                self.cc.cwnd_event(CaEvent::TxStart);
            }
            self.cc.sock.lsndtime = self.now_ms;
        }
        let sock = &mut self.cc.sock;
        if sock.packets_out == 0 {
            sock.first_tx_mstamp = sock.tcp_mstamp;
            sock.delivered_mstamp = sock.tcp_mstamp;
        }
    }

    /// Records the connection's state for segments that leave, before they are counted as in flight.
    #[cold]
    pub(crate) fn record_transmit_states(&mut self, first: u32, segments: u32) {
        let sock = &self.cc.sock;
        let mut state = TransmitState {
            in_flight: sock.packets_in_flight(),
            lost: sock.lost,
        };
        for seq in first..first + segments {
            state.in_flight += 1;
            self.segments.set_transmit_state(seq, state);
        }
    }

    #[inline]
    pub(crate) fn emit(&mut self, seq: u32, kind: SegmentKind, payload_bytes: u32, flags: u8) {
        let wire_bytes = payload_bytes + DATA_HEADER_BYTES;
        self.send_packet(seq, kind, wire_bytes, flags);
    }

    /// Full segments leave for the first time.
    #[inline]
    fn emit_alike(&mut self, segments: Range<u32>, pushes: bool) {
        let wire_bytes = self.config.mss_bytes + DATA_HEADER_BYTES;
        if self.is_ecn_ok() {
            for seq in segments.clone() {
                let is_pushed = pushes && seq + 1 == segments.end;
                let flags = if is_pushed { PUSHED } else { 0 };
                self.send_packet(seq, SegmentKind::Data, wire_bytes, flags);
            }
            return;
        }
        let is_reverse = self.config.half == Half::Reverse;
        let (ts_val_ms, ts_ecr_ms) = (self.now_ms, self.ts_recent_ms);
        let flow = self.config.flow;
        let mut ip_id = self.output.ip_id;
        let packets = segments.map(|seq| {
            ip_id = ip_id.wrapping_add(1);
            Packet {
                flow,
                wire_bytes,
                ecn: Ecn::NotEct,
                hop: 0,
                arrived_ns: 0,
                header: packet::Segment::Data(DataHeader {
                    seq,
                    ts_val_ms,
                    ts_ecr_ms,
                    info: DataInfo::new(SegmentKind::Data, ip_id).reverse(is_reverse),
                    offload: Offload::NONE,
                }),
            }
        });
        self.output.outbox.waiting().extend(packets);
        self.output.ip_id = ip_id;
        if pushes
            && let Some(packet) = self.output.outbox.waiting().last_mut()
            && let packet::Segment::Data(header) = &mut packet.header
        {
            header.info = header.info.psh(true);
        }
    }

    /// No more data to send now. An application that writes as it goes along is distinguished at its
    /// next write.
    fn note_out_of_data(&mut self, by_sndbuf: bool) {
        if self.stream.is_written && !by_sndbuf {
            return;
        }
        let is_starved = self.note_starvation();
        if is_starved && by_sndbuf {
            self.output.limit = Limit::Sndbuf;
        }
    }
}
