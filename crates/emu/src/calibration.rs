//! Measures the idle path from the hosts before a run: its base RTT and its link rate.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use dumbbell_scenario::{Control, Link, Scenario};

use crate::error::Error;
use crate::hosts::host::{Host, Hosts};
use crate::sockets::datagram::{receive_stamped, receiver, sender, set_datagram_bytes, wait_for};
use crate::sockets::socket;

/// Ports of calibration, below those of flows, so that its packets do not belong to a flow.
const RATE_PORT: u16 = 5002;
const FIRST_LISTEN_PORT: u16 = 5003;
const FIRST_CONNECT_PORT: u16 = 9000;

/// Connections per group that measure the base RTT at once, and how often: in the first round
/// caches are cold, and occasionally the machine is busy for some milliseconds.
const CONNECTIONS: u16 = 3;
const ROUNDS: u16 = 3;

/// A SYN on the wire: 14 bytes of Ethernet, 20 of IP, 20 of TCP and 20 of options.
const SYN_WIRE_BYTES: u64 = 74;

/// Ethernet's header, which counts on the wire but not on a TUN device.
const ETHERNET_BYTES: u64 = 14;

/// IP's and UDP's headers.
const UDP_HEADER_BYTES: u64 = 28;

/// A TCP segment's headers with timestamps: with the MSS they make the MTU.
const TCP_HEADER_BYTES: u64 = 52;

/// How long the packets that measure the rate take on the link: long compared with the lateness of
/// a packet, short compared with a run.
const RATE_TIME_NS: u64 = 50_000_000;

/// Smallest number of packets that measure the rate.
const MIN_RATE_PKTS: u64 = 20;

/// Longest burst, short enough for a host's queue.
const MAX_BURST_PKTS: u64 = 400;

/// Most that one call may send: one IP packet, and Linux's limit of segments.
const MAX_BATCH_BYTES: usize = 65_000;
const MAX_BATCH_PKTS: usize = 64;

/// How long after its due time an answer may arrive before calibration gives up.
const PATIENCE: Duration = Duration::from_secs(2);

/// Measurements of the path while nothing else crossed it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// Base RTT of each group, µs.
    pub(crate) base_rtt_us: Vec<f64>,
    /// Wire bits per second.
    pub(crate) link_rate_bps: f64,
}

impl Calibration {
    /// The delays that were asked for, where the hosts are not ours to measure from.
    pub(crate) fn not_made(scenario: &Scenario) -> Self {
        let groups = scenario.groups.iter();
        Self {
            base_rtt_us: groups.map(|group| group.base_rtt_ns as f64 / 1e3).collect(),
            link_rate_bps: narrowest(scenario).link_rate_bps as f64,
        }
    }
}

/// Measures the path that a relay runs between the hosts; nothing else must cross it meanwhile.
pub(crate) fn calibrate(
    hosts: &Hosts,
    scenario: &Scenario,
    control: &Control,
) -> Result<Calibration, Error> {
    // Created before anything is measured: the kernel takes a moment to start stamping packets.
    let burst = Burst::new(scenario);
    let rate = RateProbe::new(&hosts.senders[0], &hosts.receivers[0], &burst)?;
    let mut base_rtt_us = vec![f64::INFINITY; scenario.groups.len()];
    for round in 0..ROUNDS {
        for (smallest_us, rtt_us) in base_rtt_us
            .iter_mut()
            .zip(handshake_rtts_us(hosts, scenario, round, control)?)
        {
            *smallest_us = smallest_us.min(rtt_us);
        }
    }
    if let Some(group) = base_rtt_us.iter().position(|rtt_us| rtt_us.is_infinite()) {
        return Err(Error::Refused(format!(
            "the base RTT of group {group} could not be measured before the run: no SYN crossed the idle path at once; \
             run it on a machine with less other load"
        )));
    }
    Ok(Calibration {
        base_rtt_us,
        link_rate_bps: rate.measure(scenario, &burst, control)?,
    })
}

