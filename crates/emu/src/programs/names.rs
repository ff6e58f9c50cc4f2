//! Names of hosts, as a program in one of them finds them: in its `/etc/hosts`.

use std::fmt::Write as _;
use std::fs;
use std::net::IpAddr;

/// Instead of the machine's, none of whose name servers a host reaches: one without a listener answers at once.
const RESOLVER: &str = "# no name server is reached from here\nnameserver 127.0.0.1\n";

/// The line behind our names: what a path within this one finds above it are not its hosts.
const END: &str = "# client and server: hosts of an emulated path of dumbbell\n";

/// The names in a group's hosts.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    hosts: Vec<u8>,
    resolver: String,
}

impl Names {
    /// Names of the group with this number, whose hosts have these addresses: `server` and `server0`, `client` and `client0`.
    /// They look other names up as `resolver` says, if there is one.
    pub(crate) fn of_group(
        number: usize,
        servers: &[IpAddr],
        clients: &[IpAddr],
        resolver: Option<&str>,
    ) -> Self {
        let mut hosts = "127.0.0.1\tlocalhost\n::1\tlocalhost\n".to_owned();
        for (name, addresses) in [("server", servers), ("client", clients)] {
            for address in addresses {
                // Writing to a text cannot fail.
                let _ = writeln!(hosts, "{address}\t{name} {name}{number}");
            }
        }
        hosts.push_str(END);
        let mut hosts = hosts.into_bytes();
        // The machine's own name, and other names by which programs may know each other, come after these.
        let of_machine = fs::read("/etc/hosts").unwrap_or_default();
        hosts.extend(behind_names(&of_machine));
        Self {
            hosts,
            resolver: resolver.unwrap_or(RESOLVER).to_owned(),
        }
    }

    /// The content of `/etc/hosts`.
    pub(crate) fn hosts(&self) -> &[u8] {
        &self.hosts
    }

    /// The content of `/etc/resolv.conf`.
    pub(crate) fn resolver(&self) -> &[u8] {
        self.resolver.as_bytes()
    }
}

/// What of `/etc/hosts` is the machine's, also within an emulated path.
fn behind_names(hosts: &[u8]) -> &[u8] {
    let ends = hosts
        .windows(END.len())
        .rposition(|text| text == END.as_bytes());
    &hosts[ends.map_or(0, |at| at + END.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_hosts_are_named_before_what_the_machine_names() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let servers = [address("10.0.3.1"), address("fd64::1")];
        let names = Names::of_group(3, &servers, &[address("10.0.3.2")], None);
        let text = String::from_utf8_lossy(names.hosts()).into_owned();
        let expected = "127.0.0.1\tlocalhost\n::1\tlocalhost\n10.0.3.1\tserver server3\nfd64::1\tserver server3\n10.0.3.2\tclient client3\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with(&fs::read_to_string("/etc/hosts").unwrap_or_default()));
        assert_eq!(names.resolver(), RESOLVER.as_bytes());
    }

    #[test]
    fn names_of_a_path_around_this_one_are_left_out() {
        let around = format!("10.0.0.1\tserver\n{END}127.0.1.1\tthis-machine\n");
        assert_eq!(
            behind_names(around.as_bytes()),
            b"127.0.1.1\tthis-machine\n"
        );
        assert_eq!(behind_names(b"::1 localhost\n"), b"::1 localhost\n");
    }
}
