//! What one ACK did.

use crate::delivery_rate::RateSampler;

/// Linux's `FLAG_DATA_ACKED`, for `cong_control`.
const FLAG_DATA_ACKED: i32 = 0x04;
/// Value of Linux's `FLAG_DATA_SACKED`.
const FLAG_DATA_SACKED: i32 = 0x20;
/// Value of Linux's `FLAG_ECE`.
const FLAG_ECE: i32 = 0x40;
/// Value of Linux's `FLAG_LOST_RETRANS`.
const FLAG_LOST_RETRANS: i32 = 0x80;
/// Value of Linux's `FLAG_SND_UNA_ADVANCED`.
const FLAG_SND_UNA_ADVANCED: i32 = 0x400;

/// What one ACK did, gathered while it is processed.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The cumulative ACK advanced.
    pub(crate) una_advanced: bool,
    /// It brings a window.
    pub(crate) window_updated: bool,
    /// New data was acknowledged cumulatively.
    pub(crate) data_acked: bool,
    /// New data was SACKed.
    pub(crate) data_sacked: bool,
    /// Never-retransmitted data sent before recovery was (S)ACKed: it was not lost.
    pub(crate) orig_sack_acked: bool,
    /// Some acknowledged data had been retransmitted: its RTT is ambiguous (Karn).
    pub(crate) retrans_data_acked: bool,
    /// Echoes a mark: what it newly acknowledges counts as marked.
    pub(crate) ece: bool,
    /// Carries a D-SACK.
    pub(crate) dsack: bool,
    /// The D-SACK answers a tail loss probe.
    pub(crate) dsack_tlp: bool,
    /// A retransmission was found lost.
    pub(crate) lost_retrans: bool,
    /// The retransmission timer must be set again.
    pub(crate) set_xmit_timer: bool,
    /// Lowest segment delivered late without having been retransmitted: reordering.
    pub(crate) reord: u32,
    /// Send times of the first and last newly SACKed original, µs.
    pub(crate) sacked_sent_us: Option<(u64, u64)>,
    /// The RTT comes from timestamps, in whole milliseconds.
    pub(crate) rtt_is_coarse: bool,
    pub(crate) rate: RateSampler,
}

impl Progress {
    /// Neither acknowledges nor carries anything: a duplicate ACK.
    pub(crate) fn is_dup_ack(&self) -> bool {
        !(self.una_advanced || self.window_updated || self.data_acked || self.dsack)
    }

    /// Advanced the transfer.
    pub(super) fn is_forward(&self) -> bool {
        self.data_acked || self.data_sacked
    }

    /// The `flag` argument of `cong_control`.
    pub(super) fn cc_flag(&self) -> i32 {
        let mut flag = 0;
        for (set, bit) in [
            (self.data_acked, FLAG_DATA_ACKED),
            (self.data_sacked, FLAG_DATA_SACKED),
            (self.ece, FLAG_ECE),
            (self.lost_retrans, FLAG_LOST_RETRANS),
            (self.una_advanced, FLAG_SND_UNA_ADVANCED),
        ] {
            if set {
                flag |= bit;
            }
        }
        flag
    }
}