/// Each group's handshake RTT as measured by TCP, less the time that the SYN itself takes on the
/// link, which the base RTT does not include. The minimum of a few connections at once: their SYNs
/// wait for each other on the link, and any disturbance can only make an RTT longer.
fn handshake_rtts_us(
    hosts: &Hosts,
    scenario: &Scenario,
    round: u16,
    control: &Control,
) -> Result<Vec<f64>, Error> {
    let connecting = (hosts.senders.iter().zip(&hosts.receivers))
        .map(|(from, to)| Handshakes::start(from, to, round))
        .collect::<Result<Vec<_>, _>>()?;
    connecting
        .iter()
        .zip(&scenario.groups)
        .map(|(handshakes, group)| {
            let deadline = Instant::now() + Duration::from_nanos(group.base_rtt_ns) + PATIENCE;
            let links = scenario
                .links_of(group)
                .chain(scenario.links_back_of(group));
            let on_links_us: f64 = links
                .map(|link| (SYN_WIRE_BYTES * 8) as f64 * 1e6 / link.link_rate_bps as f64)
                .sum();
            Ok(handshakes.smallest_rtt_us(deadline, control)? - on_links_us)
        })
        .collect()
}

/// A group's connections that measure its base RTT.
struct Handshakes {
    /// Kept open: the kernel accepts by itself.
    _listener: OwnedFd,
    connecting: Vec<OwnedFd>,
}

impl Handshakes {
    /// Ports differ in each round: a SYN of a connection that the other side still remembers would
    /// get another answer, and be sent again.
    fn start(from: &Host, to: &Host, round: u16) -> Result<Self, Error> {
        let listen_port = FIRST_LISTEN_PORT + round;
        let listener = to.namespace.within(|| {
            let listener = socket::tcp()?;
            socket::bind(&listener, to.address, listen_port)?;
            socket::listen(&listener)?;
            Ok(listener)
        })?;
        let listener = listener.map_err(rtt_failed)?;
        let connecting = from.namespace.within(|| {
            (FIRST_CONNECT_PORT + round * CONNECTIONS..)
                .take(usize::from(CONNECTIONS))
                .map(|port| {
                    let socket = socket::tcp()?;
                    socket::bind(&socket, from.address, port)?;
                    socket::connect(&socket, to.address, listen_port)?;
                    Ok(socket)
                })
                .collect::<io::Result<_>>()
        })?;
        Ok(Self {
            _listener: listener,
            connecting: connecting.map_err(rtt_failed)?,
        })
    }

    fn smallest_rtt_us(&self, deadline: Instant, control: &Control) -> Result<f64, Error> {
        let mut smallest_us = f64::INFINITY;
        for socket in &self.connecting {
            wait_until(socket, libc::POLLOUT, deadline, control).map_err(rtt_failed)??;
            socket::take_error(socket).map_err(rtt_failed)?;
            let info = socket::tcp_info(socket).map_err(rtt_failed)?;
            // If a SYN was sent again, it is unknown which one was answered (Karn).
            if info.total_retrans_pkts == 0 {
                smallest_us = smallest_us.min(f64::from(info.min_rtt_us));
            }
        }
        Ok(smallest_us)
    }
}

fn rtt_failed(source: io::Error) -> Error {
    Error::System {
        what: "the base RTT could not be measured before the run".to_owned(),
        source,
    }
}

/// Packets that measure the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Burst {
    /// Packets at once: no more than the bottleneck's queue holds.
    pkts: u64,
    bursts: u64,
    wire_bytes: u64,
}

/// The link on the way of the first group's data that is slowest at the start.
fn narrowest(scenario: &Scenario) -> &Link {
    let links = scenario.links_of(&scenario.groups[0]);
    let narrowest = links.min_by_key(|link| link.link_rate_bps);
    narrowest.expect("a route has a link")
}

