//! How a receiver acknowledges.

use crate::ecn::EcnMode;
use crate::reader::Reader;
use crate::receiver_rules::ReceiverRules;
use crate::sender::Half;

/// How a receiver acknowledges.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// The flow it belongs to.
    pub flow: u32,
    /// The half it receives.
    pub half: Half,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// Receive window, bytes.
    pub rwnd_bytes: u32,
    /// How its application reads.
    pub reader: Reader,
    /// Delay ACKs; off: one ACK per segment.
    pub delayed_ack: bool,
    /// Receive offload: how long a segment may wait for those that follow it, ns; 0: there is none.
    pub gro_ns: u64,
    /// The operating system whose rules it follows.
    pub rules: ReceiverRules,
    /// Segments it holds above a hole at most, as FreeBSD's `net.inet.tcp.reass.maxqueuelen`; `None`: as
    /// many as the window.
    pub ooo_limit_pkts: Option<u32>,
    /// The path's round trip as measured by the handshake, ns; bounds SACK compression. Linux's
    /// falls with the path's, using timestamps of later data; this one does not change.
    pub rtt_ns: u64,
    /// The tick of the host's timers, ns; 0: they are exact.
    pub tick_ns: u64,
    /// What it agrees to if the SYN requests it.
    pub ecn: EcnMode,
}

impl ReceiverConfig {
    /// Linux's defaults for a connection with segments of `mss_bytes` over a path of `rtt_ns`, whose window never limits.
    pub fn new(flow: u32, mss_bytes: u32, rtt_ns: u64) -> Self {
        Self {
            flow,
            half: Half::Only,
            mss_bytes,
            rwnd_bytes: u32::MAX,
            reader: Reader::PROMPT,
            delayed_ack: true,
            gro_ns: 0,
            rules: ReceiverRules::Linux,
            ooo_limit_pkts: None,
            rtt_ns,
            tick_ns: 0,
            ecn: EcnMode::Off,
        }
    }
}
