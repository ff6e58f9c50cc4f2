//! Whether cwnd is used, and what becomes of one that is not (RFC 2861 and RFC 7661 in Linux's form,
//! RFC 5681 §4.1).
//!
//! cwnd grows only while it limits sending. When the application leaves it unused it falls: by half
//! the unused part in every RTO, and by half in every RTO of a pause. Congestion control algorithms that set
//! cwnd themselves (`cong_control`) are left alone, as is bulk, which fills the send buffer.

use dumbbell_cc::{CaEvent, CaState};

use crate::establish::INITIAL_CWND;
use crate::sender::Sender;

impl Sender {
    /// What the application wrote since the last transmission is about to be sent, if it may.
    #[cold]
    pub(crate) fn note_writes(&mut self) {
        if std::mem::take(&mut self.stream.wrote_when_starved) {
            self.note_starvation();
        }
        self.stream.wrote = false;
        self.restart_after_idle();
    }

    /// A sender that sends what the application has just written sends no more than that: what is in flight
    /// by then does not measure the path. As Linux does it, at every write that finds less than a
    /// segment left, nothing lost that waits, and room in cwnd.
    pub(crate) fn note_starvation(&mut self) -> bool {
        let sock = &mut self.cc.sock;
        let in_flight = sock.packets_in_flight();
        let is_starved = in_flight < sock.snd_cwnd && sock.lost_out <= sock.retrans_out;
        if is_starved {
            sock.app_limited = (sock.delivered + in_flight).max(1);
        }
        is_starved
    }

    /// RFC 5681 §4.1, RFC 2861 §3.2: after a pause of more than an RTO cwnd is halved for every RTO of
    /// it, down to the restart window.
    fn restart_after_idle(&mut self) {
        let sock = &self.cc.sock;
        if !self.config.slow_start_after_idle || sock.packets_out > 0 || self.cc.has_cong_control()
        {
            return;
        }
        let rto_ms = sock.icsk_rto;
        let mut idle_ms = self.now_ms.wrapping_sub(sock.lsndtime);
        if idle_ms <= rto_ms {
            return;
        }
        self.cc.cwnd_event(CaEvent::CwndRestart);
        let ssthresh = self.current_ssthresh();
        let sock = &mut self.cc.sock;
        sock.snd_ssthresh = ssthresh;
        let restart = INITIAL_CWND.min(sock.snd_cwnd);
        let mut cwnd = sock.snd_cwnd;
        while idle_ms > rto_ms && cwnd > restart {
            idle_ms -= rto_ms;
            cwnd >>= 1;
        }
        sock.snd_cwnd = cwnd.max(restart);
        sock.snd_cwnd_stamp = self.now_ms;
        sock.snd_cwnd_used = 0;
    }

    /// After something was sent, or cwnd prevented it.
    pub(crate) fn validate_cwnd(&mut self, is_cwnd_limited: bool) {
        let sock = &mut self.cc.sock;
        let is_larger = !sock.is_cwnd_limited() && sock.packets_out > sock.max_packets_out;
        if self.una >= self.output.cwnd_usage_seq || is_cwnd_limited || is_larger {
            sock.set_cwnd_limited(is_cwnd_limited);
            sock.max_packets_out = sock.packets_out;
            self.output.cwnd_usage_seq = self.nxt;
            sock.cwnd_usage_seq = sock.snd_nxt;
        }
        if self.stream.is_written {
            self.note_cwnd_usage();
        }
    }

    /// RFC 2861 §3.2: notes how much of cwnd is used, and looks at it once per RTO.
    #[cold]
    fn note_cwnd_usage(&mut self) {
        let sock = &mut self.cc.sock;
        let is_slow_start = sock.snd_cwnd < sock.snd_ssthresh;
        let is_used =
            sock.is_cwnd_limited() || (is_slow_start && sock.snd_cwnd < 2 * sock.max_packets_out);
        if is_used {
            sock.snd_cwnd_used = 0;
            sock.snd_cwnd_stamp = self.now_ms;
            return;
        }
        sock.snd_cwnd_used = sock.snd_cwnd_used.max(sock.packets_out);
        let unused_ms = self.now_ms.wrapping_sub(sock.snd_cwnd_stamp);
        if unused_ms >= sock.icsk_rto
            && self.config.slow_start_after_idle
            && !self.cc.has_cong_control()
        {
            self.shrink_unused_cwnd();
        }
    }

    /// cwnd loses half of what was not used of it, and ssthresh remembers three quarters.
    fn shrink_unused_cwnd(&mut self) {
        let ssthresh = self.current_ssthresh();
        let sock = &mut self.cc.sock;
        if sock.ca_state() == CaState::Open {
            let used = sock.snd_cwnd_used.max(INITIAL_CWND);
            if used < sock.snd_cwnd {
                sock.snd_ssthresh = ssthresh;
                sock.snd_cwnd = (sock.snd_cwnd + used) >> 1;
            }
            sock.snd_cwnd_used = 0;
        }
        sock.snd_cwnd_stamp = self.now_ms;
    }
}
