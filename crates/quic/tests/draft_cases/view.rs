//! What a BBRv3 says of itself: ours by its series, noq's by the text of its `Debug`, whose fields have the draft's names.

use std::fmt;

use dumbbell_quic::Pair;

/// The state machine's states, by the number in our series.
const STATES: [&str; 7] = [
    "startup",
    "drain",
    "down",
    "cruise",
    "refill",
    "up",
    "probe_rtt",
];
/// In noq's text this begins the records of packets, which nobody reads here: formatting ends there.
const LAST: &str = ", packets: ";
/// What has no bound is at least this much, bytes.
const NO_BOUND: f64 = 1e12;

/// Its state, in bytes, bytes/s and seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) state: &'static str,
    pub(crate) pacing_gain: f64,
    pub(crate) cwnd_gain: f64,
    pub(crate) max_bw: f64,
    pub(crate) bw: f64,
    pub(crate) bw_shortterm: f64,
    pub(crate) min_rtt_s: f64,
    pub(crate) extra_acked: f64,
    /// Infinite where there is no bound.
    pub(crate) inflight_longterm: f64,
    pub(crate) inflight_shortterm: f64,
    pub(crate) full_bw_now: bool,
    pub(crate) full_bw_reached: bool,
    pub(crate) full_bw_count: u64,
    pub(crate) round: u64,
    pub(crate) idle_restart: bool,
    pub(crate) cwnd: f64,
    pub(crate) inflight: f64,
    pub(crate) pacing_rate: f64,
}

impl View {
    /// Reads that of a connection's sender.
    pub(crate) fn of(pair: &mut dyn Pair, text: &mut String) -> Self {
        let mut view = match pair.own_flow() {
            Some(flow) => Self::of_ours(flow),
            None => {
                text.clear();
                let _ = pair.describe_controller(&mut Head(text)); // it ends by an error on purpose
                Self::of_text(text)
            }
        };
        let state = pair.state();
        view.cwnd = state.cwnd_bytes as f64;
        view.inflight = state.inflight_bytes as f64;
        view.pacing_rate = state.pacing_rate.unwrap_or(0) as f64;
        view
    }

    /// The draft's BBR.bdp, bytes.
    pub(crate) fn bdp(&self) -> f64 {
        self.bw * self.min_rtt_s
    }

    fn of_ours(flow: &dumbbell_cc::Flow) -> Self {
        let mss = f64::from(flow.sock.mss_cache);
        let mut view = Self::default();
        let columns = flow.instance().series();
        flow.read_series(|index, raw| {
            let column = &columns[index];
            let value = raw as f64 * f64::from(column.mul as u32) / f64::from(column.div as u32);
            let bound = if value >= f64::from(u32::MAX) {
                f64::INFINITY
            } else {
                value * mss
            };
            match column.name.as_str() {
                "state" => view.state = STATES[raw as usize],
                "pacing_gain_pct" => view.pacing_gain = value / 100.0,
                "cwnd_gain_pct" => view.cwnd_gain = value / 100.0,
                "max_bw_bps" => view.max_bw = value * mss / 8.0,
                "bw_bps" => view.bw = value * mss / 8.0,
                "bw_shortterm_bps" => view.bw_shortterm = value * mss / 8.0,
                "min_rtt_us" => view.min_rtt_s = value / 1e6,
                "extra_acked_pkts" => view.extra_acked = value * mss,
                "inflight_longterm_pkts" => view.inflight_longterm = bound,
                "inflight_shortterm_pkts" => view.inflight_shortterm = bound,
                "full_bw_now" => view.full_bw_now = raw != 0,
                "full_bw_reached" => view.full_bw_reached = raw != 0,
                "full_bw_count" => view.full_bw_count = raw,
                "round" => view.round = raw,
                "idle_restart" => view.idle_restart = raw != 0,
                _ => {}
            }
        });
        view
    }

    fn of_text(text: &str) -> Self {
        let word = |name: &str| {
            let from = text
                .find(&format!(" {name}: "))
                .map(|at| at + name.len() + 3);
            let rest =
                &text[from.unwrap_or_else(|| panic!("noq's BBRv3 has no `{name}`: {text}"))..];
            rest.split([',', ' ']).next().unwrap_or(rest)
        };
        let number = |name: &str| word(name).parse::<f64>().unwrap_or(f64::NAN);
        let bound = |name: &str| {
            let value = number(name);
            if value < NO_BOUND {
                value
            } else {
                f64::INFINITY
            }
        };
        let is = |name: &str| word(name) == "true";
        let state = match word("state") {
            "Startup" => "startup",
            "Drain" => "drain",
            "ProbeRtt" => "probe_rtt",
            "ProbeBw(Down)" => "down",
            "ProbeBw(Cruise)" => "cruise",
            "ProbeBw(Refill)" => "refill",
            "ProbeBw(Up)" => "up",
            other => panic!("noq's BBRv3 has a state `{other}`"),
        };
        Self {
            state,
            pacing_gain: number("pacing_gain"),
            cwnd_gain: number("cwnd_gain"),
            max_bw: number("max_bw"),
            bw: number("bw"),
            bw_shortterm: bound("bw_shortterm"),
            min_rtt_s: seconds(word("min_rtt")),
            extra_acked: number("extra_acked"),
            inflight_longterm: bound("inflight_longterm"),
            inflight_shortterm: bound("inflight_shortterm"),
            full_bw_now: is("full_bw_now"),
            full_bw_reached: is("full_bw_reached"),
            full_bw_count: number("full_bw_count") as u64,
            round: number("round_count") as u64,
            idle_restart: is("idle_restart"),
            ..Self::default()
        }
    }
}

/// Reads a duration's text, such as `40.2ms`.
fn seconds(text: &str) -> f64 {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let value: f64 = digits.parse().unwrap_or(f64::NAN);
    match &text[digits.len()..] {
        "s" => value,
        "ms" => value / 1e3,
        "µs" => value / 1e6,
        "ns" => value / 1e9,
        _ => f64::INFINITY,
    }
}

/// Takes text until the records of packets begin.
struct Head<'text>(&'text mut String);

impl fmt::Write for Head<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        if self.0.ends_with(LAST) || text == "packets" {
            return Err(fmt::Error);
        }
        Ok(())
    }
}
