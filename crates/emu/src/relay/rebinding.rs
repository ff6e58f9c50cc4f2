//! A NAT between client and server that forgets its bindings: from then on the client's datagrams have another port, or
//! another address too, and what is sent to the old one is lost.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use dumbbell_scenario::Way;
use dumbbell_scenario::random::element_seed;
use serde::{Deserialize, Serialize};

use crate::packet::frame::Frame;
use crate::packet::rewrite::End;

/// Ports that clients get: not those of well-known services.
const FIRST_PORT: u16 = 1024;

/// Hosts' numbers in a network of 256 addresses that clients get. The first two are mostly a bridge's and a router's.
const FIRST_HOST: u8 = 3;
const LAST_HOST: u8 = 254;

/// Bindings that are remembered; after this many, all are new.
const MAX_BINDINGS: usize = 16_384;

/// When bindings are forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rebind {
    /// The first time, since the start.
    pub first_ns: u64,
    /// How long after that each time; `None`: only once.
    pub every_ns: Option<u64>,
    /// Whether clients get another address too, of the same network.
    pub addresses: bool,
}

/// A binding that was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rebound {
    /// When, since the start.
    pub at_ns: u64,
    /// The client's own address and port.
    pub client: SocketAddr,
    /// How the server saw it before.
    pub before: SocketAddr,
    /// How it sees it now.
    pub after: SocketAddr,
}

/// The bindings of a NAT, which it forgets at times.
#[derive(Debug)]
pub(crate) struct Rebinding {
    when: Rebind,
    seed: u64,
    draws: u64,
    /// Addresses that no client gets.
    reserved: Vec<IpAddr>,
    /// How often bindings have been forgotten.
    times: u64,
    /// How a server sees clients' addresses, and their addresses with ports.
    addresses: HashMap<IpAddr, IpAddr>,
    bindings: HashMap<SocketAddr, SocketAddr>,
    /// The other way round.
    clients: HashMap<SocketAddr, SocketAddr>,
    rebound: Vec<Rebound>,
    /// Datagrams that were sent to what is no binding.
    unbound_pkts: u64,
}

impl Rebinding {
    /// Nothing is bound yet. No client gets an address that is `reserved`.
    pub(crate) fn new(when: Rebind, seed: u64, reserved: Vec<IpAddr>) -> Self {
        Self {
            when,
            seed,
            draws: 0,
            reserved,
            times: 0,
            addresses: HashMap::new(),
            bindings: HashMap::new(),
            clients: HashMap::new(),
            rebound: Vec::new(),
            unbound_pkts: 0,
        }
    }

    /// Translates a datagram that leaves the path `run_ns` after the start; whether it goes on. Other packets do as they
    /// are.
    pub(crate) fn translate(&mut self, run_ns: u64, frame: &mut Frame) -> bool {
        let Some((source, destination)) = frame.datagram_ends() else {
            return true;
        };
        self.forget(run_ns);
        match frame.way {
            Way::Back => {
                let seen = self.seen(source);
                if seen != source {
                    frame.set_datagram_end(End::Source, seen);
                }
                true
            }
            Way::There => {
                let client = self.clients.get(&destination).copied();
                match client {
                    Some(client) if client != destination => {
                        frame.set_datagram_end(End::Destination, client);
                    }
                    Some(_) => {}
                    None => self.unbound_pkts += 1,
                }
                client.is_some()
            }
        }
    }

    /// Bindings that were replaced since this was last asked.
    pub(crate) fn take_rebound(&mut self) -> Vec<Rebound> {
        std::mem::take(&mut self.rebound)
    }

    /// Datagrams that were sent to what was no binding.
    pub(crate) fn unbound_pkts(&self) -> u64 {
        self.unbound_pkts
    }

    /// How a server sees a client; one that is new is seen as it is, as far as that is free.
    fn seen(&mut self, client: SocketAddr) -> SocketAddr {
        if let Some(&seen) = self.bindings.get(&client) {
            return seen;
        }
        if self.bindings.len() >= MAX_BINDINGS {
            self.bindings.clear();
            self.clients.clear();
        }
        let address = *self.addresses.entry(client.ip()).or_insert(client.ip());
        let mut seen = SocketAddr::new(address, client.port());
        if self.clients.contains_key(&seen) {
            seen.set_port(self.free_port(seen));
        }
        self.bind(client, seen);
        seen
    }

