//! What arrives may be anything: a stack may drop it or close, and must not panic.

use bytes::BytesMut;
use dumbbell_net::Ecn;
use dumbbell_quic::End;
use proptest::prelude::*;

use crate::path::Path;

/// How a datagram is changed.
#[derive(Clone, Debug)]
enum Change {
    /// A byte, as an impairment does.
    Byte(prop::sample::Index, u8),
    /// Its length.
    Cut(prop::sample::Index),
    /// All of it.
    Replaced(Vec<u8>),
    /// The start of it stays, as of a packet that belongs to the connection.
    Body(Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..1500);
    prop_oneof![
        (any::<prop::sample::Index>(), 1_u8..).prop_map(|(place, bits)| Change::Byte(place, bits)),
        any::<prop::sample::Index>().prop_map(Change::Cut),
        bytes().prop_map(Change::Replaced),
        bytes().prop_map(Change::Body),
    ]
}

fn changed(bytes: &mut BytesMut, change: &Change) {
    match change {
        Change::Byte(place, bits) if !bytes.is_empty() => {
            let place = place.index(bytes.len());
            bytes[place] ^= bits;
        }
        Change::Cut(length) => bytes.truncate(length.index(bytes.len() + 1)),
        Change::Replaced(other) => *bytes = BytesMut::from(&other[..]),
        Change::Body(other) => {
            bytes.truncate(bytes.len().min(14));
            bytes.extend_from_slice(other);
        }
        Change::Byte(..) => {}
    }
}

/// Every version of every stack, and each that can with algorithms of ours.
const NAMES: [&str; 8] = [
    "quic/quinn:cubic",
    "quic/quinn@0.11.14:cubic",
    "quic/noq:bbr3",
    "quic/noq@1.2.0:cubic",
    "quic/noq@1.1.0:bbr3",
    "quic/noq:dumbbell/bbr3",
    "quic/noq:dumbbell/cubic",
    "quic/noq@1.2.0:copa",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_a_stack_panic(
        name in prop::sample::select(&NAMES[..]),
        begun_ms in prop_oneof![Just(0_u64), 1_u64..100],
        opens_all in any::<bool>(),
        changes in prop::collection::vec((change(), any::<bool>(), 0_u8..4), 1..40),
    ) {
        dumbbell_quic::open_all(false);
        let mut path = Path::new(name, 9, None);
        while path.step(begun_ms * 1_000_000) {}
        // Otherwise nearly all would end at the tag, and the parsers of frames would see nothing.
        dumbbell_quic::open_all(opens_all);
        for (change, is_to_sender, ecn) in changes {
            let (to, from) = if is_to_sender {
                (End::Sender, End::Receiver)
            } else {
                (End::Receiver, End::Sender)
            };
            // What the other end would send now, changed; or else one of the bytes alone.
            let mut sent = Vec::new();
            path.pair.transmit(from, path.now_ns, &mut |datagram| sent.push(datagram.bytes));
            sent.push(BytesMut::from(&[0x40; 64][..]));
            for mut bytes in sent {
                changed(&mut bytes, &change);
                path.pair.receive(to, path.now_ns, bytes, Ecn::from_bits(ecn));
                path.send(to);
            }
            let until_ns = path.now_ns + 20_000_000;
            while path.step(until_ns) {}
            path.now_ns = until_ns;
        }
    }
}
