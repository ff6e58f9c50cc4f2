//! What may leave a sender besides cwnd: the receiver's window, the send buffer, Nagle's algorithm; and what has left.

use dumbbell_cc::Flow;

use crate::counters::Limit;
use crate::memory::Share;
use crate::nagle::Nagle;
use crate::outbox::Outbox;
use crate::send_buffer::initial_sndbuf_pkts;
use crate::sender::{Half, SenderConfig};

/// The sending side's limits and its packets.
#[derive(Debug)]
pub(crate) struct Output {
    /// Receiver's window: bytes below this may be sent.
    pub(crate) wnd_end_bytes: u64,
    /// Size of the send buffer now, segments.
    pub(crate) sndbuf_pkts: u32,
    /// Packets in flight from which on cwnd has run away, and nothing new is sent.
    pub(crate) runaway_pkts: u32,
    /// What limited the last transmission.
    pub(crate) limit: Limit,
    pub(crate) nagle: Nagle,
    /// One past the last short segment that was sent (Linux's `snd_sml`).
    pub(crate) short_end: u32,
    /// Segment whose acknowledgment ends the current window of cwnd usage.
    pub(crate) cwnd_usage_seq: u32,
    /// Its part of the memory that all sockets share, if that is limited.
    pub(crate) memory: Option<Share>,
    /// Identification of the last IP packet.
    pub(crate) ip_id: u16,
    /// Packets that the next poll returns.
    pub(crate) outbox: Outbox,
}

impl Output {
    /// Before the handshake, when the receiver's window is not known.
    pub(crate) fn new(config: &SenderConfig, cc: &Flow) -> Self {
        Self {
            wnd_end_bytes: 0,
            sndbuf_pkts: initial_sndbuf_pkts(config),
            // Only of the way there it is known what it holds.
            runaway_pkts: match config.half {
                Half::Only | Half::Forward => cc.runaway_pkts(),
                Half::Reverse => u32::MAX,
            },
            limit: Limit::None,
            nagle: Nagle::new(config.nagle),
            short_end: 0,
            cwnd_usage_seq: 0,
            memory: None,
            ip_id: 0,
            outbox: Outbox::default(),
        }
    }

    /// Identification of the next IP packet.
    #[inline]
    pub(crate) fn next_ip_id(&mut self) -> u16 {
        self.ip_id = self.ip_id.wrapping_add(1);
        self.ip_id
    }
}
