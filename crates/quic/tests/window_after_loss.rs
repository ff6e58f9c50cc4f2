//! How much of its window a controller keeps after a loss.

use crate::path::Path;

/// Loses a packet; the window before and after.
fn lose_one(path: &mut Path) -> (u64, u64) {
    path.losses = 1;
    let recoveries = path.pair.state().recoveries;
    let mut before = 0;
    while path.pair.state().recoveries == recoveries {
        before = path.pair.state().cwnd_bytes;
        assert!(path.step(60_000_000_000), "a loss is found");
    }
    (before, path.pair.state().cwnd_bytes)
}

/// The share that is kept after a second loss, before the window is where it was at the first.
fn kept_after_second_loss(name: &str) -> f64 {
    let mut path = Path::new(name, 1, None);
    path.run_until(|path| path.pair.state().cwnd_bytes > 200_000);
    let (first, _) = lose_one(&mut path);
    let began_ns = path.now_ns;
    path.run_until(|path| path.now_ns > began_ns + 300_000_000);
    let (before, after) = lose_one(&mut path);
    assert!(
        before < first,
        "{name}: the window is still below its maximum"
    );
    after as f64 / before as f64
}

/// RFC 9438 §4.6, §4.7: the window is multiplied by 0.7 whether or not W_max is reduced for fast convergence. Until
/// quinn-proto 0.11.14 it was multiplied by 0.7 · 0.85 (quinn#2640).
#[test]
fn cubic_of_quinn_kept_too_little_until_it_was_mended() {
    let earlier = kept_after_second_loss("quic/quinn@0.11.14:cubic");
    let later = kept_after_second_loss("quic/quinn@0.11.19:cubic");
    assert!((earlier - 0.595).abs() < 0.01, "{earlier}");
    assert!((later - 0.70).abs() < 0.01, "{later}");
}

/// RFC 9002 §7.3.2.
#[test]
fn reno_keeps_half() {
    for name in ["quic/quinn:reno", "quic/noq:reno", "quic/noq@1.1.0:reno"] {
        let kept = kept_after_second_loss(name);
        assert!((kept - 0.5).abs() < 0.01, "{name}: {kept}");
    }
}
