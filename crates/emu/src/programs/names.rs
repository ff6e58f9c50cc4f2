//! Names of hosts, as a program in one of them finds them: in its `/etc/hosts`.

use std::fmt::Write as _;
use std::fs;
use std::net::IpAddr;

/// Instead of the machine's, none of whose name servers a host reaches: one without a listener answers at once.
const RESOLVER: &[u8] = b"# no name server is reached from here\nnameserver 127.0.0.1\n";

/// The names in a group's hosts.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    hosts: Vec<u8>,
}

impl Names {
    /// Names of the group with this number, whose hosts have these addresses: `server` and `server0`, `client` and `client0`.
    pub(crate) fn of_group(number: usize, servers: &[IpAddr], clients: &[IpAddr]) -> Self {
        let mut hosts = "127.0.0.1\tlocalhost\n::1\tlocalhost\n".to_owned();
        for (name, addresses) in [("server", servers), ("client", clients)] {
            for address in addresses {
                // Writing to a text cannot fail.
                let _ = writeln!(hosts, "{address}\t{name} {name}{number}");
            }
        }
        let mut hosts = hosts.into_bytes();
        // The machine's own name, and other names by which programs may know each other, come after these.
        hosts.extend(fs::read("/etc/hosts").unwrap_or_default());
        Self { hosts }
    }

    /// The content of `/etc/hosts`.
    pub(super) fn hosts(&self) -> &[u8] {
        &self.hosts
    }

    /// The content of `/etc/resolv.conf`.
    pub(super) fn resolver(&self) -> &'static [u8] {
        RESOLVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_hosts_are_named_before_what_the_machine_names() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let servers = [address("10.0.3.1"), address("fd64::1")];
        let names = Names::of_group(3, &servers, &[address("10.0.3.2")]);
        let text = String::from_utf8_lossy(names.hosts()).into_owned();
        let expected = "127.0.0.1\tlocalhost\n::1\tlocalhost\n10.0.3.1\tserver server3\nfd64::1\tserver server3\n10.0.3.2\tclient client3\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with(&fs::read_to_string("/etc/hosts").unwrap_or_default()));
    }
}
