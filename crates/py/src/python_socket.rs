//! The socket as seen by a congestion control algorithm in Python: the kernel's fields under the kernel's
//! names.

use dumbbell_cc::Sock;
use pyo3::prelude::*;

/// A copy of the sender's socket, for the duration of a call. Fields that BPF congestion control algorithms
/// may write can be set; the rest is read-only.
#[pyclass(name = "Socket", module = "dumbbell._core")]
pub(crate) struct PySocket {
    pub(crate) sock: Sock,
}

impl PySocket {
    /// Copies what the call has set to the sender's socket.
    pub(crate) fn write_back(&self, sock: &mut Sock) {
        sock.sk_pacing_rate = self.sock.sk_pacing_rate;
        sock.sk_pacing_status = self.sock.sk_pacing_status;
        sock.snd_cwnd = self.sock.snd_cwnd;
        sock.snd_cwnd_cnt = self.sock.snd_cwnd_cnt;
        sock.snd_cwnd_stamp = self.sock.snd_cwnd_stamp;
        sock.snd_ssthresh = self.sock.snd_ssthresh;
        sock.app_limited = self.sock.app_limited;
        sock.ecn_flags = self.sock.ecn_flags;
    }
}

#[pymethods]
impl PySocket {
    /// Loss recovery's state (`enum tcp_ca_state`): 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    #[getter]
    fn icsk_ca_state(&self) -> u8 {
        self.sock.ca_state() as u8
    }