    fn bind(&mut self, client: SocketAddr, seen: SocketAddr) {
        self.bindings.insert(client, seen);
        self.clients.insert(seen, client);
    }

    /// Forgets and replaces all bindings if that is due.
    fn forget(&mut self, run_ns: u64) {
        let Rebind {
            first_ns, every_ns, ..
        } = self.when;
        let Some(since_ns) = run_ns.checked_sub(first_ns) else {
            return;
        };
        let more = every_ns.map_or(0, |every_ns| since_ns / every_ns.max(1));
        if more < self.times {
            return;
        }
        self.times = more + 1;
        let at_ns = first_ns + every_ns.unwrap_or(0) * more;
        self.replace(at_ns);
    }

    fn replace(&mut self, at_ns: u64) {
        if self.when.addresses {
            let mut clients: Vec<IpAddr> = self.addresses.keys().copied().collect();
            clients.sort_unstable();
            for client in clients {
                let other = self.free_address(client);
                self.addresses.insert(client, other);
            }
        }
        let mut before: Vec<_> = self.bindings.drain().collect();
        before.sort_unstable();
        self.clients.clear();
        for (client, before) in before {
            let mut after = SocketAddr::new(self.addresses[&client.ip()], before.port());
            after.set_port(self.free_port(after));
            self.bind(client, after);
            self.rebound.push(Rebound {
                at_ns,
                client,
                before,
                after,
            });
        }
    }

    /// A port that is free at this address, other than the one that is given with it.
    fn free_port(&mut self, seen: SocketAddr) -> u16 {
        loop {
            let port = FIRST_PORT + self.draw(u64::from(u16::MAX - FIRST_PORT) + 1) as u16;
            let other = SocketAddr::new(seen.ip(), port);
            if port != seen.port() && !self.clients.contains_key(&other) {
                return port;
            }
        }
    }

    /// An address in the client's network of 256 that is free, and as which it is not seen now; if there is none, its
    /// own.
    fn free_address(&mut self, client: IpAddr) -> IpAddr {
        let hosts = LAST_HOST - FIRST_HOST + 1;
        let first = self.draw(u64::from(hosts)) as u8;
        let others = (0..hosts).map(|more| {
            let host = FIRST_HOST + ((u16::from(first) + u16::from(more)) % u16::from(hosts)) as u8;
            with_host(client, host)
        });
        let taken: Vec<IpAddr> = (self.addresses.iter())
            .flat_map(|(&client, &seen)| [client, seen])
            .chain(self.reserved.iter().copied())
            .collect();
        let mut free = others.filter(|address| !taken.contains(address));
        free.next().unwrap_or(client)
    }

    /// A number below `bound`, which is small against 2⁶⁴.
    fn draw(&mut self, bound: u64) -> u64 {
        self.draws += 1;
        element_seed(self.seed, "rebinding", self.draws) % bound
    }
}

