//! Whether packets of one flow leave a queue in the order in which they joined it.

use crate::{Ecn, Header, Packet};

/// Flows that are remembered; of two at one place the later one is.
const SLOTS: usize = 1024;

/// The packet of each flow that joined a queue last of all that have left it.
///
/// What a queue may distinguish is not one flow here: the two directions of a connection, its ECN codepoints
/// (DualPI2, RFC 9332 §2.4) and its DSCPs (CAKE's tins). Packets with CE are passed over, because the
/// queue that they waited in may have made them so.
#[derive(Clone, Debug)]
pub(crate) struct FlowOrder {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    arrived_ns: u64,
}

impl FlowOrder {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); SLOTS],
        }
    }

    /// A packet leaves; whether one of its flow that joined later has left before.
    pub(crate) fn is_overtaken<H: Header>(&mut self, packet: &Packet<H>) -> bool {
        if packet.ecn == Ecn::Ce {
            return false;
        }
        let key = key_of(packet);
        // Multiplicative hashing (Knuth, The Art of Computer Programming 3, §6.4): the upper bits.
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.ilog2());
        let slot = &mut self.slots[place as usize];
        let is_overtaken = slot.key == key && packet.arrived_ns < slot.arrived_ns;
        if !is_overtaken {
            *slot = Slot {
                key,
                arrived_ns: packet.arrived_ns,
            };
        }
        is_overtaken
    }
}

/// The flow, its direction, ECN codepoint and DSCP; not 0.
fn key_of<H: Header>(packet: &Packet<H>) -> u64 {
    let direction = u64::from(packet.header.is_forward());
    let dscp = packet.header.dscp().map_or(64, u64::from);
    (u64::from(packet.flow) << 16)
        | (direction << 15)
        | ((packet.ecn as u64) << 8)
        | (dscp << 1)
        | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Data;

    impl Header for Data {
        fn is_data(&self) -> bool {
            true
        }

        fn is_forward(&self) -> bool {
            true
        }
    }

    fn packet(flow: u32, arrived_ns: u64, ecn: Ecn) -> Packet<Data> {
        Packet {
            flow,
            wire_bytes: 1514,
            ecn,
            hop: 0,
            arrived_ns,
            header: Data,
        }
    }

    #[test]
    fn a_packet_that_leaves_after_a_later_one_of_its_flow_is_overtaken() {
        let mut order = FlowOrder::new();
        let mut leaves = |flow, at_ns, ecn| order.is_overtaken(&packet(flow, at_ns, ecn));
        assert!(!leaves(1, 20, Ecn::NotEct));
        assert!(!leaves(2, 10, Ecn::NotEct), "another flow");
        assert!(
            !leaves(1, 10, Ecn::Ect1),
            "another codepoint, as DualPI2 distinguishes"
        );
        assert!(
            !leaves(1, 10, Ecn::Ce),
            "may have been marked in either queue"
        );
        assert!(!leaves(1, 20, Ecn::NotEct), "at the same time");
        assert!(leaves(1, 19, Ecn::NotEct));
        assert!(!leaves(1, 21, Ecn::NotEct));
    }
}