    /// Whether cwnd limited sending in the last window.
    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.sock.is_cwnd_limited()
    }

    /// What `tcp_min_rtt()` returns, us; 2^32 - 1 before a sample.
    #[getter]
    fn min_rtt_us(&self) -> u32 {
        self.sock.min_rtt_us()
    }

    /// What `tcp_in_slow_start()` returns.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.sock.in_slow_start()
    }

    /// What `tcp_packets_in_flight()` returns.
    #[getter]
    fn packets_in_flight(&self) -> u32 {
        self.sock.packets_in_flight()
    }

    #[getter]
    fn sk_pacing_rate(&self) -> u64 {
        self.sock.sk_pacing_rate
    }

    #[getter]
    fn sk_max_pacing_rate(&self) -> u64 {
        self.sock.sk_max_pacing_rate
    }

    #[getter]
    fn bytes_acked(&self) -> u64 {
        self.sock.bytes_acked
    }

    #[getter]
    fn bytes_sent(&self) -> u64 {
        self.sock.bytes_sent
    }

    #[getter]
    fn tcp_mstamp(&self) -> u64 {
        self.sock.tcp_mstamp
    }

    #[getter]
    fn tcp_clock_cache(&self) -> u64 {
        self.sock.tcp_clock_cache
    }

    #[getter]
    fn tcp_wstamp_ns(&self) -> u64 {
        self.sock.tcp_wstamp_ns
    }

    #[getter]
    fn delivered_mstamp(&self) -> u64 {
        self.sock.delivered_mstamp
    }

    #[getter]
    fn first_tx_mstamp(&self) -> u64 {
        self.sock.first_tx_mstamp
    }

    #[getter]
    fn sk_pacing_status(&self) -> u32 {
        self.sock.sk_pacing_status
    }

    #[getter]
    fn sk_gso_max_size(&self) -> u32 {
        self.sock.sk_gso_max_size
    }

    #[getter]
    fn icsk_rto(&self) -> u32 {
        self.sock.icsk_rto
    }

    #[getter]
    fn srtt_us(&self) -> u32 {
        self.sock.srtt_us
    }

    #[getter]
    fn mdev_us(&self) -> u32 {
        self.sock.mdev_us
    }

    #[getter]
    fn rttvar_us(&self) -> u32 {
        self.sock.rttvar_us
    }

    #[getter]
    fn mss_cache(&self) -> u32 {
        self.sock.mss_cache
    }

    #[getter]
    fn advmss(&self) -> u32 {
        self.sock.advmss
    }

    #[getter]
    fn snd_una(&self) -> u32 {
        self.sock.snd_una
    }

    #[getter]
    fn snd_nxt(&self) -> u32 {
        self.sock.snd_nxt
    }

    #[getter]
    fn write_seq(&self) -> u32 {
        self.sock.write_seq
    }

    #[getter]
    fn high_seq(&self) -> u32 {
        self.sock.high_seq
    }

    #[getter]
    fn snd_wnd(&self) -> u32 {
        self.sock.snd_wnd
    }

    #[getter]
    fn snd_cwnd(&self) -> u32 {
        self.sock.snd_cwnd
    }

    #[getter]
    fn snd_cwnd_cnt(&self) -> u32 {
        self.sock.snd_cwnd_cnt
    }

    #[getter]
    fn snd_cwnd_stamp(&self) -> u32 {
        self.sock.snd_cwnd_stamp
    }

    #[getter]
    fn snd_ssthresh(&self) -> u32 {
        self.sock.snd_ssthresh
    }

    #[getter]
    fn snd_cwnd_clamp(&self) -> u32 {
        self.sock.snd_cwnd_clamp
    }

    #[getter]
    fn snd_cwnd_used(&self) -> u32 {
        self.sock.snd_cwnd_used
    }

    #[getter]
    fn prior_cwnd(&self) -> u32 {
        self.sock.prior_cwnd
    }

    #[getter]
    fn prior_ssthresh(&self) -> u32 {
        self.sock.prior_ssthresh
    }

    #[getter]
    fn packets_out(&self) -> u32 {
        self.sock.packets_out
    }

    #[getter]
    fn retrans_out(&self) -> u32 {
        self.sock.retrans_out
    }

    #[getter]
    fn sacked_out(&self) -> u32 {
        self.sock.sacked_out
    }

    #[getter]
    fn lost_out(&self) -> u32 {
        self.sock.lost_out
    }

    #[getter]
    fn max_packets_out(&self) -> u32 {
        self.sock.max_packets_out
    }

    #[getter]
    fn cwnd_usage_seq(&self) -> u32 {
        self.sock.cwnd_usage_seq
    }

    #[getter]
    fn prr_delivered(&self) -> u32 {
        self.sock.prr_delivered
    }

    #[getter]
    fn prr_out(&self) -> u32 {
        self.sock.prr_out
    }

    #[getter]
    fn delivered(&self) -> u32 {
        self.sock.delivered
    }

    #[getter]
    fn delivered_ce(&self) -> u32 {
        self.sock.delivered_ce
    }

    #[getter]
    fn lost(&self) -> u32 {
        self.sock.lost
    }

    #[getter]
    fn app_limited(&self) -> u32 {
        self.sock.app_limited
    }

    #[getter]
    fn rate_delivered(&self) -> u32 {
        self.sock.rate_delivered
    }

    #[getter]
    fn rate_interval_us(&self) -> u32 {
        self.sock.rate_interval_us
    }

    #[getter]
    fn total_retrans(&self) -> u32 {
        self.sock.total_retrans
    }

    #[getter]
    fn data_segs_out(&self) -> u32 {
        self.sock.data_segs_out
    }

    #[getter]
    fn reordering(&self) -> u32 {
        self.sock.reordering
    }

    #[getter]
    fn undo_marker(&self) -> u32 {
        self.sock.undo_marker
    }

    #[getter]
    fn lsndtime(&self) -> u32 {
        self.sock.lsndtime
    }

    #[getter]
    fn sk_gso_max_segs(&self) -> u16 {
        self.sock.sk_gso_max_segs
    }

    #[getter]
    fn sk_pacing_shift(&self) -> u8 {
        self.sock.sk_pacing_shift
    }

    #[getter]
    fn icsk_retransmits(&self) -> u8 {
        self.sock.icsk_retransmits
    }

    #[getter]
    fn icsk_backoff(&self) -> u8 {
        self.sock.icsk_backoff
    }

    #[getter]
    fn ecn_flags(&self) -> u8 {
        self.sock.ecn_flags
    }

    #[getter]
    fn undo_retrans(&self) -> i32 {
        self.sock.undo_retrans
    }

    #[setter]
    fn set_sk_pacing_rate(&mut self, value: u64) {
        self.sock.sk_pacing_rate = value;
    }

    #[setter]
    fn set_sk_pacing_status(&mut self, value: u32) {
        self.sock.sk_pacing_status = value;
    }

    #[setter]
    fn set_snd_cwnd(&mut self, value: u32) {
        self.sock.snd_cwnd = value;
    }

    #[setter]
    fn set_snd_cwnd_cnt(&mut self, value: u32) {
        self.sock.snd_cwnd_cnt = value;
    }

    #[setter]
    fn set_snd_cwnd_stamp(&mut self, value: u32) {
        self.sock.snd_cwnd_stamp = value;
    }

    #[setter]
    fn set_snd_ssthresh(&mut self, value: u32) {
        self.sock.snd_ssthresh = value;
    }

    #[setter]
    fn set_app_limited(&mut self, value: u32) {
        self.sock.app_limited = value;
    }

    #[setter]
    fn set_ecn_flags(&mut self, value: u8) {
        self.sock.ecn_flags = value;
    }
}
