//! Keeps the kernel from forwarding between two interfaces what crosses the relay.
//!
//! A packet socket sees what comes in and leaves it to the kernel as well. Where the kernel forwards, as in a container, the
//! packet would go out twice, once without the path. A rule of policy routing (ip-rule(8)) drops what comes in by an interface
//! and is not for this machine itself.

use rustix::net::AddressFamily;

use crate::error::Error;
use crate::hosts::netlink::Netlink;

const FAMILIES: [AddressFamily; 2] = [AddressFamily::INET, AddressFamily::INET6];

/// Rules that are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct NoForwarding {
    netlink: Netlink,
    made: Vec<(String, AddressFamily)>,
}

impl NoForwarding {
    /// From any of the interfaces called `names`, in the calling thread's network namespace.
    pub(crate) fn from(names: [&str; 2]) -> Result<Self, Error> {
        let cannot = |source| Error::System {
            what: format!(
                "cannot keep the kernel from forwarding from {} and {}; run as root, or in a container with `--cap-add NET_ADMIN`",
                names[0], names[1]
            ),
            source,
        };
        let netlink = Netlink::open().map_err(cannot)?;
        let mut rules = Self {
            netlink,
            made: Vec::new(),
        };
        for name in names {
            for family in FAMILIES {
                match rules.netlink.stop_forwarding(name, family) {
                    Ok(()) => rules.made.push((name.to_owned(), family)),
                    // A kernel without IPv6, or without policy routing for it, which then forwards none of it by rules.
                    Err(_)
                        if family == AddressFamily::INET6
                            && !std::path::Path::new("/proc/sys/net/ipv6").exists() => {}
                    Err(source) => return Err(cannot(source)),
                }
            }
        }
        Ok(rules)
    }
}

impl Drop for NoForwarding {
    fn drop(&mut self) {
        for (name, family) in &self.made {
            // The interface may be gone, and its rule with it.
            let _ = self.netlink.allow_forwarding(name, *family);
        }
    }
}
