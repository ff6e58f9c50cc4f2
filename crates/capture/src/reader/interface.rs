//! Where packets were captured: the interfaces a capture file describes.

use super::clock::Clock;
use crate::link_layer::LinkType;

/// A file with more is damaged, or made to exhaust memory. The oldest kind of packet block counts
/// interfaces in 16 bits.
pub(super) const INTERFACES_MAX: usize = 1 << 16;

/// Longer names are cut, for the same reason.
const NAME_CHARS_MAX: usize = 128;

/// An interface, or a capture point of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name, followed by a number (`eth0#2`) if an earlier interface has the same; pcap files have
    /// none.
    pub name: Option<String>,
    /// The first header of its frames.
    pub link_type: LinkType,
    /// Frames are cut to this many bytes; 0: no limit.
    pub snap_bytes: u32,
    /// Packets that the capturing machine reported as missed here.
    pub missed_pkts: Option<u64>,
    /// The unit of its time stamps.
    pub(super) clock: Clock,
}

impl Interface {
    pub(super) fn new(link_type: LinkType, snap_bytes: u32, clock: Clock) -> Self {
        Self {
            name: None,
            link_type,
            snap_bytes,
            missed_pkts: None,
            clock,
        }
    }

    pub(super) fn set_name(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        let name: String = name
            .trim_end_matches('\0')
            .chars()
            .take(NAME_CHARS_MAX)
            .collect();
        self.name = (!name.is_empty()).then_some(name);
    }
}
