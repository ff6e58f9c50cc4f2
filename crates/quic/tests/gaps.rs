//! A receiver that holds many pieces of a stream with gaps between them.

use std::collections::BTreeMap;

use crate::path::Path;

/// Stream bytes that arrive in 20 s after 1,300 losses, each apart from the next.
fn received_after_gaps(name: &str) -> u64 {
    let window = BTreeMap::from([("window_bytes".to_owned(), 20_000_000)]);
    let mut path = Path::with_params(name, 1, None, window);
    path.run_until(|path| path.pair.state().cwnd_bytes > 6_000_000);
    for _ in 0..1300 {
        path.losses = 1;
        for _ in 0..8 {
            path.step(60_000_000_000);
        }
    }
    let begun_bytes = path.pair.progress().received_bytes;
    let until_ns = path.now_ns + 20_000_000_000;
    while path.step(until_ns) {}
    path.pair.progress().received_bytes - begun_bytes
}

/// Later versions close the connection: "too many gaps in stream buffer".
#[test]
fn a_thousand_gaps_end_a_connection_of_later_versions() {
    for (name, ends) in [
        ("quic/quinn@0.11.14:cubic", false),
        ("quic/quinn:cubic", true),
        ("quic/noq@1.1.0:cubic", false),
        ("quic/noq@1.2.0:cubic", false),
        ("quic/noq:cubic", true),
    ] {
        let received_bytes = received_after_gaps(name);
        assert_eq!(
            received_bytes < 10_000_000,
            ends,
            "{name}: {received_bytes}"
        );
    }
}
