//! The receiver's part in handshake and close (RFC 9293 §3.5, §3.6): SYN-ACK and FIN, each
//! retransmitted until it is acknowledged.
//!
//! The application reads at once and closes when there is nothing more to read, so that its FIN is
//! sent with the acknowledgment of the sender's (from CLOSE-WAIT to LAST-ACK immediately).

use dumbbell_net::Ecn;

use crate::ecn::EcnMode;
use crate::packet::{AckKind, DataHeader, SegmentKind};
use crate::receiver::Receiver;
use crate::rtt::{RTO_INITIAL_US, RTO_MAX_US, RTO_MIN_US};
use crate::sender::Half;
use crate::timer_wheel::expiry_ns;

/// `tcp_synack_retries`: largest number of SYN-ACK retransmissions.
const SYN_ACK_RETRIES: u32 = 5;
const NS_PER_US: u64 = 1000;

/// State of the receiver's side of the connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Listen,
    SynReceived,
    Established,
    LastAck,
    Closed,
}

/// How far this host is with what it sends itself, of a connection with two halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OwnHalf {
    #[default]
    Open,
    /// Its FIN has left.
    HasFin,
    /// Its FIN is acknowledged and the application is gone.
    IsClosed,
}

/// The receiver's own SYN and FIN, and the timer that repeats them.
#[derive(Debug)]
pub(crate) struct Passive {
    pub(crate) state: State,
    pub(crate) own_half: OwnHalf,
    /// `rcv_nxt` when the sender's FIN and all before it has arrived; `u32::MAX` until the FIN is known.
    pub(crate) fin_end: u32,
    /// When SYN-ACK or FIN is sent again, ns; `u64::MAX`: never.
    pub(crate) due_ns: u64,
    retries: u32,
    syn_acks: u32,
    syn_ack_ns: u64,
    /// RTT of the handshake, if the SYN-ACK was sent once, ns.
    rtt_ns: Option<u64>,
    /// RTO from the handshake's single sample (RFC 6298 §2.2), ns. Linux measures pauses of the sender by it, too.
    pub(crate) rto_ns: u64,
}

impl Passive {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Listen,
            own_half: OwnHalf::Open,
            fin_end: u32::MAX,
            due_ns: u64::MAX,
            retries: 0,
            syn_acks: 0,
            syn_ack_ns: 0,
            rtt_ns: None,
            rto_ns: u64::from(RTO_INITIAL_US) * NS_PER_US,
        }
    }

    /// Number of SYN-ACKs sent.
    pub(crate) fn syn_acks(&self) -> u32 {
        self.syn_acks
    }

    /// Whether both ends may send.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Established
    }

    /// SRTT + 4·RTTVAR of one sample (RFC 6298 §2.2), the variance with Linux's floor.
    pub(crate) fn note_rtt(&mut self, rtt_ns: u64) {
        self.rtt_ns = Some(rtt_ns);
        self.rto_ns = rtt_ns + (2 * rtt_ns).max(u64::from(RTO_MIN_US) * NS_PER_US);
    }

    /// The kind of an ACK that is sent now.
    #[inline]
    pub(crate) fn ack_kind(&self) -> AckKind {
        match self.state {
            State::LastAck | State::Closed => AckKind::AfterFin,
            State::Listen | State::SynReceived | State::Established => AckKind::Ack,
        }
    }
}

impl Receiver {
    /// Whether both directions are closed; of one of two halves, whether the sender's is.
    pub fn is_closed(&self) -> bool {
        self.passive.state == State::Closed
            || (self.half() != Half::Only && self.has_received_all())
    }

    /// Updates the connection's state by a segment. Returns whether it carries anything to receive.
    #[inline]
    pub(crate) fn follow_connection(&mut self, now_ns: u64, header: &DataHeader, ecn: Ecn) -> bool {
        if self.passive.state == State::Established && header.kind() == SegmentKind::Data {
            return true;
        }
        self.open_or_close(now_ns, header, ecn)
    }

    #[cold]
    fn open_or_close(&mut self, now_ns: u64, header: &DataHeader, ecn: Ecn) -> bool {
        match header.kind() {
            SegmentKind::Syn => {
                self.on_syn(now_ns, header, ecn);
                return false;
            }
            SegmentKind::Data => {}
            // Its time is echoed if what follows is above a hole (Linux's `tcp_check_req`).
            SegmentKind::HandshakeAck => {
                self.ts_recent_ms = self.ts_recent_ms.max(header.ts_val_ms);
                if let Some(counts) = &mut self.ecn.accecn {
                    counts.finish_handshake(header.ace(), self.passive.syn_acks);
                }
            }
            SegmentKind::WindowProbe => {
                self.emit(self.passive.ack_kind()); // RFC 9293 §3.10.7.4, "first": not acceptable
                return false;
            }
            SegmentKind::LastData | SegmentKind::Fin => self.passive.fin_end = header.seq + 1,
            SegmentKind::LastAck => self.on_last_ack(),
        }
        if self.passive.state == State::SynReceived {
            self.establish(now_ns);
        }
        !matches!(
            header.kind(),
            SegmentKind::HandshakeAck | SegmentKind::LastAck
        )
    }

