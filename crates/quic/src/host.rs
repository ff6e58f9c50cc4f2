//! A host of a connection: an endpoint of one version of a stack, its configuration and timers; compiled once for each.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::keys::Crypto;
use super::proto::{
    AckFrequencyConfig, Connection, ConnectionHandle, Endpoint, EndpointConfig, MtuDiscoveryConfig,
    ServerConfig, TransportConfig, VarInt,
};
use super::stack;
use crate::pair::End;
use crate::settings::Settings;

/// Place of the phases of timers among what a seed determines; connection IDs have 0 to 2.
const TIMER_PLACE: u64 = 3;

/// The receiver's address for the stack: the path is the simulator's.
pub(super) const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4433);

/// An endpoint with at most one connection.
pub(super) struct Host {
    pub(super) endpoint: Endpoint,
    pub(super) connection: Option<(ConnectionHandle, Connection)>,
    /// When it wants to be woken, if it is known.
    pub(super) timer_ns: Option<u64>,
    /// Where between two multiples of the granularity its timers fire, ns: hosts have clocks of their own.
    timer_phase_ns: u64,
}

/// What both ends have; the receiver's controller, which has nothing to control, is the stack's default.
pub(super) fn transport(settings: &Settings) -> TransportConfig {
    let mut config = TransportConfig::default();
    config.max_idle_timeout(None);
    if let Some(mtu_bytes) = settings.mtu_bytes {
        config.initial_mtu(mtu_bytes).min_mtu(mtu_bytes);
        config.mtu_discovery_config(None);
    } else {
        config.mtu_discovery_config(Some(MtuDiscoveryConfig::default()));
    }
    if let Some(window_bytes) = settings.window_bytes {
        let window = VarInt::from_u64(window_bytes).unwrap_or(VarInt::MAX);
        config.stream_receive_window(window).receive_window(window);
        config.send_window(window_bytes.saturating_mul(8));
    }
    if settings.ack_delay_us.is_some() || settings.ack_threshold_pkts.is_some() {
        let mut frequency = AckFrequencyConfig::default();
        if let Some(threshold_pkts) = settings.ack_threshold_pkts {
            frequency.ack_eliciting_threshold(threshold_pkts.saturating_sub(1).into());
        }
        frequency.max_ack_delay(settings.ack_delay_us.map(Duration::from_micros));
        config.ack_frequency_config(Some(frequency));
    }
    config
}

pub(super) fn server_config(settings: &Settings) -> ServerConfig {
    let crypto = Arc::new(Crypto);
    let mut config = ServerConfig::new(Arc::clone(&crypto) as _, crypto);
    config.transport_config(Arc::new(transport(settings)));
    config
}

impl Host {
    pub(super) fn new(settings: &Settings, end: End, server: Option<ServerConfig>) -> Self {
        let mut config = EndpointConfig::new(Arc::new(Crypto));
        let (seed, number) = (settings.seed, end.index() as u64);
        stack::set_connection_ids(&mut config, seed, number);
        if let Some(mtu_bytes) = settings.mtu_bytes {
            // It has been checked to be in the range.
            let _ = config.max_udp_payload_size(mtu_bytes.max(1472));
        }
        let rng_seed = crate::random::bytes(seed, number);
        Self {
            endpoint: stack::endpoint(config, server.map(Arc::new), rng_seed),
            connection: None,
            timer_ns: None,
            timer_phase_ns: crate::random::word(seed, TIMER_PLACE, number) % settings.timer_granularity_ns,
        }
    }

    /// When a timer fires that is due at `due_ns`.
    pub(super) fn fires_ns(&self, due_ns: u64, granularity_ns: u64) -> u64 {
        let since_ns = due_ns.saturating_sub(self.timer_phase_ns);
        since_ns.div_ceil(granularity_ns).saturating_mul(granularity_ns).saturating_add(self.timer_phase_ns)
    }
}
