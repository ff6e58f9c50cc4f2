//! The send buffer: how it grows where it is tuned, and what it takes of memory that is limited.

use std::rc::Rc;

use crate::establish::INITIAL_CWND;
use crate::memory::{Share, TcpMemory, packet_memory_bytes};
use crate::sender::{Sender, SenderConfig};

/// How many windows the send buffer has room for (`tcp_sndbuf_expand`).
const SNDBUF_CWNDS: u32 = 2;
/// The send buffer of a new connection, segments.
const INITIAL_SNDBUF_PKTS: u32 = SNDBUF_CWNDS * INITIAL_CWND;

/// Its size when the connection begins, segments.
pub(crate) fn initial_sndbuf_pkts(config: &SenderConfig) -> u32 {
    if config.tunes_sndbuf {
        config.sndbuf_pkts.min(INITIAL_SNDBUF_PKTS)
    } else {
        config.sndbuf_pkts
    }
}

impl Sender {
    /// Counts what waits in the send buffer against `memory`.
    pub fn share_memory(&mut self, memory: Rc<TcpMemory>) {
        self.output.memory = Some(Share::new(memory));
    }

    #[cold]
    pub(crate) fn charge_memory(&mut self) {
        let last = if self.config.fills_sndbuf {
            self.stream
                .end
                .min(self.una.saturating_add(self.output.sndbuf_pkts))
        } else {
            self.nxt
        };
        // A FIN that has a segment of its own is behind the last byte, and acknowledged `una` is behind it.
        let waiting = last.saturating_sub(self.una);
        let bytes = u64::from(waiting) * packet_memory_bytes(self.config.mss_bytes);
        if let Some(share) = &mut self.output.memory {
            share.charge(bytes);
        }
    }

    /// `tcp_sndbuf_expand`: room for twice cwnd, or as much as the congestion control algorithm wants. Linux asks when it has freed
    /// room and cwnd is not filled, so its buffer is smaller at times, never larger.
    #[cold]
    pub(crate) fn tune_sndbuf(&mut self) {
        if !self.output.memory.as_ref().is_none_or(Share::is_plentiful) {
            return;
        }
        let factor = self.cc.sndbuf_expand().unwrap_or(SNDBUF_CWNDS);
        let sock = &self.cc.sock;
        let window = sock.snd_cwnd.max(INITIAL_CWND).max(sock.reordering + 1);
        let wanted = factor.saturating_mul(window).min(self.config.sndbuf_pkts);
        self.output.sndbuf_pkts = self.output.sndbuf_pkts.max(wanted);
    }
}
