//! The TCP stack of a group's hosts: the fields that a user can set, and which engines have each.
//!
//! A field declared here needs no other declaration. It becomes a key of scenario files, a command-line option, a sweep
//! axis and a row of the reference. The kernel engine refuses a field that only the simulator has.

use dumbbell_declare::{Engines, choices, settings};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::ecn::GroupEcn;
use crate::linux_release;
use crate::receive_window::UNLIMITED_BYTES;

/// Why the kernel engine does not have what is a host's own TCP.
const OWN_TCP: &str = "whose hosts have this machine's TCP";
/// Why the kernel engine does not have super-packets.
const CUTS: &str = "whose relay cuts super-packets into packets";

/// TCP_MIN_MSS of Linux: below it a segment is mostly header.
const MIN_MSS_BYTES: u64 = 88;
/// What an IP packet has room for (RFC 791 §3.1): 65,535 bytes less IP, TCP and timestamps.
const MAX_MSS_BYTES: u64 = 65_535 - 52;
/// More segments than any window has.
const MAX_WINDOW_PKTS: u64 = 1 << 30;

choices! {
    /// Whose receiver the flows have.
    pub enum ReceiverKind {
        /// Linux's.
        linux,
        /// FreeBSD's.
        freebsd,
    }
}

settings! {
    /// The TCP stack of a group's hosts.
    pub struct Host {
        /// Receive window. Where it is not set (1 GiB and more count as that), it is more than a flow needs to fill the
        /// path, but has an end, as windows of real hosts do. The kernel engine reduces a larger one to that; the
        /// simulator uses any below 1 GiB unchanged.
        rwnd_bytes: u64 = UNLIMITED_BYTES, in 1..=u64::MAX, with {
            example: "1MiB", note: "stands for 4 × (BDP + buffers), 1 MiB to 1 GiB", is_recorded: true,
            synonyms: &["receive_window", "rcvbuf", "window"],
        };
        /// Send buffer, in bytes of payload.
        sndbuf_bytes: u64 = UNLIMITED_BYTES, in 1..=u64::MAX, with {
            example: "1MiB", note: "never limits", is_recorded: true, synonyms: &["send_buffer", "wmem"],
        };
        /// The send buffer grows with twice cwnd, as in Linux, up to `sndbuf` bytes of memory, of which a packet takes
        /// 2304 (simulator only).
        sndbuf_auto: bool = false, with {
            engines: Engines::Simulator, why: OWN_TCP,
            synonyms: &["wmem_auto", "sndbuf_autotuning", "tcp_moderate_sndbuf"],
        };
        /// Out-of-order data take room in the receive buffer, which is twice `rwnd`: 2304 bytes a packet, so that the
        /// window is smaller while much is held above a hole (simulator only).
        ooo_memory: bool = false, with {
            engines: Engines::Simulator, why: OWN_TCP, synonyms: &["rmem", "rcvbuf_truesize", "ofo_memory"],
        };
        /// Whose receiver the flows have (simulator only). `freebsd`: an ACK for every second segment or after 100 ms,
        /// for each one while there is a hole; 6 SACK blocks remembered; no D-SACK.
        receiver: ReceiverKind = ReceiverKind::linux, with {
            engines: Engines::Simulator, why: OWN_TCP, example: "freebsd", synonyms: &["receiver_os", "ack_policy"],
        };
        /// Segmentation offload: segments leave in bursts, sized as Linux does.
        tso: bool = true, with { is_recorded: true, synonyms: &["offload"] };
        /// Bursts stay super-packets (simulator only), as between virtual machines or namespaces of one host: queues
        /// count each as one packet and drop or mark it whole, and the receiver acknowledges each of two or more
        /// segments at once.
        gso: bool = false, with {
            engines: Engines::Simulator, why: CUTS, synonyms: &["super_packets", "gso_packets"],
        };
        /// Delayed ACKs, as in Linux; without them every segment is acknowledged at once.
        delayed_ack: bool = true, with { is_recorded: true, synonyms: &["delack", "delayed_acks"] };
        /// Receive offload (simulator only): segments in order that arrive within this time of the first, with the same
        /// timestamp and up to 64 kB, reach TCP as one and get one ACK.
        gro_ns: u64 = 0, with {
            engines: Engines::Simulator, example: "200us", note: "none",
            synonyms: &["lro", "receive_offload", "gro_flush_timeout", "ack_every"],
        };
        /// How many segments the receiver holds above a hole (simulator only): it drops those beyond, as FreeBSD does
        /// with `net.inet.tcp.reass.maxqueuelen`, and does not SACK them. The one that fills the hole is always taken.
        ooo_limit_pkts: Option<u32> = None, in 1..=MAX_WINDOW_PKTS, with {
            engines: Engines::Simulator, example: "48pkt", note: "never limits",
            synonyms: &["reass_maxqueuelen", "out_of_order_limit", "reassembly_limit", "ofo_limit"],
        };
        /// Whose TCP the hosts have (simulator only): a release of Linux (`6.18`, `4.15`, `4.12`), with switches
        /// (`6.18:rto_marks=all`); `dumbbell list tcp 4.15` lists them.
        tcp: linux_release::Config = linux_release::Config::default(), with {
            engines: Engines::Simulator, why: OWN_TCP, example: "4.15",
            synonyms: &["kernel", "linux", "tcp_version", "kernel_version"],
        };
        /// How late each pacing timer of the senders fires (simulator only), as in a virtual machine. Flows that are not
        /// paced do not change.
        timer_lateness_ns: u64 = 0, with {
            engines: Engines::Simulator, why: OWN_TCP, example: "50us",
            synonyms: &["timer_slack", "pacing_lateness", "late_timers"],
        };
        /// Payload of a full segment.
        mss_bytes: u32 = 1448, in MIN_MSS_BYTES..=MAX_MSS_BYTES, with {
            example: "8kB", is_recorded: true, synonyms: &["segment_size"],
        };
        /// Explicit congestion notification of TCP: `off`, `on` (classic, RFC 3168; also true), or `accecn` (Accurate
        /// ECN, RFC 9768; for one group `--set 0.ecn=accecn`). A congestion control that needs ECN, like `dctcp`, always
        /// enables it. Datagrams have a codepoint of their own: `datagram:ecn=ect1`.
        ecn: GroupEcn = GroupEcn::Off;
        /// With Accurate ECN: ACKs have its option, which counts bytes (RFC 9768 §3.2.3), as with Linux's
        /// `tcp_ecn_option`. Without it, marks are counted modulo 8.
        accecn_option: bool = true;
        /// Nagle's algorithm, as in Linux: a short segment waits while another is not acknowledged. Off is
        /// `TCP_NODELAY`, as web servers have it.
        nagle: bool = true, with { synonyms: &["nodelay", "tcp_nodelay"] };
        /// cwnd falls when an application pauses for longer than a timeout, or leaves it unused (RFC 5681, RFC 2861), as
        /// in Linux. It does not where the congestion control sets cwnd itself, as `bbr` does.
        slow_start_after_idle: bool = true, with { synonyms: &["idle_restart", "tcp_slow_start_after_idle"] };
    }
}

