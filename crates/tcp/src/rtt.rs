//! Round-trip time: smoothing, the retransmission timeout and the windowed minimum.
//!
//! RFC 6298 with Linux's choices: µs, a 200 ms floor on the variance term instead of
//! on the RTO (so RTO ≥ srtt + 200 ms), and a variance that falls once per round trip.

use dumbbell_cc::{MinMax, Sock};

/// `TCP_RTO_MIN`: Linux's floor; RFC 6298 §2.4 says 1 s SHOULD, Linux 200 ms.
pub const RTO_MIN_US: u32 = 200_000;
/// `TCP_RTO_MAX` (RFC 6298 §2.5 allows a ceiling of at least 60 s), µs.
pub const RTO_MAX_US: u32 = 120_000_000;
/// `TCP_TIMEOUT_INIT`: RTO before the first sample (RFC 6298 §2.1), µs.
pub const RTO_INITIAL_US: u32 = 1_000_000;
/// `tcp_min_rtt_wlen`: window of `rtt_min`, ms.
const MIN_RTT_WINDOW_MS: u32 = 300_000;

/// State of smoothing in addition to the socket's `srtt_us`, `mdev_us` and `rttvar_us`.
#[derive(Debug)]
pub struct RttEstimator {
    /// Largest mean deviation in this round trip, µs << 2.
    mdev_max_us: u32,
    /// The round trip ends when this segment is acknowledged.
    round_end: u32,
    /// Retransmission timeout without backoff, µs.
    pub(crate) rto_us: u32,
}

#[allow(clippy::new_without_default, reason = "a connection begins with it")]
impl RttEstimator {
    /// Without a sample.
    pub fn new() -> Self {
        Self {
            mdev_max_us: RTO_MIN_US,
            round_end: 0,
            rto_us: RTO_INITIAL_US,
        }
    }

    /// Processes a sample (RFC 6298 §2.2, §2.3).
    pub fn sample(&mut self, sock: &mut Sock, rtt_us: u32, una: u32, nxt: u32) {
        if sock.srtt_us == 0 {
            // §2.2: srtt = R, rttvar = R/2.
            sock.srtt_us = (rtt_us << 3).max(1);
            sock.mdev_us = rtt_us << 1;
            sock.rttvar_us = sock.mdev_us.max(RTO_MIN_US);
            self.mdev_max_us = sock.rttvar_us;
            self.round_end = nxt;
        } else {
            self.smooth(sock, i64::from(rtt_us), una, nxt);
        }
        self.rto_us = ((sock.srtt_us >> 3) + sock.rttvar_us).min(RTO_MAX_US);
        sock.icsk_rto = self.rto_us.div_ceil(1000); // in jiffies of 1 ms
    }

    fn smooth(&mut self, sock: &mut Sock, rtt_us: i64, una: u32, nxt: u32) {
        // §2.3: srtt += (R − srtt)/8, mdev += (|R − srtt| − mdev)/4; srtt is kept <<3, mdev <<2.
        let error = rtt_us - i64::from(sock.srtt_us >> 3);
        sock.srtt_us = (i64::from(sock.srtt_us) + error).max(1) as u32;
        let mut deviation = error.abs() - i64::from(sock.mdev_us >> 2);
        if error < 0 && deviation > 0 {
            // A falling RTT does not make timeouts likely: weight it by an eighth.
            deviation >>= 3;
        }
        sock.mdev_us = (i64::from(sock.mdev_us) + deviation) as u32;
        if sock.mdev_us > self.mdev_max_us {
            self.mdev_max_us = sock.mdev_us;
            sock.rttvar_us = sock.rttvar_us.max(self.mdev_max_us);
        }
        if una > self.round_end {
            if self.mdev_max_us < sock.rttvar_us {
                sock.rttvar_us -= (sock.rttvar_us - self.mdev_max_us) >> 2;
            }
            self.round_end = nxt;
            self.mdev_max_us = RTO_MIN_US;
        }
    }
}

/// Updates `rtt_min` over Linux's five-minute window.
#[inline]
pub fn update_min_rtt(sock: &mut Sock, now_ms: u32, rtt_us: u32) {
    running_min(&mut sock.rtt_min, MIN_RTT_WINDOW_MS, now_ms, rtt_us.max(1));
}

/// A filter without a sample.
pub fn empty_min() -> MinMax {
    MinMax {
        samples: [(0, u32::MAX); 3],
    }
}

/// Windowed minimum in constant space after Kathleen Nichols: the best sample and two
/// runners-up, each the best since the one before it.
fn running_min(filter: &mut MinMax, window: u32, now: u32, value: u32) {
    let new = (now, value);
    let s = &mut filter.samples;
    if value <= s[0].1 || now.wrapping_sub(s[2].0) > window {
        *s = [new; 3];
        return;
    }
    if value <= s[1].1 {
        s[1] = new;
        s[2] = new;
    } else if value <= s[2].1 {
        s[2] = new;
    }
    let age = now.wrapping_sub(s[0].0);
    if age > window {
        // The best expired: the runners-up move up, twice if need be.
        *s = [s[1], s[2], new];
        if now.wrapping_sub(s[0].0) > window {
            *s = [s[1], s[2], new];
        }
    } else if s[1].0 == s[0].0 && age > window / 4 {
        // A quarter passed without a runner-up: take one from this quarter.
        s[1] = new;
        s[2] = new;
    } else if s[2].0 == s[1].0 && age > window / 2 {
        s[2] = new;
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_cc::{Instance, Request};

    use super::*;

    /// RFC 6298 §2.3, except for Linux's eighth: a falling RTT hardly raises the variance.
    #[test]
    fn the_variance_grows_less_when_the_rtt_falls() {
        for (rtt_us, want_mdev_us) in [(700_000, 900_000), (100_000, 812_500)] {
            let request = Request {
                name: "reno".to_owned(),
                ..Request::default()
            };
            let mut flow = Instance::load(&request, 1).expect("built in").new_flow();
            let mut estimator = RttEstimator::new();
            estimator.sample(&mut flow.sock, 400_000, 0, 10);
            assert_eq!((flow.sock.mdev_us, estimator.rto_us), (800_000, 1_200_000));
            estimator.sample(&mut flow.sock, rtt_us, 1, 10);
            // |R − srtt| = 300 ms, 100 ms above the mean deviation: all of it or an eighth.
            assert_eq!(flow.sock.mdev_us, want_mdev_us, "{rtt_us} µs");
        }
    }

    #[test]
    fn the_minimum_expires_with_its_window() {
        let mut filter = empty_min();
        for (now, value, want) in [
            (0, 50, 50),
            (10, 40, 40),
            (30, 60, 40),
            (70, 55, 40),
            (111, 70, 55),
            (250, 80, 80),
        ] {
            running_min(&mut filter, 100, now, value);
            assert_eq!(filter.samples[0].1, want, "at {now}");
        }
    }
}
