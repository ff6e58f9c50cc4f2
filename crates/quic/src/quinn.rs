//! What quinn-proto 0.11 has in its own way; compiled once for each of its versions.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};

use super::connection_ids::ConnectionIds;
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

/// The receiver's address for the stack: the path is the simulator's.
pub(super) const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4433);

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

pub(super) fn state(connection: &mut Connection, known: State) -> State {
    let path = connection.stats().path;
    let metrics = connection.congestion_state().metrics();
    State {
        cwnd_bytes: path.cwnd,
        ssthresh_bytes: metrics.ssthresh.filter(|&bytes| bytes != u64::MAX),
        pacing_rate: metrics.pacing_rate.map(|bits| bits / 8),
        srtt_us: path.rtt.as_micros() as u32,
        mtu_bytes: path.current_mtu.into(),
        lost_pkts: path.lost_packets,
        ..known
    }
}

/// Its controllers say nothing of themselves.
pub(super) fn describe_controller(_: &Connection, _: &mut dyn std::fmt::Write) -> std::fmt::Result {
    Ok(())
}

/// Gives an endpoint its connection IDs.
pub(super) fn set_connection_ids(config: &mut EndpointConfig, seed: u64, place: u64) {
    config.cid_generator(move || Box::new(ConnectionIds::new(seed, place)));
}
