//! ECN at the receiver: how marks are echoed, classic (RFC 3168 §6.1.3) or as in DCTCP (RFC 8257
//! §3.2), both as in Linux. Accurate ECN's counters are in `accecn_receiver`.

use dumbbell_net::Ecn;

use crate::accecn::AccEcn;
use crate::accecn_receiver::{AccEcnCounts, asks_for_accecn};
use crate::ecn::EcnMode;
use crate::packet::{AckKind, DataHeader};
use crate::receiver::Receiver;

/// Quick ACKs after a mark: the sender's window may be very small now.
const QUICKACKS_AFTER_MARK: u32 = 2;

/// The receiver's ECN state.
#[derive(Debug)]
pub(crate) struct EcnEcho {
    mode: EcnMode,
    /// The SYN requested ECN, and the SYN-ACK agreed.
    pub(crate) is_ok: bool,
    /// An ECN-capable packet has arrived: later packets that are not capable are retransmissions.
    has_seen_ect: bool,
    /// ACKs carry ECE, until CWR arrives; with DCTCP it follows `last_was_marked`.
    echoes: bool,
    /// `DCTCP.CE`: the last data packet was marked. CWR does not change it.
    last_was_marked: bool,
    /// DCTCP: `rcv_nxt` when the last data packet arrived.
    prior_rcv_nxt: u32,
    /// Both agreed on Accurate ECN, which few do.
    pub(crate) accecn: Option<Box<AccEcnCounts>>,
}

impl EcnEcho {
    pub(crate) fn new(mode: EcnMode) -> Self {
        Self {
            mode,
            is_ok: false,
            has_seen_ect: false,
            echoes: false,
            last_was_marked: false,
            prior_rcv_nxt: 0,
            accecn: None,
        }
    }

    /// The first SYN decides, which came with this ECN field.
    pub(crate) fn negotiate(&mut self, syn: &DataHeader, ecn: Ecn) {
        match self.mode {
            EcnMode::AccEcn(config) if asks_for_accecn(syn.ace()) => {
                self.accecn = Some(Box::new(AccEcnCounts::new(config, ecn)));
                self.is_ok = true;
            }
            // RFC 9768 §3.1.2: a server without Accurate ECN takes its SYN for RFC 3168's.
            EcnMode::Classic | EcnMode::Dctcp => self.is_ok = syn.cwr() || syn.ace() != 0,
            EcnMode::AccEcn(_) => self.is_ok = syn.cwr(),
            EcnMode::Off => {}
        }
    }

    /// The connection's other half agreed on `mode`.
    pub(crate) fn take(&mut self, mode: EcnMode) {
        self.is_ok = mode != EcnMode::Off && self.mode != EcnMode::Off;
        if let (EcnMode::AccEcn(_), EcnMode::AccEcn(config)) = (mode, self.mode) {
            self.accecn = Some(Box::new(AccEcnCounts::new(config, Ecn::NotEct)));
        }
    }

    /// What both agreed on.
    pub(crate) fn agreed(&self) -> EcnMode {
        match (self.is_ok, self.mode, &self.accecn) {
            (false, ..) => EcnMode::Off,
            (true, EcnMode::AccEcn(_), None) => EcnMode::Classic,
            (true, EcnMode::AccEcn(config), Some(counts)) if counts.is_bleached => {
                EcnMode::AccEcn(AccEcn {
                    ect: Ecn::NotEct,
                    ..config
                })
            }
            (true, mode, _) => mode,
        }
    }

    /// ECE flag of an ACK that leaves now.
    #[inline]
    pub(crate) fn ece(&self) -> bool {
        self.echoes
    }

    /// The ECN field of what the receiver sends (RFC 3168 §6.1.4: a pure ACK is not capable; with
    /// Accurate ECN it is, and in Linux the SYN-ACK only for a congestion control algorithm that needs it).
    #[inline]
    pub(crate) fn ecn_of_acks(&self, kind: AckKind) -> Ecn {
        match (&self.accecn, self.mode) {
            (Some(counts), _) if counts.is_bleached => Ecn::NotEct,
            (Some(counts), _) if kind != AckKind::SynAck || counts.config.ect_on_syn => {
                counts.config.ect
            }
            (None, EcnMode::Dctcp) if self.is_ok => Ecn::Ect0,
            _ => Ecn::NotEct,
        }
    }
}

impl Receiver {
    /// RFC 3168 §6.1.3: CWR ends the echo. Processed before the packet's own mark (RFC 8257 §3.2).
    #[inline]
    pub(crate) fn accept_cwr(&mut self, header: &DataHeader, payload_bytes: u32) {
        if header.cwr() && self.ecn.is_ok {
            self.ecn.echoes = false;
            // The sender's window may be one packet: it waits for this ACK.
            self.ack_now |= payload_bytes > 0;
        }
    }

    /// Processes the mark of a data packet that is not an old duplicate.
    #[inline]
    pub(crate) fn check_mark<const IS_PLAIN: bool>(&mut self, ecn: Ecn) {
        if !IS_PLAIN && self.ecn.is_ok {
            self.check_mark_of(ecn);
        }
    }

    fn check_mark_of(&mut self, ecn: Ecn) {
        if !ecn.is_capable() {
            if self.ecn.has_seen_ect {
                self.enter_quickack_mode(QUICKACKS_AFTER_MARK); // it is probably a retransmission
            }
            return;
        }
        self.ecn.has_seen_ect = true;
        let is_marked = ecn == Ecn::Ce;
        match self.ecn.mode {
            EcnMode::Dctcp => self.follow_mark(is_marked),
            EcnMode::AccEcn(_) if self.ecn.accecn.is_some() => {} // counted
            EcnMode::Off | EcnMode::Classic | EcnMode::AccEcn(_) => {
                if is_marked && !self.ecn.echoes {
                    self.ecn.echoes = true;
                    self.enter_quickack_mode(QUICKACKS_AFTER_MARK);
                }
            }
        }
    }

    /// RFC 8257 §3.2: a change of the mark is reported at once, and packets that wait for a delayed
    /// ACK are acknowledged first, with their own mark.
    fn follow_mark(&mut self, is_marked: bool) {
        if self.ecn.last_was_marked != is_marked {
            if self.is_ack_delayed() {
                self.ecn.echoes = self.ecn.last_was_marked; // CWR arrived with this packet, not with those
                self.flush_delayed_ack(self.ecn.prior_rcv_nxt);
            }
            self.ack_now = true;
        }
        self.ecn.prior_rcv_nxt = self.rcv_nxt;
        self.ecn.last_was_marked = is_marked;
        self.ecn.echoes = is_marked;
    }
}