/// The address with another last byte.
fn with_host(address: IpAddr, host: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mut octets = address.octets();
            octets[3] = host;
            Ipv4Addr::from(octets).into()
        }
        IpAddr::V6(address) => {
            let mut octets = address.octets();
            octets[15] = host;
            Ipv6Addr::from(octets).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::frame::{GroupRoute, Kind, Pool};
    use crate::packet::super_packet::VNET_HEADER_BYTES;

    const SECOND: u64 = 1_000_000_000;

    fn end(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    fn frame(way: Way, from: SocketAddr, to: SocketAddr) -> Frame {
        let mut bytes = vec![0; VNET_HEADER_BYTES];
        bytes.extend([0x45, 0, 0, 28, 0, 7, 0x40, 0, 64, 17, 0, 0]);
        bytes.extend([0; 8]);
        bytes.extend([0, 0, 0, 0, 0, 8, 0, 0]);
        let mut buffer = Pool::new(bytes.len(), 1).take();
        buffer.bytes.copy_from_slice(&bytes);
        let route = GroupRoute { group: 0, way };
        let mut frame = Frame::new(buffer, bytes.len(), route, Kind::Datagram, 0);
        frame.set_datagram_end(End::Source, from);
        frame.set_datagram_end(End::Destination, to);
        frame
    }

    /// How the server sees what the client sends then.
    fn sent(nat: &mut Rebinding, at_ns: u64, client: &str) -> SocketAddr {
        let mut frame = frame(Way::Back, end(client), end("193.167.100.100:443"));
        assert!(nat.translate(at_ns, &mut frame));
        frame.datagram_ends().expect("a datagram").0
    }

    /// Where what the server sends to this address arrives.
    fn answered(nat: &mut Rebinding, at_ns: u64, to: SocketAddr) -> Option<SocketAddr> {
        let mut frame = frame(Way::There, end("193.167.100.100:443"), to);
        let goes_on = nat.translate(at_ns, &mut frame);
        goes_on.then(|| frame.datagram_ends().expect("a datagram").1)
    }

    fn nat(addresses: bool) -> Rebinding {
        let when = Rebind {
            first_ns: SECOND,
            every_ns: Some(5 * SECOND),
            addresses,
        };
        let router = "193.167.0.2".parse().expect("an address");
        Rebinding::new(when, 7, vec![router])
    }

    #[test]
    fn a_client_gets_another_port_at_its_time_and_the_old_one_is_dead() {
        let mut nat = nat(false);
        let client = "193.167.0.100:4433";
        assert_eq!(answered(&mut nat, 0, end(client)), None, "not bound yet");
        assert_eq!(sent(&mut nat, 0, client), end(client));
        assert_eq!(sent(&mut nat, SECOND - 1, client), end(client));
        assert_eq!(
            answered(&mut nat, SECOND - 1, end(client)),
            Some(end(client))
        );
        assert_eq!(answered(&mut nat, SECOND, end(client)), None);
        let first = sent(&mut nat, SECOND, client);
        assert_eq!(first.ip(), end(client).ip());
        assert_ne!(first.port(), 4433);
        assert_eq!(answered(&mut nat, 6 * SECOND - 1, first), Some(end(client)));
        let second = sent(&mut nat, 6 * SECOND, client);
        assert_ne!(second.port(), first.port());
        assert_eq!(answered(&mut nat, 6 * SECOND, first), None);
        let rebound = nat.take_rebound();
        let times: Vec<_> = rebound.iter().map(|rebound| rebound.at_ns).collect();
        assert_eq!(times, [SECOND, 6 * SECOND]);
        assert_eq!((rebound[1].before, rebound[1].after), (first, second));
        assert_eq!(nat.unbound_pkts(), 3);
        // A new one is seen as it is.
        assert_eq!(sent(&mut nat, 7 * SECOND, "193.167.0.100:999").port(), 999);
    }

    #[test]
    fn addresses_change_with_the_ports_and_stay_in_the_network() {
        let mut nat = nat(true);
        let (one, other) = ("193.167.0.100:4433", "193.167.0.90:4433");
        let mut seen = vec![sent(&mut nat, 0, one), sent(&mut nat, 0, other)];
        for time in 0..50 {
            let at_ns = SECOND + 5 * time * SECOND;
            for client in [one, other] {
                let now = sent(&mut nat, at_ns, client);
                let IpAddr::V4(address) = now.ip() else {
                    panic!("{now}");
                };
                assert_eq!(address.octets()[..3], [193, 167, 0]);
                assert!(!["193.167.0.1", "193.167.0.2"].contains(&address.to_string().as_str()));
                assert!(now.ip() != end(one).ip() && now.ip() != end(other).ip());
                let before = seen[seen.len() - 2];
                assert!(now.ip() != before.ip() && now.port() != before.port());
                assert_eq!(answered(&mut nat, at_ns, now), Some(end(client)));
                seen.push(now);
            }
        }
    }

    #[test]
    fn once_is_once() {
        let when = Rebind {
            first_ns: SECOND,
            every_ns: None,
            addresses: false,
        };
        let mut nat = Rebinding::new(when, 7, Vec::new());
        let client = "[fd00:cafe:cafe::100]:4433";
        let mut nat_seen = |at_ns| nat.seen_at(at_ns, end(client));
        let after = [0, SECOND, 2 * SECOND, 3600 * SECOND].map(&mut nat_seen);
        assert_eq!(after[0], end(client));
        assert_ne!(after[1], after[0]);
        assert_eq!(after[1..], [after[1]; 3]);
    }

    impl Rebinding {
        fn seen_at(&mut self, at_ns: u64, client: SocketAddr) -> SocketAddr {
            self.forget(at_ns);
            self.seen(client)
        }
    }
}
