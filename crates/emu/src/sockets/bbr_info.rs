//! State reported by the kernel's own bbr: `struct tcp_bbr_info` of `linux/inet_diag.h`, under the
//! column names of our `bbr`.

use std::io;
use std::os::fd::OwnedFd;

use dumbbell_cc::Series;
use dumbbell_results::StateSamples;
use dumbbell_scenario::Group;

use crate::sockets::socket;

/// Bytes of `struct tcp_bbr_info`: bandwidth (two words), minimum RTT, pacing gain, cwnd gain.
const BBR_INFO_BYTES: usize = 20;

/// Names of the modes, in our `bbr`'s order.
const MODES: [&str; 4] = ["startup", "drain", "probe_bw", "probe_rtt"];

/// cwnd gains of Linux's bbr, 1/256: each mode has its own, except DRAIN, which keeps STARTUP's.
const PROBE_BW_CWND_GAIN: u32 = 2 << 8;
const PROBE_RTT_CWND_GAIN: u32 = 1 << 8;

/// State samples of a group that runs the kernel's own bbr.
#[derive(Debug)]
pub(crate) struct BbrInfo(pub(crate) StateSamples);

impl BbrInfo {
    /// For a group with room for `instants` samples of each flow; `None` if it runs something else.
    pub(crate) fn of_group(group: &Group, instants: usize) -> Option<Self> {
        if group.cc.name != "linux/bbr" || group.program.is_some() {
            return None;
        }
        let mut mode = Series::unscaled("mode", "", "state machine, derived from the gains", 1);
        mode.labels = MODES.map(str::to_owned).to_vec();
        let series = [
            mode,
            Series::unscaled("bw_bps", "bit/s", "bandwidth in use", 8),
            Series::unscaled("min_rtt_us", "µs", "minimum RTT of 10 s", 4),
            Series::unscaled("pacing_gain", "/256", "pacing rate over bandwidth", 4),
            Series::unscaled("cwnd_gain", "/256", "cwnd over BDP", 4),
        ];
        let rows = instants * group.flows as usize;
        Some(Self(StateSamples::with_capacity(
            "linux/bbr",
            &series,
            rows,
        )))
    }

    /// Appends a row: the state of this socket; zeros without one.
    pub(crate) fn sample(&mut self, socket: Option<&OwnedFd>) -> io::Result<()> {
        let mut answer = [0; 64];
        let answer = match socket {
            Some(socket) => socket::cc_info(socket, &mut answer)?,
            None => &[],
        };
        self.push(answer);
        Ok(())
    }

    /// Appends a row: the state in an answer of TCP_CC_INFO.
    pub(crate) fn push(&mut self, answer: &[u8]) {
        for (column, value) in self.0.columns.iter_mut().zip(values(answer)) {
            column.push(value);
        }
    }
}

/// Values of the columns; zeros if the kernel did not answer as bbr does.
fn values(answer: &[u8]) -> [u64; 5] {
    if answer.len() < BBR_INFO_BYTES {
        return [0; 5];
    }
    let word = |index: usize| {
        let bytes = &answer[4 * index..4 * index + 4];
        u32::from_ne_bytes(bytes.try_into().expect("four bytes"))
    };
    let bw_bytes_per_s = u64::from(word(0)) | u64::from(word(1)) << 32;
    let (min_rtt_us, pacing_gain, cwnd_gain) = (word(2), word(3), word(4));
    [
        mode(pacing_gain, cwnd_gain),
        bw_bytes_per_s.saturating_mul(8),
        u64::from(min_rtt_us),
        u64::from(pacing_gain),
        u64::from(cwnd_gain),
    ]
}

/// Index in [`MODES`].
fn mode(pacing_gain: u32, cwnd_gain: u32) -> u64 {
    match cwnd_gain {
        PROBE_BW_CWND_GAIN => 2,
        PROBE_RTT_CWND_GAIN => 3,
        // The gains are zero before the first ACK.
        _ => u64::from(pacing_gain < cwnd_gain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_determine_the_mode() {
        let modes = [
            (0, 0),
            (739, 739),
            (88, 739),
            (320, 512),
            (256, 512),
            (256, 256),
        ];
        let expected = [0, 0, 1, 2, 2, 3];
        assert_eq!(modes.map(|(pacing, cwnd)| mode(pacing, cwnd)), expected);
    }

    #[test]
    fn bandwidth_is_in_bits_and_a_strange_answer_is_nothing() {
        let words: [u32; 5] = [6_250_000, 0, 40_000, 256, 512];
        let answer: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(values(&answer), [2, 50_000_000, 40_000, 256, 512]);
        assert_eq!(values(&answer[..12]), [0; 5]);
    }
}
