//! Shared by the tests of loading and hosting.
use std::rc::Rc;

use dumbbell_cc::{Flow, Instance, Request};

/// A congestion control algorithm that reports what the host does with it.
pub(crate) const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cc/probe.bpf.c");

pub(crate) fn request(name: &str, params: &[(&str, i64)]) -> Request {
    let params = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    Request {
        name: name.to_owned(),
        params,
    }
}

pub(crate) fn load(name: &str, params: &[(&str, i64)]) -> Rc<Instance> {
    Instance::load(&request(name, params), 1).unwrap_or_else(|error| panic!("{error}"))
}

/// A started flow whose sending is limited by its cwnd.
pub(crate) fn cwnd_limited(name: &str, cwnd_pkts: u32) -> Flow {
    let mut flow = load(name, &[]).new_flow();
    flow.init();
    flow.sock.snd_cwnd = cwnd_pkts;
    flow.sock.max_packets_out = cwnd_pkts;
    flow.sock.set_cwnd_limited(true);
    flow
}
