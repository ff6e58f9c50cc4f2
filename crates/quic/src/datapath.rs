//! An algorithm of ours (`struct tcp_congestion_ops`) behind the controller of a QUIC stack.
//!
//! The stack reports to its controller which packets were sent, acknowledged and lost, by number. From that this makes what
//! Linux gives an algorithm: the socket's counts, rate samples (`dumbbell_tcp`'s), and the congestion states. When the
//! stack has dealt with an arrival, a timer or a burst, the reports are taken together, so that an ACK and the losses
//! that it shows are one call, as in Linux; then cwnd and pacing rate go back.
//!
//! The transport is QUIC's. Packet numbers are not used twice, so what is lost leaves `packets_out` at once and no ACK is
//! ambiguous. Recovery lasts until something is acknowledged that was sent in it (RFC 9002 §7.3.2). An algorithm without
//! `cong_control` gets its ssthresh as cwnd at once, as the stack's own controllers do, not by PRR; persistent congestion
//! (§7.6) takes the place of the retransmission timeout.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use dumbbell_cc::{AckSample, CaEvent, CaState, Flow, LostSegment, SK_PACING_FQ, SK_PACING_NEEDED};
use dumbbell_tcp::{
    Boundaries, INITIAL_CWND, INITIAL_REORDERING, RateSampler, RttEstimator, SentSegment,
    empty_min, update_min_rtt,
};

use crate::mailbox::{INITIAL_MTU_BYTES, Mailbox, Pacing, Report};
use record::Sent;

mod pacing;
mod record;
mod recovery;

/// `FLAG_DATA_ACKED` and `FLAG_SND_UNA_ADVANCED` of Linux, for `cong_control`.
const ACKED_FLAGS: i32 = 0x404;
/// `FLAG_ECE` of Linux, likewise.
const ECE_FLAG: i32 = 0x40;
/// Value of Linux's `CA_ACK_SLOWPATH`.
const CA_ACK_SLOWPATH: u32 = 1;
/// Value of Linux's `CA_ACK_ECE`.
const CA_ACK_ECE: u32 = 4;

/// What the reports of one event say together.
#[derive(Debug)]
struct Batch {
    rate: RateSampler,
    newest: Option<Sent>,
    acked: u32,
    lost: u32,
    acked_bytes: u64,
    is_marked: bool,
    rtt_us: Option<u32>,
    app_limited: bool,
}

/// The algorithm's socket, and what the stack's reports are made into.
#[derive(Debug)]
pub(crate) struct Datapath {
    flow: Flow,
    mailbox: Arc<Mailbox>,
    reports: Vec<Report>,
    is_established: bool,
    /// Whether the stack paces what asks for no rate.
    is_paced: bool,
    rtt: RttEstimator,
    boundaries: Boundaries,
    /// In order of their numbers, with holes.
    sent: VecDeque<Sent>,
    /// When the latest recovery began, ns: losses of what was sent until then are its own, also when it is over.
    recovery_ns: Option<u64>,
    in_recovery: bool,
    /// The highest packet number that was sent, and was acknowledged.
    nxt: u32,
    una: u32,
    usage_end: u32,
}

impl Datapath {
    /// Behind a connection before its handshake.
    pub(crate) fn new(mut flow: Flow, is_paced: bool) -> Self {
        let sock = &mut flow.sock;
        sock.mss_cache = u32::from(INITIAL_MTU_BYTES);
        sock.advmss = sock.mss_cache;
        sock.snd_cwnd = INITIAL_CWND;
        sock.reordering = INITIAL_REORDERING;
        sock.rtt_min = empty_min();
        sock.snd_wnd = u32::MAX >> 1;
        let pacing = if is_paced {
            Pacing::ByTheStack
        } else {
            Pacing::Unpaced
        };
        Self {
            boundaries: Boundaries::new(u32::from(INITIAL_MTU_BYTES)),
            flow,
            mailbox: Arc::new(Mailbox::new(pacing)),
            reports: Vec::new(),
            is_established: false,
            is_paced,
            rtt: RttEstimator::new(),
            sent: VecDeque::new(),
            recovery_ns: None,
            in_recovery: false,
            nxt: 0,
            una: 0,
            usage_end: 0,
        }
    }

