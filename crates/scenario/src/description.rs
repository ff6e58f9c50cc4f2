//! A scenario in a line, for where its JSON would be too much.

use std::fmt::Write as _;

use dumbbell_net::Limit;

use crate::group::CongestionControl;
use crate::link::Link;
use crate::scenario::Scenario;

impl Scenario {
    /// What runs on `engine`, in a line: the groups, the path, the seed.
    pub fn in_a_line(&self, engine: &str) -> String {
        let groups: Vec<String> = self
            .groups
            .iter()
            .map(|group| {
                let base_rtt_ms = group.base_rtt_ns as f64 / 1e6;
                let cc = name_with_params(&group.cc);
                format!("{} {cc} ({base_rtt_ms} ms)", group.flows)
            })
            .collect();
        let links: Vec<String> = match &*self.links {
            [only] => vec![rate_and_buffer(only)],
            links => links
                .iter()
                .map(|link| format!("{} {}", link.name, rate_and_buffer(link)))
                .collect(),
        };
        format!(
            "{}; {}; seed {}; {engine}",
            groups.join(" + "),
            links.join(" + "),
            self.seed
        )
    }
}

/// `50 Mbit/s, buffer 250000 B`.
fn rate_and_buffer(link: &Link) -> String {
    let link_rate_mbps = link.link_rate_bps as f64 / 1e6;
    let limit = match link.queue.limit() {
        Limit::Bytes(bytes) => format!("{bytes} B"),
        Limit::Packets(packets) => format!("{packets} packets"),
    };
    let buffer = if link.queue.is_drop_tail() {
        format!("buffer {limit}")
    } else {
        format!("{} of {limit}", link.queue.name())
    };
    format!("{link_rate_mbps} Mbit/s, {buffer}")
}

/// `copa:mode_window_rtts=5`, as the command line takes it.
fn name_with_params(cc: &CongestionControl) -> String {
    let mut text = cc.name.clone();
    let mut separator = ':';
    for (param, value) in &cc.params {
        let _ = write!(text, "{separator}{param}={value}");
        separator = ',';
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn parameters_follow_the_name() {
        let cc = |params: &[(&str, i64)]| CongestionControl {
            name: "copa".to_owned(),
            params: params
                .iter()
                .map(|&(name, value)| (name.to_owned(), value))
                .collect::<BTreeMap<_, _>>(),
        };
        assert_eq!(name_with_params(&cc(&[])), "copa");
        assert_eq!(
            name_with_params(&cc(&[("delta", 2), ("mode_window_rtts", 5)])),
            "copa:delta=2,mode_window_rtts=5"
        );
    }
}
