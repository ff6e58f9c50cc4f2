//! For any bytes: no panic, an end, and counts that add up.

use std::io::Cursor;

use dumbbell_capture::dissect::dissect;
use dumbbell_capture::{LinkType, Reader};
use proptest::prelude::*;

use crate::reader::files::{MICROSECONDS, NANOSECONDS, Order, Pcap, Pcapng};
use crate::reader::frames::{ETHERNET, Segment, data};
use crate::reader::read;

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Little), Just(Order::Big)]
}

/// Files with three packets each.
fn file() -> impl Strategy<Value = Vec<u8>> {
    (order(), any::<bool>(), 0..2000_usize).prop_map(|(order, is_pcapng, payload_bytes)| {
        if is_pcapng {
            let options: [(u16, &[u8]); 2] = [(1, b"dropped by the bottleneck"), (2, &[0; 4])];
            Pcapng::new(order)
                .interface(1, 0, &[(2, b"eth0"), (9, &[9]), (14, &[0; 8])])
                .packet(0, 1, &data(1, payload_bytes), &options)
                .old_packet(0, 2, &data(2, payload_bytes))
                .simple_packet(54, &data(3, 0))
                .statistics(0, &[(5, &[0; 8])])
                .bytes
        } else {
            Pcap::new(order, NANOSECONDS, ETHERNET)
                .packet(1, 0, &data(1, payload_bytes))
                .packet(1, 1, &data(2, 0))
                .packet(1, 2, &data(3, 9))
                .bytes
        }
    })
}

const LINK_TYPES: [u32; 12] = [0, 1, 12, 14, 101, 108, 113, 147, 228, 229, 276, u32::MAX];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bytes_changed_in_a_good_file(
        file in file(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut file = file;
        prop_assert_eq!(read(&file).0.len(), 3);
        for (at, value) in changes {
            // The bytes that make it a capture are kept.
            let at = at.index(file.len());
            if at >= 4 {
                file[at] = value;
            }
        }
        let (_, counts) = read(&file);
        prop_assert!(counts.packets <= file.len() as u64 / 12);
    }

    #[test]
    fn any_bytes_behind_a_good_header(
        order in order(),
        is_pcapng in any::<bool>(),
        bytes in prop::collection::vec(any::<u8>(), 0..500),
    ) {
        let mut file = if is_pcapng {
            Pcapng::new(order).interface(1, 0, &[]).packet(0, 1, &data(1, 0), &[]).bytes
        } else {
            Pcap::new(order, MICROSECONDS, ETHERNET).packet(1, 0, &data(1, 0)).bytes
        };
        file.extend(bytes);
        prop_assert_eq!(read(&file).0[0].seq, 1);
    }

    #[test]
    fn any_bytes_at_all(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        if let Ok(mut reader) = Reader::new(Box::new(Cursor::new(bytes))) {
            while let Ok(Some(_)) = reader.next() {}
        }
    }

    #[test]
    fn any_frame_of_any_link_type(
        link_type in prop::sample::select(&LINK_TYPES[..]),
        frame in prop::collection::vec(any::<u8>(), 0..200),
        wire_bytes in any::<u32>(),
    ) {
        let packet = dissect(LinkType(link_type), &frame, wire_bytes, true);
        if let Ok(packet) = packet {
            prop_assert!(packet.window_scale.unwrap_or_default() <= 14);
        }
    }

    #[test]
    fn fields_and_options_come_back(
        seq in any::<u32>(),
        flags in 0..0x200_u16,
        payload_bytes in 0..3000_usize,
        timestamps in any::<Option<(u32, u32)>>(),
        sack in prop::collection::vec(any::<(u32, u32)>(), 0..4),
        padding_bytes in 0..3_usize,
    ) {
        let mut options = vec![1; padding_bytes];
        if let Some((value, echo)) = timestamps {
            options.extend([8, 10]);
            options.extend(value.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        if !sack.is_empty() {
            options.extend([5, 2 + 8 * sack.len() as u8]);
        }
        for (start, end) in &sack {
            options.extend(start.to_be_bytes());
            options.extend(end.to_be_bytes());
        }
        let segment = Segment { seq, flags, options, payload_bytes, ..Segment::default() };
        let frame = segment.ethernet();
        let packet = dissect(LinkType::ETHERNET, &frame, frame.len() as u32, false).expect("TCP");
        prop_assert_eq!((packet.seq, packet.flags.0), (seq, flags));
        prop_assert_eq!(packet.payload_bytes as usize, payload_bytes);
        prop_assert_eq!(packet.timestamps, timestamps);
        prop_assert_eq!(packet.sack.as_slice(), &sack);
    }
}
