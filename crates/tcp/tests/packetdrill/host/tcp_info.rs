//! `TCP_INFO`, as assertions read it.

use super::Host;
use crate::connection::Connection;

/// How long data waited to be sent or acknowledged (`tcpi_busy_time`).
#[derive(Debug, Default)]
pub(super) struct Busy {
    since_ns: Option<u64>,
    total_ns: u64,
}

impl Busy {
    /// Notes what the connection does now.
    pub(super) fn follow(&mut self, now_ns: u64, connection: &Connection) {
        match (self.since_ns, connection.is_busy()) {
            (None, true) => self.since_ns = Some(now_ns),
            (Some(since_ns), false) => {
                self.total_ns += now_ns - since_ns;
                self.since_ns = None;
            }
            _ => {}
        }
    }

    fn total_us(&self, now_ns: u64) -> u64 {
        let current_ns = self.since_ns.map_or(0, |since_ns| now_ns - since_ns);
        (self.total_ns + current_ns) / 1000
    }
}

impl Host {
    /// The value of a name in an assertion: a field of `TCP_INFO` or a congestion state.
    pub(crate) fn tcp_info(&self, name: &str) -> Option<i64> {
        const STATES: [&str; 5] = [
            "TCP_CA_Open",
            "TCP_CA_Disorder",
            "TCP_CA_CWR",
            "TCP_CA_Recovery",
            "TCP_CA_Loss",
        ];
        if let Some(state) = STATES.iter().position(|&own| own == name) {
            return Some(state as i64);
        }
        let connection = self.connection.as_ref()?;
        let (sender, sock) = (connection.sender(), connection.sender().sock());
        let counters = sender.counters();
        let value = match name {
            "tcpi_snd_cwnd" => u64::from(sock.snd_cwnd),
            "tcpi_snd_ssthresh" => u64::from(sock.snd_ssthresh),
            "tcpi_ca_state" => sock.ca_state() as u64,
            "tcpi_unacked" => u64::from(sock.packets_out),
            "tcpi_sacked" => u64::from(sock.sacked_out),
            "tcpi_lost" => u64::from(sock.lost_out),
            "tcpi_retrans" => u64::from(sock.retrans_out),
            "tcpi_total_retrans" => u64::from(sock.total_retrans),
            "tcpi_reordering" => u64::from(sock.reordering),
            "tcpi_reord_seen" => u64::from(sock.reord_seen),
            "tcpi_delivered" => u64::from(sock.delivered),
            "tcpi_delivered_ce" => u64::from(sock.delivered_ce),
            "tcpi_delivered_e0_bytes" => sender.accecn_bytes()[0],
            "tcpi_delivered_e1_bytes" => sender.accecn_bytes()[1],
            "tcpi_delivered_ce_bytes" => sender.accecn_bytes()[2],
            "tcpi_backoff" => u64::from(sock.icsk_backoff),
            "tcpi_rtt" => u64::from(sock.srtt_us >> 3),
            "tcpi_rttvar" => u64::from(sock.mdev_us >> 2),
            "tcpi_min_rtt" => u64::from(sock.min_rtt_us()),
            "tcpi_rto" => u64::from(sock.icsk_rto) * 1000,
            "tcpi_snd_mss" => u64::from(sock.mss_cache),
            "tcpi_advmss" => u64::from(sock.advmss),
            "tcpi_rwnd_limited" => counters.rwnd_limited_ns / 1000,
            "tcpi_sndbuf_limited" => counters.sndbuf_limited_ns / 1000,
            "tcpi_busy_time" => self.busy.total_us(self.now_ns),
            "tcpi_last_data_recv" => (self.now_ns - connection.last_data_ns) / 1_000_000,
            _ => return None,
        };
        i64::try_from(value).ok()
    }

    /// Moves the connection's counters on to now.
    pub(crate) fn settle(&mut self) {
        let now_ns = self.now_ns;
        self.with_connection(|connection| connection.settle(now_ns));
    }
}