impl Host {
    /// Reads the host's fields of a group, which are among the group's own.
    ///
    /// serde collects what is not a field of the group's own; as a map, the host sees all of it and refuses what is not
    /// its field either.
    pub(crate) fn from_flat<'de, D: Deserializer<'de>>(rest: D) -> Result<Self, D::Error> {
        struct Flat;
        impl<'de> Visitor<'de> for Flat {
            type Value = Host;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("the fields of a group")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Host, A::Error> {
                Host::deserialize(MapAccessDeserializer::new(fields))
            }
        }
        rest.deserialize_map(Flat)
    }

    /// Wire size of a full segment, bytes.
    pub fn packet_bytes(&self) -> u64 {
        u64::from(self.mss_bytes) + u64::from(dumbbell_net::DATA_HEADER_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_declare::Settings as _;

    use super::*;
    use crate::Group;

    const GROUP: &str =
        r#""cc":{"name":"reno"},"flows":2,"base_rtt_ns":40000000,"start_ns":0,"start_jitter_ns":0"#;

    fn read(host: &str) -> Result<Group, String> {
        let json = format!(r#"{{{GROUP},"stop_ns":null,"size_bytes":null{host}}}"#);
        serde_json::from_str(&json).map_err(|error| error.to_string())
    }

    #[test]
    fn its_fields_are_among_those_of_a_group() {
        let group = read(r#","tso":false,"ecn":"accecn","tcp":{"rto_cwnd":"one"}"#).expect("valid");
        assert!(!group.host.tso && group.host.nagle);
        assert_eq!(group.host.ecn, GroupEcn::AccEcn);
        assert_eq!(group.host.tcp.rto_cwnd, linux_release::RtoCwnd::one);
        let json = serde_json::to_value(&group).expect("JSON");
        assert_eq!(json["mss_bytes"], 1448);
        let again: Group = serde_json::from_value(json).expect("valid");
        assert_eq!(again, group);
    }

    #[test]
    fn what_is_a_field_of_neither_is_refused() {
        assert!(read("").is_ok());
        assert!(read(r#","tsos":false"#).is_err_and(|says| says.contains("unknown field `tsos`")));
    }

    #[test]
    fn what_another_engine_does_not_have_is_known_by_its_name_and_value() {
        let host = Host {
            gro_ns: 200_000,
            nagle: false,
            ..Host::default()
        };
        let changed = host.changed();
        let texts: Vec<_> = changed
            .iter()
            .map(|each| (each.parameter.name, each.text()))
            .collect();
        assert_eq!(texts, [("gro", Some("200us".to_owned())), ("nagle", None)]);
        assert_eq!(changed[0].parameter.facts.engines, Engines::Simulator);
    }
}