impl Burst {
    fn new(scenario: &Scenario) -> Self {
        let bottleneck = narrowest(scenario);
        let wire_bytes =
            u64::from(scenario.groups[0].host.mss_bytes) + TCP_HEADER_BYTES + ETHERNET_BYTES;
        let queues_pkts = (scenario.links_of(&scenario.groups[0]))
            .map(|link| link.queue.limit().packets(wire_bytes));
        let queue_pkts = queues_pkts.min().unwrap_or(u64::MAX);
        let bits = u128::from(bottleneck.link_rate_bps) * u128::from(RATE_TIME_NS) / 1_000_000_000;
        let wanted_pkts = ((bits / 8) as u64 / wire_bytes).max(MIN_RATE_PKTS);
        // A burst of one would measure nothing; with a queue of one packet the other is on the link.
        let pkts = wanted_pkts.min(queue_pkts).clamp(2, MAX_BURST_PKTS);
        let bursts = wanted_pkts.div_ceil(pkts);
        Self {
            pkts,
            // A link so slow that bursts take long is measured by few of them: lateness matters
            // little there.
            bursts: bursts.clamp(1, 10),
            wire_bytes,
        }
    }
}

impl Burst {
    fn payload_bytes(&self) -> usize {
        (self.wire_bytes - ETHERNET_BYTES - UDP_HEADER_BYTES) as usize
    }
}

/// Sockets that measure the rate.
struct RateProbe {
    from: OwnedFd,
    to: OwnedFd,
    /// Datagrams per call.
    batch_pkts: usize,
}

impl RateProbe {
    fn new(from: &Host, to: &Host, burst: &Burst) -> Result<Self, Error> {
        let room_bytes = 2 * (burst.pkts * burst.wire_bytes) as usize + (1 << 20);
        let to_socket = to
            .namespace
            .within(|| receiver((to.address, RATE_PORT), room_bytes))?;
        let from_socket = from
            .namespace
            .within(|| sender((from.address, RATE_PORT), (to.address, RATE_PORT)))?;
        let from = from_socket.map_err(rate_failed)?;
        // One call per datagram would be slower than a fast link.
        let is_batched = set_datagram_bytes(&from, burst.payload_bytes()).is_ok();
        Ok(Self {
            batch_pkts: match is_batched {
                true => (MAX_BATCH_BYTES / burst.payload_bytes()).clamp(1, MAX_BATCH_PKTS),
                false => 1,
            },
            from,
            to: to_socket.map_err(rate_failed)?,
        })
    }

    fn measure(&self, scenario: &Scenario, burst: &Burst, control: &Control) -> Result<f64, Error> {
        let bits = (burst.pkts * burst.wire_bytes * 8) as f64;
        let on_link_s = bits / narrowest(scenario).link_rate_bps as f64;
        let path_s = scenario.groups[0].base_rtt_ns as f64 / 1e9;
        let patience = PATIENCE + Duration::from_secs_f64(2.0 * on_link_s + path_s);
        let mut line = Line::default();
        for _ in 0..burst.bursts {
            self.send(burst, control)?;
            let arrivals = self.receive(burst, Instant::now() + patience, control)?;
            line.add(&arrivals);
        }
        let ns_per_pkt = line.slope().ok_or_else(|| {
            Error::Refused("the link rate could not be measured: no packets arrived".to_owned())
        })?;
        Ok((burst.wire_bytes * 8) as f64 * 1e9 / ns_per_pkt)
    }

    /// Sends a burst as fast as the host can; each datagram begins with its number.
    fn send(&self, burst: &Burst, control: &Control) -> Result<(), Error> {
        let payload_bytes = burst.payload_bytes();
        let mut datagrams = vec![0; payload_bytes * burst.pkts as usize];
        for (number, datagram) in (0_u32..).zip(datagrams.chunks_mut(payload_bytes)) {
            datagram[..4].copy_from_slice(&number.to_ne_bytes());
        }
        let deadline = Instant::now() + PATIENCE;
        for batch in datagrams.chunks(payload_bytes * self.batch_pkts) {
            while socket::send(&self.from, batch)
                .map_err(rate_failed)?
                .is_none()
            {
                wait_until(&self.from, libc::POLLOUT, deadline, control).map_err(rate_failed)??;
            }
        }
        Ok(())
    }

