//! Explicit congestion notification at the sender (RFC 3168 §6.1), as Linux does it: which packets
//! are ECN-capable, what an echoed mark does, and CWR. Accurate ECN is in `accecn`.
//!
//! A packet has the IP header's ECN field, which a queue may set to CE; the rest is TCP's. The receiver's part is in
//! `ecn_echo`. The feedback of Accurate ECN lies with the SACK blocks of the ACKs on their way, so packets are no
//! larger. An algorithm with `TCP_CONG_NEEDS_ECN` has DCTCP's feedback, which in Linux depends on the receiving
//! socket's algorithm. The kernel engine's relay writes CE into the packet where it leaves, and into its record in a
//! capture. A mark counts at the link that made it: a packet that came with CE is not marked again.

use dumbbell_cc::CaState;
use dumbbell_net::Ecn;

use crate::accecn::{AccEcn, AccEcnFeedback};
use crate::packet::{AckHeader, SegmentKind};
use crate::sender::{Phase, Sender};

/// Bits of `ecn_flags` that say what both ends agreed on; together: not yet.
pub(crate) const ECN_MODES: EcnModes = EcnModes {
    classic: 1,
    accurate: 16,
};
/// Classic and Accurate ECN.
const ANY_MODE: u8 = ECN_MODES.classic | ECN_MODES.accurate;
/// Linux's `TCP_ECN_QUEUE_CWR`: the next new data carries CWR.
const ECN_QUEUE_CWR: u8 = 2;

/// Linux's `TCP_ECN_MODE_RFC3168`, which is `TCP_ECN_OK`, and `TCP_ECN_MODE_ACCECN`.
pub(crate) struct EcnModes {
    pub(crate) classic: u8,
    pub(crate) accurate: u8,
}

/// How a connection uses ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not at all.
    #[default]
    Off,
    /// RFC 3168: new data is ECN-capable, and the receiver echoes a mark until CWR arrives.
    Classic,
    /// For a congestion control algorithm that needs ECN (`TCP_CONG_NEEDS_ECN`): every packet is ECN-capable,
    /// and the receiver echoes each change of the mark (RFC 8257 §3.2).
    Dctcp,
    /// Accurate ECN (RFC 9768): the receiver counts marked packets, and the sender knows how many; with
    /// a peer that has only RFC 3168's ECN, that.
    AccEcn(AccEcn),
}

impl Sender {
    /// Whether both ends agreed on ECN.
    #[inline]
    pub(crate) fn is_ecn_ok(&self) -> bool {
        self.cc.sock.ecn_flags & ANY_MODE != 0
    }

    /// Whether they agreed on Accurate ECN.
    #[inline]
    pub(crate) fn is_accurate(&self) -> bool {
        self.cc.sock.ecn_flags & ANY_MODE == ECN_MODES.accurate
    }

    /// Whether they agreed on RFC 3168's.
    #[inline]
    fn is_classic(&self) -> bool {
        self.cc.sock.ecn_flags & ANY_MODE == ECN_MODES.classic
    }

    /// What both ends agreed on.
    pub fn agreed_ecn(&self) -> EcnMode {
        match (self.config.ecn, self.is_ecn_ok(), self.is_accurate()) {
            (_, false, _) => EcnMode::Off,
            (EcnMode::AccEcn(_), true, false) => EcnMode::Classic,
            (mode, ..) => mode,
        }
    }

    /// RFC 3168 §6.1.1: the first SYN requests ECN. One that is sent again does not (§6.1.1.1): the
    /// first may have been lost at a device that drops ECN-setup SYNs.
    pub(crate) fn ask_for_ecn(&mut self) {
        self.cc.sock.ecn_flags = match self.config.ecn {
            EcnMode::Off => 0,
            EcnMode::Classic | EcnMode::Dctcp => ECN_MODES.classic,
            EcnMode::AccEcn(_) => ANY_MODE,
        };
    }

    /// The SYN-ACK says whether the receiver agreed, and on what.
    pub(crate) fn settle_ecn(&mut self, ack: &AckHeader, feedback: Option<&AccEcnFeedback>) {
        let mode = match self.config.ecn {
            EcnMode::AccEcn(_) => self.accecn_answer(ack, feedback),
            _ if ack.ece() => ECN_MODES.classic,
            _ => 0,
        };
        self.set_ecn_mode(mode);
    }

    /// The connection's other half agreed on `mode`.
    pub(crate) fn take_ecn(&mut self, mode: EcnMode) {
        let mode = match mode {
            EcnMode::Off => 0,
            EcnMode::Classic | EcnMode::Dctcp => ECN_MODES.classic,
            EcnMode::AccEcn(config) => {
                self.accecn.note_path(config.ect);
                ECN_MODES.accurate
            }
        };
        self.set_ecn_mode(mode);
    }

    fn set_ecn_mode(&mut self, mode: u8) {
        self.cc.sock.ecn_flags = self.cc.sock.ecn_flags & !ANY_MODE | mode;
    }

    /// ECN field, CWR flag and ACE field of a packet that leaves now. RFC 3168 §6.1.4, §6.1.5: new data
    /// is ECN-capable, pure ACKs and retransmissions are not.
    #[inline]
    pub(crate) fn ecn_of(&mut self, kind: SegmentKind, is_retransmission: bool) -> (Ecn, bool, u8) {
        if !self.is_ecn_ok() {
            return (Ecn::NotEct, false, 0);
        }
        if self.cc.sock.ecn_flags & ECN_MODES.accurate != 0 {
            let (ecn, ace) = self.accecn_fields(kind);
            return (ecn, false, ace);
        }
        if kind == SegmentKind::Syn {
            let is_first = self.counters.syn_retransmits == 0;
            return (self.ecn_of_control(), is_first, 0);
        }
        let is_new_data =
            !is_retransmission && matches!(kind, SegmentKind::Data | SegmentKind::LastData);
        if !is_new_data {
            return (self.ecn_of_control(), false, 0);
        }
        let cwr = self.cc.sock.ecn_flags & ECN_QUEUE_CWR != 0;
        self.withdraw_cwr();
        (Ecn::Ect0, cwr, 0)
    }

    fn ecn_of_control(&self) -> Ecn {
        match self.config.ecn {
            EcnMode::Dctcp => Ecn::Ect0,
            EcnMode::Off | EcnMode::Classic | EcnMode::AccEcn(_) => Ecn::NotEct,
        }
    }

    /// Whether an ACK's ECE flag is an echoed mark.
    #[inline]
    pub(crate) fn is_echo(&self, ece: bool) -> bool {
        ece && self.is_classic() && self.phase == Phase::Established
    }

    /// RFC 3168 §6.1.2: a reduction of the window is reported with the next new data. Accurate ECN needs
    /// no such report.
    pub(crate) fn queue_cwr(&mut self) {
        if self.is_classic() {
            self.cc.sock.ecn_flags |= ECN_QUEUE_CWR;
        }
    }

    pub(crate) fn withdraw_cwr(&mut self) {
        self.cc.sock.ecn_flags &= !ECN_QUEUE_CWR;
    }

    /// An echoed mark: reduces the window as for a loss, but once per round trip (RFC 3168 §6.1.2),
    /// and without undo, because the congestion is proven.
    pub(crate) fn enter_cwr(&mut self) {
        self.cc.sock.prior_ssthresh = 0;
        if self.cc.sock.ca_state() < CaState::Cwr {
            self.recovery.undo_marker = None;
            self.init_cwnd_reduction();
            self.cc.set_state(CaState::Cwr);
            self.counters.ecn_reduction_count += 1;
        }
    }
}
