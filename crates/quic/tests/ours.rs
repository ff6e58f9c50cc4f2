//! Algorithms of ours behind noq's controller.

use dumbbell_cc::{SK_PACING_FQ, SK_PACING_NEEDED};

use crate::path::Path;

fn path(name: &str) -> Path {
    Path::new(&format!("quic/noq:dumbbell/{name}"), 1, None)
}

/// Until something is lost, slow start doubles the window, so it grows beyond what the path holds.
#[test]
fn a_window_grows_until_there_is_a_loss() {
    let mut path = path("reno");
    path.run_until(|path| path.pair.state().cwnd_bytes > 400_000);
    assert!(path.now_ns < 3_000_000_000);
}

/// RFC 9002 §7.3.2: two packets that are lost in the same flight are one event, and halve the window once.
#[test]
fn losses_of_one_flight_reduce_the_window_once() {
    let mut path = path("reno");
    path.run_until(|path| path.pair.state().cwnd_bytes > 200_000);
    let before = path.pair.state().cwnd_bytes;
    let began_ns = path.now_ns;
    path.losses = 1;
    path.run_until(|path| path.now_ns > began_ns + 15_000_000); // before an ACK shows it
    path.losses = 1;
    path.run_until(|path| path.now_ns > began_ns + 300_000_000);
    assert_eq!(path.pair.state().lost_pkts, 2);
    let ssthresh = path.pair.state().ssthresh_bytes.expect("there was a loss");
    assert!(ssthresh > 2 * before / 5, "{ssthresh} of {before}");
}

/// CUBIC's HyStart lets a train of ACKs last a whole round trip where packets are paced: noq paces what does not ask for it.
#[test]
fn an_algorithm_knows_that_it_is_paced() {
    for (name, status) in [("cubic", SK_PACING_FQ), ("copa", SK_PACING_NEEDED)] {
        let mut path = path(name);
        path.run_until(|path| path.pair.progress().is_established);
        let own = path.pair.own_flow().expect("ours");
        assert_eq!(own.sock.sk_pacing_status, status, "{name}");
    }
}