    pub(crate) fn mailbox(&self) -> Arc<Mailbox> {
        Arc::clone(&self.mailbox)
    }

    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// The handshake is complete: the algorithm begins.
    pub(crate) fn establish(&mut self, now_ns: u64) {
        if mem::replace(&mut self.is_established, true) {
            return;
        }
        self.process(now_ns);
        let sock = &mut self.flow.sock;
        sock.delivered = sock.delivered.max(1);
        sock.delivered_mstamp = sock.tcp_mstamp;
        if !self.flow.has_cong_control() {
            self.update_pacing_rate();
        }
        self.flow.init();
        // The stack paces what does not ask for it, as `fq` does beneath Linux's TCP; HyStart asks whether anything does.
        let sock = &mut self.flow.sock;
        if self.is_paced && sock.sk_pacing_status != SK_PACING_NEEDED {
            sock.sk_pacing_status = SK_PACING_FQ;
        }
        self.publish();
    }

    /// Takes the reports since the last call.
    pub(crate) fn process(&mut self, now_ns: u64) {
        self.set_now(now_ns);
        self.mailbox.take(&mut self.reports);
        if self.reports.is_empty() {
            return;
        }
        let mut batch = Batch {
            rate: RateSampler::new(self.flow.sock.packets_in_flight()),
            newest: None,
            acked: 0,
            lost: 0,
            acked_bytes: 0,
            is_marked: false,
            rtt_us: None,
            app_limited: false,
        };
        let reports = mem::take(&mut self.reports);
        let mut is_counted = false;
        for report in &reports {
            match *report {
                Report::Sent { pn, bytes } => self.on_sent(pn, bytes),
                Report::CwndLimited => self.validate_cwnd(true),
                Report::Acked { pn, bytes, sent_ns } => {
                    self.on_acked(pn, bytes, sent_ns, &mut batch)
                }
                Report::EndAcks { app_limited } => batch.app_limited = app_limited,
                Report::Lost { pn } => self.on_lost(pn, &mut batch),
                Report::Congestion {
                    sent_ns,
                    is_persistent,
                    is_ecn,
                } => {
                    batch.is_marked |= is_ecn;
                    // Linux counts what an ACK delivers before it looks for losses.
                    if !mem::replace(&mut is_counted, true) {
                        self.note_acked(&batch);
                    }
                    self.on_congestion(sent_ns, is_persistent, is_ecn);
                }
                Report::Spurious => self.undo(),
            }
        }
        self.reports = reports;
        self.reports.clear();
        if !is_counted {
            self.note_acked(&batch);
        }
        if batch.acked > 0 || batch.lost > 0 {
            self.respond(&batch);
        }
        self.publish();
    }

    fn set_now(&mut self, now_ns: u64) {
        let mtu_bytes = self.mailbox.mtu_bytes();
        let sock = &mut self.flow.sock;
        sock.tcp_clock_cache = now_ns;
        sock.tcp_mstamp = now_ns / 1000;
        sock.mss_cache = u32::from(mtu_bytes);
    }

    fn now_ms(&self) -> u32 {
        (self.flow.sock.tcp_mstamp / 1000) as u32
    }

    fn on_sent(&mut self, pn: u64, bytes: u16) {
        // Each level of the handshake numbers its packets from 0.
        if self.sent.back().is_some_and(|last| last.pn >= pn) {
            self.forget_all();
        }
        if self.flow.sock.packets_out == 0 && self.is_established {
            self.flow.cwnd_event(CaEvent::TxStart);
        }
        let now_ms = self.now_ms();
        let sock = &mut self.flow.sock;
        if sock.packets_out == 0 {
            sock.first_tx_mstamp = sock.tcp_mstamp;
            sock.delivered_mstamp = sock.tcp_mstamp;
        }
        sock.lsndtime = now_ms;
        self.sent.push_back(Sent {
            pn,
            bytes,
            is_out: true,
            segment: SentSegment::stamped(sock, 0),
            in_flight: sock.packets_out + 1,
            lost: sock.lost,
        });
        sock.packets_out += 1;
        sock.data_segs_out = sock.data_segs_out.saturating_add(1);
        sock.bytes_sent += u64::from(bytes);
        sock.snd_nxt = sock.snd_nxt.wrapping_add(u32::from(bytes));
        sock.write_seq = sock.snd_nxt;
        self.nxt = self.nxt.wrapping_add(1);
        self.validate_cwnd(false);
    }

    /// Notes whether cwnd limits sending (`tcp_cwnd_validate`).
    fn validate_cwnd(&mut self, is_limited: bool) {
        let sock = &mut self.flow.sock;
        let is_larger = !sock.is_cwnd_limited() && sock.packets_out > sock.max_packets_out;
        if self.una >= self.usage_end || is_limited || is_larger {
            sock.set_cwnd_limited(is_limited);
            sock.max_packets_out = sock.packets_out;
            sock.cwnd_usage_seq = sock.snd_nxt;
            self.usage_end = self.nxt;
        }
    }