    /// A SYN, for the first time or again; once the connection is open it only gets an ACK (RFC
    /// 9293 §3.10.7.4, "fourth").
    fn on_syn(&mut self, now_ns: u64, header: &DataHeader, ecn: Ecn) {
        match self.passive.state {
            State::Listen | State::SynReceived => {
                self.ts_recent_ms = header.ts_val_ms;
                if self.passive.state == State::Listen {
                    self.ecn.negotiate(header, ecn);
                } else if let Some(counts) = &mut self.ecn.accecn {
                    counts.note_syn(header.ace(), ecn);
                }
                self.passive.state = State::SynReceived;
                self.send_syn_ack(now_ns);
            }
            State::Established | State::LastAck | State::Closed => {
                self.emit(self.passive.ack_kind());
            }
        }
    }

    fn send_syn_ack(&mut self, now_ns: u64) {
        self.passive.syn_acks += 1;
        self.passive.syn_ack_ns = now_ns;
        self.arm_repeat(now_ns, u64::from(RTO_INITIAL_US) * NS_PER_US);
        self.emit(AckKind::SynAck);
    }

    /// The SYN-ACK is acknowledged. If it was sent once it gives an RTT sample (RFC 6298 §3, Karn).
    fn establish(&mut self, now_ns: u64) {
        let passive = &mut self.passive;
        passive.due_ns = u64::MAX;
        passive.retries = 0;
        if passive.syn_acks == 1 {
            let rtt_ns = now_ns - passive.syn_ack_ns;
            self.note_rtt(rtt_ns);
        }
        self.open_for_data();
    }

    /// Opens the second half of a connection whose first half has done the handshake, in which both
    /// agreed on this as to ECN; `srtt_us`: the round trip as its sender knows it, 0: it does not.
    pub fn open(&mut self, ecn: EcnMode, srtt_us: u32) {
        self.ecn.take(ecn);
        if srtt_us > 0 {
            self.note_rtt(u64::from(srtt_us) * NS_PER_US);
        }
        self.open_for_data();
    }

    /// Whether the handshake is complete here.
    pub fn is_established(&self) -> bool {
        !matches!(self.passive.state, State::Listen | State::SynReceived)
    }

    /// The RTT that the handshake measured, µs, unless its SYN-ACK had to be sent again: the first
    /// sample of what this host sends.
    pub fn handshake_rtt_us(&self) -> Option<u32> {
        self.passive.rtt_ns.map(|rtt_ns| (rtt_ns / 1000) as u32)
    }

    /// What both agreed on as to ECN.
    pub fn agreed_ecn(&self) -> EcnMode {
        self.ecn.agreed()
    }

    /// Whether the sender's FIN and all before it has arrived.
    pub fn has_received_all(&self) -> bool {
        self.rcv_nxt == self.passive.fin_end
    }

    /// This host sends its FIN on the connection's other half, which in Linux carries the ACK that is due.
    /// [`Receiver::poll_transmit`] must follow.
    pub fn on_own_fin(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.passive.own_half = self.passive.own_half.max(OwnHalf::HasFin);
        if self.is_ack_delayed() {
            self.emit_ack();
        }
    }

    /// The FIN of this host is acknowledged, and its application neither writes nor reads any more.
    pub fn on_own_close(&mut self) {
        self.passive.own_half = OwnHalf::IsClosed;
    }

    /// Whether both directions are closed: in Linux what answers then is no socket but what stands for it in
    /// TIME-WAIT, without ECN (`tcp_v4_timewait_ack`).
    pub(crate) fn is_in_time_wait(&self) -> bool {
        self.passive.own_half == OwnHalf::IsClosed && self.has_received_all()
    }

    /// Everything has arrived, the sender's FIN included. Of a connection's only half the receiver's
    /// own FIN is sent with its ACK; otherwise this host's half closes by itself, and until its FIN has left the ACK
    /// waits for that (Linux's `tcp_fin`).
    pub(crate) fn on_fin(&mut self, now_ns: u64) {
        self.forget_duplicate();
        if self.half() != Half::Only {
            if self.passive.own_half != OwnHalf::Open {
                return self.emit(AckKind::Ack);
            }
            self.await_answer();
            return self.acknowledge::<false>(now_ns);
        }
        self.passive.state = State::LastAck;
        self.arm_repeat(now_ns, self.passive.rto_ns);
        self.emit(AckKind::FinAck);
    }

    fn on_last_ack(&mut self) {
        if self.passive.state == State::LastAck {
            self.passive.state = State::Closed;
            self.passive.due_ns = u64::MAX;
        }
    }

    /// RFC 6298 §5.4–5.6 for SYN-ACK and FIN: retransmit, and double the timeout.
    pub(crate) fn repeat(&mut self, now_ns: u64) {
        self.passive.due_ns = u64::MAX;
        self.passive.retries += 1;
        match self.passive.state {
            State::SynReceived if self.passive.retries <= SYN_ACK_RETRIES => {
                self.send_syn_ack(now_ns);
            }
            State::LastAck => {
                self.arm_repeat(now_ns, self.passive.rto_ns);
                self.emit(AckKind::FinAck);
            }
            _ => {}
        }
    }

    fn arm_repeat(&mut self, now_ns: u64, rto_ns: u64) {
        let most_ns = u64::from(RTO_MAX_US) * NS_PER_US;
        let backoff = self.passive.retries.min(20);
        self.passive.due_ns = expiry_ns(
            now_ns,
            (rto_ns << backoff).min(most_ns),
            self.config.tick_ns,
        );
    }
}
