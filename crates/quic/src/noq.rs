//! What noq-proto has in its own way; compiled once for each of its versions.
//!
//! Its controllers get packet numbers, and an algorithm of ours can run behind one (`remote`).

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::connection_ids::ConnectionIds;
use super::host::PEER;
use super::proto::{
    Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple, PathId,
    SendStream, ServerConfig, Transmit, congestion,
};
use crate::pair::State;

#[path = "noq/controller.rs"]
mod controller;
#[path = "noq/crypto.rs"]
mod crypto;
#[path = "noq/remote.rs"]
mod remote;

pub(super) use controller::factory;

pub(super) fn endpoint(
    config: EndpointConfig,
    server: Option<Arc<ServerConfig>>,
    seed: [u8; 32],
) -> Endpoint {
    let mut config = config;
    config.rng_seed(Some(seed));
    Endpoint::new(Arc::new(config), server, true)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    ecn: Option<EcnCodepoint>,
    bytes: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from_remote(PEER), ecn, bytes, answer)
}

pub(super) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    batch: usize,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::new(batch)?, buffer)
}

/// Bytes that the stack took of a chunk; `None`: it takes no more.
pub(super) fn write(stream: &mut SendStream<'_>, chunk: Bytes) -> Option<usize> {
    stream.write_chunks(&mut &mut [chunk][..]).ok()
}

/// Congestion window, bytes.
pub(super) fn window_bytes(connection: &Connection) -> u64 {
    connection.congestion_state(PathId::ZERO).map_or(0, congestion::Controller::window)
}

/// Adds to a state what it lacks.
pub(super) fn complete(connection: &mut Connection, state: &mut State) {
    if let Some(controller) = connection.congestion_state(PathId::ZERO) {
        let metrics = controller.metrics();
        state.ssthresh_bytes = metrics.ssthresh.filter(|&bytes| bytes != u64::MAX);
        state.pacing_rate = metrics.pacing_rate;
    }
    if let Some(path) = connection.path_stats(PathId::ZERO) {
        state.srtt_us = path.rtt.as_micros() as u32;
        state.lost_pkts = path.lost_packets;
    }
}

pub(super) fn describe_controller(connection: &Connection, text: &mut dyn fmt::Write) -> fmt::Result {
    match connection.congestion_state(PathId::ZERO) {
        Some(controller) => write!(text, "{controller:?}"),
        None => Ok(()),
    }
}

/// Gives an endpoint its connection IDs.
pub(super) fn set_connection_ids(config: &mut EndpointConfig, seed: u64, place: u64) {
    config.cid_generator(Arc::new(move || Box::new(ConnectionIds::new(seed, place))));
}
