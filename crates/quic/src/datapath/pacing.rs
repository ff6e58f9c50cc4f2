//! What goes back to the stack: cwnd, and how fast to send.

use dumbbell_cc::SK_PACING_NEEDED;

use super::Datapath;
use crate::mailbox::Pacing;

/// `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, per cent.
const PACING_PCT: [u64; 2] = [200, 120];

impl Datapath {
    /// Linux's default rate, which is recorded; QUIC paces what asks for it, or by its own rule.
    pub(super) fn update_pacing_rate(&mut self) {
        let sock = &mut self.flow.sock;
        let is_early = sock.snd_cwnd < sock.snd_ssthresh / 2;
        let pct = PACING_PCT[usize::from(!is_early)];
        let window = u64::from(sock.snd_cwnd.max(sock.packets_out));
        let scaled = u64::from(sock.mss_cache) * window * pct * (1_000_000 / 100) * 8;
        sock.sk_pacing_rate =
            (scaled / u64::from(sock.srtt_us.max(1))).min(sock.sk_max_pacing_rate);
    }

    pub(super) fn publish(&self) {
        let sock = &self.flow.sock;
        let asks = sock.sk_pacing_status == SK_PACING_NEEDED && self.is_established;
        let pacing = match (asks, self.is_paced) {
            (true, _) => Pacing::At(sock.sk_pacing_rate),
            (false, true) => Pacing::ByTheStack,
            (false, false) => Pacing::Unpaced,
        };
        self.mailbox
            .publish(sock.snd_cwnd, sock.snd_ssthresh, pacing);
    }
}
