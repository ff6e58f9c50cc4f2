//! What quinn-proto 0.11 has in its own way; compiled once for each of its versions.

use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::connection_ids::ConnectionIds;
use super::host::PEER;
use super::proto::{
    Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, SendStream, ServerConfig,
    Transmit,
};
use crate::pair::State;

#[path = "quinn/controller.rs"]
mod controller;
#[path = "quinn/crypto.rs"]
mod crypto;

pub(super) use controller::factory;

pub(super) fn endpoint(
    config: EndpointConfig,
    server: Option<Arc<ServerConfig>>,
    seed: [u8; 32],
) -> Endpoint {
    Endpoint::new(Arc::new(config), server, true, Some(seed))
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    ecn: Option<EcnCodepoint>,
    bytes: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, PEER, None, ecn, bytes, answer)
}

pub(super) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    batch: usize,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, batch, buffer)
}

/// Bytes that the stack took of a chunk; `None`: it takes no more.
pub(super) fn write(stream: &mut SendStream<'_>, chunk: Bytes) -> Option<usize> {
    let written = stream.write_chunks(&mut [chunk]).ok()?;
    Some(written.bytes)
}

/// Congestion window, bytes.
pub(super) fn window_bytes(connection: &Connection) -> u64 {
    connection.congestion_state().window()
}

/// Adds to a state what it lacks.
pub(super) fn complete(connection: &Connection, state: &mut State) {
    let path = connection.stats().path;
    let metrics = connection.congestion_state().metrics();
    state.ssthresh_bytes = metrics.ssthresh.filter(|&bytes| bytes != u64::MAX);
    state.pacing_rate = metrics.pacing_rate.map(|bits| bits / 8);
    state.srtt_us = path.rtt.as_micros() as u32;
    state.lost_pkts = path.lost_packets;
}

/// Its controllers say nothing of themselves.
pub(super) fn describe_controller(_: &Connection, _: &mut dyn std::fmt::Write) -> std::fmt::Result {
    Ok(())
}

/// Gives an endpoint its connection IDs.
pub(super) fn set_connection_ids(config: &mut EndpointConfig, seed: u64, place: u64) {
    config.cid_generator(move || Box::new(ConnectionIds::new(seed, place)));
}