    fn on_acked(&mut self, pn: u64, bytes: u64, sent_ns: u64, batch: &mut Batch) {
        let Some(sent) = self.take(pn) else {
            return;
        };
        let sock = &mut self.flow.sock;
        sock.delivered += 1;
        batch.acked += 1;
        batch.acked_bytes += bytes;
        let rtt_us = (sock.tcp_clock_cache - sent_ns) / 1000;
        batch.rate.on_delivered(sock, pn as u32, &sent.segment);
        if batch.newest.is_none_or(|newest| newest.pn < pn) {
            batch.newest = Some(sent);
            batch.rtt_us = Some(rtt_us as u32);
        }
        if self.in_recovery && self.recovery_ns.is_some_and(|began_ns| sent_ns > began_ns) {
            self.end_recovery();
        }
    }

    fn on_lost(&mut self, pn: u64, batch: &mut Batch) {
        let Some(sent) = self.take(pn) else {
            return;
        };
        batch.lost += 1;
        let sock = &mut self.flow.sock;
        sock.lost += 1;
        sock.total_retrans += 1; // its frames go again
        if self.flow.has_skb_marked_lost() {
            let segment = &sent.segment;
            self.flow.skb_marked_lost(&LostSegment {
                delivered: segment.delivered,
                lost: sent.lost,
                first_tx_mstamp: segment.first_tx_us,
                delivered_mstamp: segment.delivered_us,
                in_flight: sent.in_flight,
                pcount: 1,
                ..LostSegment::default()
            });
        }
    }

    /// What an ACK acknowledges has been counted: the RTT, and the calls that come before losses are looked at.
    fn note_acked(&mut self, batch: &Batch) {
        if batch.acked == 0 {
            return;
        }
        let now_ms = self.now_ms();
        let sock = &mut self.flow.sock;
        sock.bytes_acked += batch.acked_bytes;
        if let Some(rtt_us) = batch.rtt_us {
            update_min_rtt(sock, now_ms, rtt_us);
            self.rtt.sample(sock, rtt_us, self.una, self.nxt);
        }
        if !self.is_established {
            return;
        }
        let in_flight_pkts = sock
            .delivered
            .wrapping_sub(batch.rate.delivered_at_sending());
        if self.flow.has_pkts_acked() {
            let mss_bytes = self.flow.sock.mss_cache;
            self.flow.pkts_acked(&AckSample {
                pkts_acked: batch.acked,
                rtt_us: batch.rtt_us.map_or(-1, |rtt_us| rtt_us as i32),
                in_flight: in_flight_pkts.wrapping_mul(mss_bytes),
            });
        }
        let flags = if batch.is_marked { CA_ACK_ECE } else { 0 };
        self.flow.in_ack_event(CA_ACK_SLOWPATH | flags);
    }

    /// The algorithm sets cwnd and pacing rate.
    fn respond(&mut self, batch: &Batch) {
        if !self.is_established {
            return;
        }
        if batch.app_limited {
            let sock = &mut self.flow.sock;
            sock.app_limited = (sock.delivered + sock.packets_in_flight()).max(1);
        }
        let measured = batch.rate.measure(&mut self.flow.sock, batch.acked);
        let ack = self.flow.sock.snd_una;
        if self.flow.has_cong_control() {
            let sock = &self.flow.sock;
            let counts = (batch.acked, batch.lost);
            let mut sample =
                batch
                    .rate
                    .sample(sock, &self.boundaries, measured, batch.rtt_us, counts);
            if self.flow.records_transmit_state()
                && let Some(newest) = &batch.newest
            {
                sample.prior_lost = newest.lost;
                sample.tx_in_flight = newest.in_flight;
                sample.lost = sock.lost.wrapping_sub(newest.lost) as i32;
                sample.is_ece = batch.is_marked;
            }
            let acked_flags = if batch.acked > 0 { ACKED_FLAGS } else { 0 };
            let flags = acked_flags | if batch.is_marked { ECE_FLAG } else { 0 };
            self.flow.cong_control(ack, flags, &sample);
        } else {
            if !self.in_recovery && batch.acked > 0 {
                self.flow.cong_avoid(ack, batch.acked);
                self.flow.sock.snd_cwnd_stamp = self.now_ms();
            }
            self.update_pacing_rate();
        }
        let sock = &mut self.flow.sock;
        sock.snd_cwnd = sock.snd_cwnd.clamp(1, sock.snd_cwnd_clamp);
        if sock.take_enter_cwr() {
            self.reduce(CaState::Cwr);
        }
    }
}
