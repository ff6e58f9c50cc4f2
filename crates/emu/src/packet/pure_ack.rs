//! What a pure ACK says, read from its bytes.

use dumbbell_net::{PureAck, SackOrder};
use dumbbell_wire::tcp::{Tcp, TcpFlags};
use dumbbell_wire::tcp_options::{SackBlocks, TcpOption};

use crate::packet::segment::{Segment, is_before};

/// What a pure ACK may say without saying more than an ACK.
const USUAL_FLAGS: u16 = TcpFlags::ACK | TcpFlags::ECE | TcpFlags::CWR | TcpFlags::AE;

/// What the IP packet says if it is a pure ACK.
pub(super) fn pure_ack(packet: &[u8]) -> Option<PureAck> {
    let segment = Segment::parse(packet)?;
    let is_pure = segment.payload_bytes == 0
        && segment.flags.has(TcpFlags::ACK)
        && !segment
            .flags
            .has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST);
    let tcp = Tcp::new(&packet[segment.ip_header_bytes..]).filter(|_| is_pure)?;
    let mut ack = PureAck {
        number: segment.acknowledgment,
        // ECE, CWR and AE are next to one another.
        ecn_flags: (segment.flags.0 >> 6) as u8,
        says_more: tcp.has_reserved() || segment.flags.has(!USUAL_FLAGS),
        has_sack: !segment.sack.as_slice().is_empty(),
        ..PureAck::default()
    };
    for option in tcp.options() {
        match option {
            TcpOption::Timestamps(value, echo) => (ack.ts_val, ack.ts_ecr) = (value, echo),
            TcpOption::Sack(blocks) if blocks.len() % 8 == 0 => {}
            _ => ack.says_more = true,
        }
    }
    Some(ack)
}

/// How the SACK blocks of the ACK in an IP packet are to those of an earlier one.
pub(super) fn sack_order(packet: &[u8], earlier: &[u8]) -> SackOrder {
    match (Segment::parse(packet), Segment::parse(earlier)) {
        (Some(ack), Some(earlier)) => order(&ack.sack, &earlier.sack, earlier.acknowledgment),
        _ => SackOrder::Less,
    }
}

fn order(blocks: &SackBlocks, earlier: &SackBlocks, earlier_number: u32) -> SackOrder {
    let (blocks, earlier) = (blocks.as_slice(), earlier.as_slice());
    let is_covered = |&(start, end): &(u32, u32)| {
        let is_duplicate = is_before(start, earlier_number);
        let mut all = blocks.iter();
        !is_duplicate && all.any(|block| !is_before(start, block.0) && !is_before(block.1, end))
    };
    let bytes = |blocks: &[(u32, u32)]| -> u64 {
        let each = blocks
            .iter()
            .map(|(start, end)| u64::from(end.wrapping_sub(*start)));
        each.sum()
    };
    if !earlier.iter().all(is_covered) {
        return SackOrder::Less;
    }
    if bytes(blocks) > bytes(earlier) {
        SackOrder::More
    } else {
        SackOrder::Same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::test_packets::segment;

    fn blocks(edges: &[(u32, u32)]) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        edges
            .iter()
            .for_each(|&(start, end)| blocks.push(start, end));
        blocks
    }

    /// A segment with these flags, also those that have no meaning.
    fn packet(flags: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut packet = segment(flags, options, payload);
        packet[32] |= (flags >> 8) as u8;
        packet
    }

    const TIMES: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 7];

    #[test]
    fn an_ack_is_pure_without_data_syn_fin_and_rst() {
        let plain = PureAck {
            number: 0x0506_0708,
            ts_val: 9,
            ts_ecr: 7,
            ..PureAck::default()
        };
        assert_eq!(pure_ack(&packet(0x010, &TIMES, &[])), Some(plain));
        for flags in [0x000, 0x012, 0x011, 0x014] {
            assert_eq!(pure_ack(&packet(flags, &TIMES, &[])), None, "{flags:03x}");
        }
        assert_eq!(pure_ack(&packet(0x010, &TIMES, &[1])), None);
        let all_ecn = pure_ack(&packet(0x1d0, &TIMES, &[])).expect("pure");
        assert_eq!((all_ecn.ecn_flags, all_ecn.says_more), (0b111, false));
        let ece = pure_ack(&packet(0x050, &TIMES, &[])).expect("pure");
        assert_eq!(ece.ecn_flags, 0b001);
    }

    #[test]
    fn unknown_options_and_flags_are_noticed() {
        let says_more = |flags, options: &[u8]| {
            let ack = pure_ack(&packet(flags, options, &[]));
            ack.expect("pure").says_more
        };
        assert!(says_more(0x030, &TIMES), "URG");
        assert!(says_more(0x210, &TIMES), "a reserved flag");
        assert!(
            says_more(0x010, &[1, 172, 5, 0, 0, 1, 1, 0]),
            "AccECN's option"
        );
        assert!(says_more(0x010, &[8, 9, 0, 0]), "damaged");
        assert!(!says_more(0x010, &[]));
        let sack = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        assert!(!says_more(0x010, &sack));
    }

    #[test]
    fn blocks_are_covered_by_larger_ones_and_duplicates_by_none() {
        let number = 100;
        let compare = |new: &[_], old: &[_]| order(&blocks(new), &blocks(old), number);
        assert_eq!(compare(&[], &[]), SackOrder::Same);
        assert_eq!(compare(&[(200, 300)], &[]), SackOrder::More);
        assert_eq!(compare(&[], &[(200, 300)]), SackOrder::Less);
        assert_eq!(compare(&[(200, 300)], &[(200, 300)]), SackOrder::Same);
        assert_eq!(compare(&[(200, 400)], &[(200, 300)]), SackOrder::More);
        let two = [(500, 600), (200, 300)];
        assert_eq!(compare(&two, &[(200, 300)]), SackOrder::More);
        assert_eq!(compare(&[(500, 600)], &two), SackOrder::Less);
        assert_eq!(compare(&two, &[(50, 60)]), SackOrder::Less, "a duplicate");
        // Across the wrap of sequence numbers.
        let wrapped = order(
            &blocks(&[(0xffff_fff8, 8)]),
            &blocks(&[(0xffff_fff8, 4)]),
            0xffff_fff0,
        );
        assert_eq!(wrapped, SackOrder::More);
    }
}
