//! What a pure ACK says, read from its bytes.

use dumbbell_capture::SackBlocks;
use dumbbell_net::{PureAck, SackOrder};

use crate::packet::wire::{Segment, is_before, read_u32, tcp_flag};

/// Flags of a TCP header that a pure ACK may have besides ACK.
const ECN_FLAGS: u8 = tcp_flag::ECE | tcp_flag::CWR;

/// Kinds of TCP options (RFC 9293 §3.1, RFC 2018, RFC 7323).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Where a TCP header has its length and the flags of the first byte, and where its options begin.
const LENGTH: usize = 12;
const OPTIONS: usize = 20;

/// What the IP packet says if it is a pure ACK.
pub(super) fn pure_ack(packet: &[u8]) -> Option<PureAck> {
    let segment = Segment::parse(packet)?;
    let is_pure = segment.payload_bytes == 0
        && segment.flags & tcp_flag::ACK != 0
        && segment.flags & (tcp_flag::SYN | tcp_flag::FIN | tcp_flag::RST) == 0;
    is_pure.then(|| {
        let tcp = tcp_header(packet, &segment);
        let first_flags = tcp[LENGTH] & 0x0f;
        let mut ack = PureAck {
            number: segment.acknowledgment,
            // CWR and ECE are the two highest bits of the second byte, AE the lowest of the first.
            ecn_flags: (first_flags & 1) << 2 | segment.flags >> 6,
            says_more: first_flags & !1 != 0 || segment.flags & !(ECN_FLAGS | tcp_flag::ACK) != 0,
            has_sack: !segment.sack.as_slice().is_empty(),
            ..PureAck::default()
        };
        read_options(&tcp[OPTIONS..], &mut ack);
        ack
    })
}

/// The TCP header of a packet that parsed.
fn tcp_header<'a>(packet: &'a [u8], segment: &Segment) -> &'a [u8] {
    &packet[segment.ip_header_bytes..segment.header_bytes]
}

/// Notes the timestamps, and whether there is more than timestamps and SACK blocks.
fn read_options(mut options: &[u8], ack: &mut PureAck) {
    loop {
        match *options {
            [] | [END, ..] => return,
            [NO_OPERATION, ref rest @ ..] => options = rest,
            [kind, bytes, ..] if bytes >= 2 && usize::from(bytes) <= options.len() => {
                match (kind, bytes) {
                    (TIMESTAMPS, 10) => {
                        (ack.ts_val, ack.ts_ecr) = (read_u32(options, 2), read_u32(options, 6));
                    }
                    (SACK, _) if bytes % 8 == 2 => {}
                    _ => ack.says_more = true,
                }
                options = &options[usize::from(bytes)..];
            }
            _ => {
                ack.says_more = true; // damaged
                return;
            }
        }
    }
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

    fn blocks(edges: &[(u32, u32)]) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        edges
            .iter()
            .for_each(|&(start, end)| blocks.push(start, end));
        blocks
    }

    /// An IPv4 packet with a TCP header of these flags (both bytes) and options.
    fn packet(flags: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let bytes = 40 + options.len() + payload.len();
        let mut packet = vec![0x45, 0, 0, bytes as u8, 0, 1, 0x40, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, 2, 10, 0, 0, 1]);
        packet.extend([0x13, 0x89, 0x27, 0x10, 0, 0, 0, 1]);
        packet.extend(0xffff_fff0_u32.to_be_bytes());
        let length = (20 + options.len() as u16) / 4;
        packet.extend((length << 12 | flags).to_be_bytes());
        packet.extend([0, 1, 0, 0, 0, 0]);
        packet.extend(options);
        packet.extend(payload);
        packet
    }

    const TIMES: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 7];

    #[test]
    fn an_ack_is_pure_without_data_syn_fin_and_rst() {
        let plain = PureAck {
            number: 0xffff_fff0,
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
