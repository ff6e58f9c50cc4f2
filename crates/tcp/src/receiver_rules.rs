//! Rules of receivers that are not those of Linux 6.18.

use crate::receiver::Receiver;

/// FreeBSD's `net.inet.tcp.delacktime`, ns.
const FREEBSD_DELAYED_ACK_NS: u64 = 100_000_000;
/// Value of FreeBSD's `MAX_SACK_BLKS`.
const FREEBSD_SACK_BLOCKS: usize = 6;
/// Blocks that Linux remembers; those beyond what fits in an ACK wait for their turn.
const LINUX_SACK_BLOCKS: usize = 4;
/// The system whose rules a receiver follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiverRules {
    /// The rules of Linux.
    #[default]
    Linux,
    /// Linux's before 4.18: every segment above a hole is acknowledged at once, without SACK compression.
    LinuxBefore418,
    /// FreeBSD's (10 to 12): an ACK for every second segment or after 100 ms, at once while anything is held above a hole; six
    /// blocks remembered; no D-SACK.
    FreeBsd,
}

impl ReceiverRules {
    /// How many SACK blocks it remembers.
    pub(crate) fn sack_blocks(self) -> usize {
        match self {
            Self::Linux | Self::LinuxBefore418 => LINUX_SACK_BLOCKS,
            Self::FreeBsd => FREEBSD_SACK_BLOCKS,
        }
    }
}

impl Receiver {
    /// `DELAY_ACK` of FreeBSD's `tcp_input.c`: a segment is acknowledged later only if none waits for its ACK, not considering their
    /// sizes; out of order, never.
    #[cold]
    pub(crate) fn acknowledge_as_freebsd(&mut self, now_ns: u64) {
        let is_delayed = self.config.delayed_ack && self.held.is_empty() && !self.is_ack_delayed();
        if !is_delayed || self.ack_now {
            return self.emit_ack();
        }
        self.ack_due_ns = now_ns + FREEBSD_DELAYED_ACK_NS;
    }
}
