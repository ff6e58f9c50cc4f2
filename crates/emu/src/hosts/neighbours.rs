//! Link-layer addresses of the machines behind an interface: what the kernel knows, or finds out for us.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::thread;
use std::time::Duration;

use crate::hosts::netlink::Netlink;
use crate::machine::clock::monotonic_ns;

/// A link-layer address.
pub(crate) type LinkLayer = [u8; 6];

/// How long an answer is used before the kernel is asked again, ns: a machine may have been replaced.
const FRESH_NS: u64 = 1_000_000_000;

/// How long it is waited for an answer, and how long after that nothing is sent to a neighbour that gave none, ns. An
/// answer takes well below a millisecond on the bridges that this is for.
const PATIENCE_NS: u64 = 20_000_000;
const SILENCE_NS: u64 = 200_000_000;

/// How often it is looked whether an answer has come.
const LOOK_EVERY: Duration = Duration::from_micros(200);

/// Neighbours that are remembered.
const MAX_KNOWN: usize = 1024;

/// The neighbours of an interface.
#[derive(Debug)]
pub(crate) struct Neighbours {
    netlink: Netlink,
    index: u32,
    known: HashMap<IpAddr, Known>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    link_layer: Option<LinkLayer>,
    until_ns: u64,
}

impl Neighbours {
    /// Those of the interface with this number in the calling thread's network namespace.
    pub(crate) fn of(index: u32) -> io::Result<Self> {
        Ok(Self {
            netlink: Netlink::open()?,
            index,
            known: HashMap::new(),
        })
    }

    /// The link-layer address of `address`; `None` without an answer.
    #[inline]
    pub(crate) fn find(&mut self, address: IpAddr) -> io::Result<Option<LinkLayer>> {
        let now_ns = monotonic_ns();
        match self.known.get(&address) {
            Some(known) if now_ns < known.until_ns => Ok(known.link_layer),
            _ => self.look_up(address, now_ns),
        }
    }

    #[cold]
    fn look_up(&mut self, address: IpAddr, now_ns: u64) -> io::Result<Option<LinkLayer>> {
        let mut link_layer = self.netlink.neighbour(self.index, address)?;
        if link_layer.is_none() {
            self.netlink.ask_for_neighbour(self.index, address)?;
            while link_layer.is_none() && monotonic_ns() < now_ns + PATIENCE_NS {
                thread::sleep(LOOK_EVERY);
                link_layer = self.netlink.neighbour(self.index, address)?;
            }
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let use_ns = if link_layer.is_some() {
            FRESH_NS
        } else {
            SILENCE_NS
        };
        let known = Known {
            link_layer,
            until_ns: monotonic_ns() + use_ns,
        };
        self.known.insert(address, known);
        Ok(link_layer)
    }
}
