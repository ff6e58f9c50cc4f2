//! Explicit congestion notification at the sender (RFC 3168 §6.1), as Linux does it: which packets
//! are ECN-capable, what an echoed mark does, and CWR.

use dumbbell_cc::CaState;
use dumbbell_net::Ecn;

use crate::packet::SegmentKind;
use crate::sender::{Phase, Sender};

/// Linux's `TCP_ECN_OK` in `ecn_flags`: both ends agreed on ECN.
const ECN_OK: u8 = 1;
/// Linux's `TCP_ECN_QUEUE_CWR`: the next new data carries CWR.
const ECN_QUEUE_CWR: u8 = 2;

/// How a connection uses ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not at all.
    #[default]
    Off,
    /// RFC 3168: new data is ECN-capable, and the receiver echoes a mark until CWR arrives.
    Classic,
    /// For a congestion control that needs ECN (`TCP_CONG_NEEDS_ECN`): every packet is ECN-capable,
    /// and the receiver echoes each change of the mark (RFC 8257 §3.2).
    Dctcp,
}

impl Sender {
    /// Whether both ends agreed on ECN.
    #[inline]
    pub(crate) fn is_ecn_ok(&self) -> bool {
        self.cc.sock.ecn_flags & ECN_OK != 0
    }

    /// RFC 3168 §6.1.1: the first SYN requests ECN. One that is sent again does not (§6.1.1.1): the
    /// first may have been lost at a device that drops ECN-setup SYNs.
    pub(crate) fn ask_for_ecn(&mut self) {
        if self.config.ecn != EcnMode::Off {
            self.cc.sock.ecn_flags = ECN_OK;
        }
    }

    /// The SYN-ACK tells whether the receiver agreed.
    pub(crate) fn settle_ecn(&mut self, is_agreed: bool) {
        if !is_agreed {
            self.cc.sock.ecn_flags &= !ECN_OK;
        }
    }

    /// ECN field and CWR flag of a packet that leaves now. RFC 3168 §6.1.4, §6.1.5: new data is
    /// ECN-capable, pure ACKs and retransmissions are not.
    #[inline]
    pub(crate) fn ecn_of(&mut self, kind: SegmentKind, is_retransmission: bool) -> (Ecn, bool) {
        if !self.is_ecn_ok() {
            return (Ecn::NotEct, false);
        }
        if kind == SegmentKind::Syn {
            let is_first = self.counters.syn_retransmits == 0;
            return (self.ecn_of_control(), is_first);
        }
        let is_new_data =
            !is_retransmission && matches!(kind, SegmentKind::Data | SegmentKind::LastData);
        if !is_new_data {
            return (self.ecn_of_control(), false);
        }
        let cwr = self.cc.sock.ecn_flags & ECN_QUEUE_CWR != 0;
        self.withdraw_cwr();
        (Ecn::Ect0, cwr)
    }

    fn ecn_of_control(&self) -> Ecn {
        match self.config.ecn {
            EcnMode::Dctcp => Ecn::Ect0,
            EcnMode::Off | EcnMode::Classic => Ecn::NotEct,
        }
    }

    /// Whether an ACK's ECE flag is an echoed mark.
    #[inline]
    pub(crate) fn is_echo(&self, ece: bool) -> bool {
        ece && self.is_ecn_ok() && self.phase == Phase::Established
    }

    /// RFC 3168 §6.1.2: a reduction of the window is reported with the next new data.
    pub(crate) fn queue_cwr(&mut self) {
        if self.is_ecn_ok() {
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
            self.undo_marker = None;
            self.init_cwnd_reduction();
            self.cc.set_state(CaState::Cwr);
            self.counters.ecn_reduction_count += 1;
        }
    }
}
