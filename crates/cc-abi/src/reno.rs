//! The kernel functions that most congestion control algorithms call (`net/ipv4/tcp_cong.c` by behaviour).

use crate::Sock;

impl Sock {
    /// `tcp_slow_start`: grows cwnd by `acked` packets up to ssthresh; returns what is left of them.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.snd_cwnd.saturating_add(acked).min(self.snd_ssthresh);
        let left = acked - (cwnd - self.snd_cwnd);
        self.snd_cwnd = cwnd.min(self.snd_cwnd_clamp);
        left
    }

    /// `tcp_cong_avoid_ai`: grows cwnd by one packet for every `w` acknowledged.
    pub fn cong_avoid_ai(&mut self, w: u32, acked: u32) {
        // Credits saved at a larger w open the window by one at most.
        if self.snd_cwnd_cnt >= w {
            self.snd_cwnd_cnt = 0;
            self.snd_cwnd += 1;
        }
        self.snd_cwnd_cnt += acked;
        if w > 0 && self.snd_cwnd_cnt >= w {
            self.snd_cwnd += self.snd_cwnd_cnt / w;
            self.snd_cwnd_cnt %= w;
        }
        self.snd_cwnd = self.snd_cwnd.min(self.snd_cwnd_clamp);
    }

    /// `tcp_is_cwnd_limited`: whether a larger cwnd would have been used.
    pub fn may_grow(&self) -> bool {
        if self.in_slow_start() {
            return self.snd_cwnd < 2 * self.max_packets_out;
        }
        self.is_cwnd_limited()
    }
}
