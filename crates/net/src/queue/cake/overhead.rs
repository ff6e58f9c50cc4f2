//! How many bytes a packet is on the link behind the shaper, whose framing adds to what Linux counts.

use dumbbell_declare::choices;

use crate::ETHERNET_HEADER_BYTES;

choices! {
    /// What a link's layers add to an IP packet, by the keywords of `tc`.
    pub enum LinkLayer {
        /// Nothing is added to what the network counts: the IP packet and 14 bytes of Ethernet header.
        raw,
        /// 48 bytes in ATM cells: more than any DSL line adds.
        conservative,
        /// Ethernet with preamble, checksum and gap: 38 bytes, at least 84.
        ethernet,
        /// A cable modem: 18 bytes, at least 64.
        docsis,
        /// VDSL2 with Ethernet: 22 bytes, PTM.
        bridged_ptm,
        /// VDSL2 with PPPoE: 30 bytes, PTM.
        pppoe_ptm,
        /// ADSL: 8 bytes in ATM cells.
        ipoa_vcmux,
        /// ADSL: 16 bytes in ATM cells.
        ipoa_llcsnap,
        /// ADSL: 24 bytes in ATM cells.
        bridged_vcmux,
        /// ADSL: 32 bytes in ATM cells.
        bridged_llcsnap,
        /// ADSL: 10 bytes in ATM cells.
        pppoa_vcmux,
        /// ADSL: 14 bytes in ATM cells.
        pppoa_llc,
        /// ADSL: 32 bytes in ATM cells.
        pppoe_vcmux,
        /// ADSL: 40 bytes in ATM cells.
        pppoe_llcsnap,
    }
}

choices! {
    /// In what a link puts packets.
    pub enum Framing {
        /// What the link layer has.
        auto,
        /// As they are.
        noatm,
        /// Cells of 53 bytes with 48 of the packet.
        atm,
        /// Blocks of 65 bytes with 64 of the packet.
        ptm,
    }
}

/// What is added to the bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overhead {
    /// Instead of the Ethernet header; `None`: that stays, and nothing is added.
    bytes: Option<u32>,
    /// Fewest bytes of a packet.
    least_bytes: u32,
    framing: Framing,
}

impl Overhead {
    /// The overhead of a link layer, where nothing is set apart.
    pub(super) fn new(
        layer: LinkLayer,
        bytes: Option<u64>,
        least_bytes: Option<u64>,
        framing: Framing,
    ) -> Self {
        use Framing::{atm, noatm, ptm};
        use LinkLayer as L;
        let (of_layer, least, usual) = match layer {
            L::raw => (None, 0, noatm),
            L::conservative => (Some(48), 0, atm),
            L::ethernet => (Some(38), 84, noatm),
            L::docsis => (Some(18), 64, noatm),
            L::bridged_ptm => (Some(22), 0, ptm),
            L::pppoe_ptm => (Some(30), 0, ptm),
            L::ipoa_vcmux => (Some(8), 0, atm),
            L::ipoa_llcsnap => (Some(16), 0, atm),
            L::bridged_vcmux => (Some(24), 0, atm),
            L::bridged_llcsnap => (Some(32), 0, atm),
            L::pppoa_vcmux => (Some(10), 0, atm),
            L::pppoa_llc => (Some(14), 0, atm),
            L::pppoe_vcmux => (Some(32), 0, atm),
            L::pppoe_llcsnap => (Some(40), 0, atm),
        };
        Self {
            bytes: bytes.map(|bytes| bytes as u32).or(of_layer),
            least_bytes: least_bytes.map_or(least, |bytes| bytes as u32),
            framing: if framing == Framing::auto {
                usual
            } else {
                framing
            },
        }
    }

    /// Bytes that a packet of `wire_bytes`, Ethernet header included, takes on the link.
    #[inline]
    pub(super) fn adjusted(&self, wire_bytes: u32) -> u32 {
        let bytes = match self.bytes {
            Some(added) => wire_bytes.saturating_sub(ETHERNET_HEADER_BYTES) + added,
            None => wire_bytes,
        };
        let bytes = bytes.max(self.least_bytes);
        match self.framing {
            Framing::atm => bytes.div_ceil(48) * 53,
            // A byte for each 64 or part of it, as in Linux.
            Framing::ptm => bytes + bytes.div_ceil(64),
            Framing::auto | Framing::noatm => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_blocks_are_whole_and_short_packets_are_filled_up() {
        let adjusted = |layer, wire_bytes| {
            Overhead::new(layer, None, None, Framing::auto).adjusted(wire_bytes)
        };
        assert_eq!(adjusted(LinkLayer::raw, 1514), 1514);
        assert_eq!(adjusted(LinkLayer::ethernet, 1514), 1538);
        assert_eq!(adjusted(LinkLayer::ethernet, 66), 90);
        assert_eq!(adjusted(LinkLayer::ethernet, 54), 84, "at least");
        assert_eq!(adjusted(LinkLayer::docsis, 1514), 1518);
        // An ACK of 52 bytes with 40 of headers: 92 bytes, two cells.
        assert_eq!(adjusted(LinkLayer::pppoe_llcsnap, 66), 2 * 53);
        assert_eq!(adjusted(LinkLayer::conservative, 1514), 33 * 53);
        assert_eq!(adjusted(LinkLayer::pppoe_ptm, 1514), 1530 + 24);
    }

    #[test]
    fn what_is_set_apart_replaces_what_the_layer_has() {
        let set = Overhead::new(LinkLayer::ethernet, Some(4), Some(0), Framing::atm);
        assert_eq!(set.adjusted(14 + 44), 53);
        assert_eq!(set.adjusted(14 + 45), 2 * 53);
        let added = Overhead::new(LinkLayer::raw, Some(0), None, Framing::auto);
        assert_eq!(added.adjusted(1514), 1500);
    }
}