    /// Numbers and arrival times (ns) of a burst's packets.
    fn receive(
        &self,
        burst: &Burst,
        deadline: Instant,
        control: &Control,
    ) -> Result<Vec<(u32, u64)>, Error> {
        let mut arrivals: Vec<(u32, u64)> = Vec::with_capacity(burst.pkts as usize);
        let last = burst.pkts as u32 - 1;
        // Packets stay in order: none follows the last one. Lost ones are ignored.
        while arrivals.last().is_none_or(|&(number, _)| number < last) && Instant::now() < deadline
        {
            let mut start = [0; 4];
            match receive_stamped(&self.to, &mut start).map_err(rate_failed)? {
                Some(stamp_ns) => arrivals.push((u32::from_ne_bytes(start), stamp_ns)),
                None => match wait_until(&self.to, libc::POLLIN, deadline, control) {
                    Ok(waited) => waited?,
                    Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                    Err(error) => return Err(rate_failed(error)),
                },
            }
        }
        Ok(arrivals)
    }
}

fn rate_failed(source: io::Error) -> Error {
    Error::System {
        what: "the link rate could not be measured".to_owned(),
        source,
    }
}

/// Waits for a socket until the deadline; the inner error is a cancelled run.
fn wait_until(
    socket: &OwnedFd,
    events: i16,
    deadline: Instant,
    control: &Control,
) -> io::Result<Result<(), Error>> {
    let look_every = Duration::from_millis(20);
    loop {
        if control.is_cancelled() {
            return Ok(Err(Error::Cancelled));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if wait_for(&[socket], events, left.min(look_every))? {
            return Ok(Ok(()));
        }
    }
}

/// Least squares over several bursts that share the slope, not the start: so one late packet, even
/// the first or the last, has little effect.
#[derive(Default)]
struct Line {
    /// Σ (number − mean number)², over the bursts.
    variance: f64,
    /// Σ (number − mean number)·(time − mean time), ns.
    covariance_ns: f64,
}

impl Line {
    fn add(&mut self, arrivals: &[(u32, u64)]) {
        let Some(&(_, first_ns)) = arrivals.first() else {
            return;
        };
        let count = arrivals.len() as f64;
        // From the first: a time of day has no digits to spare in a float.
        let points = || {
            arrivals.iter().map(|&(number, time_ns)| {
                let since_first_ns = time_ns.wrapping_sub(first_ns) as i64;
                (f64::from(number), since_first_ns as f64)
            })
        };
        let mean_number = points().map(|(number, _)| number).sum::<f64>() / count;
        let mean_ns = points().map(|(_, ns)| ns).sum::<f64>() / count;
        for (number, ns) in points() {
            self.variance += (number - mean_number).powi(2);
            self.covariance_ns += (number - mean_number) * (ns - mean_ns);
        }
    }

    /// Time per packet, ns.
    fn slope(&self) -> Option<f64> {
        (self.variance > 0.0 && self.covariance_ns > 0.0)
            .then(|| self.covariance_ns / self.variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_time_per_packet_of_all_bursts() {
        let mut line = Line::default();
        assert_eq!(line.slope(), None);
        let burst = |start_ns: u64| -> Vec<(u32, u64)> {
            (0..10)
                .map(|number| (number, start_ns + u64::from(number) * 242_240))
                .collect()
        };
        line.add(&burst(1_700_000_000_000_000_000));
        line.add(&burst(1_700_000_000_500_000_000));
        let slope_ns = line.slope().expect("there are points");
        assert!((slope_ns - 242_240.0).abs() < 1.0, "{slope_ns}");
    }
}
