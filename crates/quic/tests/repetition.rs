//! A run is a function of its seed, though the stacks draw random numbers of their own.

use dumbbell_quic::names;

use crate::path::Path;

/// All bytes that both ends send in two seconds with three losses.
fn digest(name: &str, seed: u64) -> u64 {
    let mut path = Path::new(name, seed, None);
    for until_ns in [300_000_000, 900_000_000, 1_500_000_000, 2_000_000_000] {
        while path.step(until_ns) {}
        path.losses = 1;
    }
    assert!(
        path.pair.progress().received_bytes > 3_000_000,
        "{name}: the stream flows"
    );
    path.digest
}

#[test]
fn every_controller_sends_the_same_bytes_again() {
    let ours = ["quic/noq:copa", "quic/noq@1.2.0:dumbbell/bbr3"];
    for name in names().into_iter().chain(ours.map(str::to_owned)) {
        let once = digest(&name, 1);
        assert_eq!(once, digest(&name, 1), "{name}");
        // On another thread as well, whose generator is another one.
        let again = std::thread::spawn({
            let name = name.clone();
            move || digest(&name, 1)
        });
        assert_eq!(once, again.join().expect("it runs"), "{name}");
        assert_ne!(once, digest(&name, 2), "{name}: connection IDs differ");
    }
}

#[test]
fn a_finite_stream_is_finished_when_all_of_it_is_acknowledged() {
    for name in [
        "quic/quinn:cubic",
        "quic/quinn@0.11.14:reno",
        "quic/noq:bbr3",
        "quic/noq@1.1.0:cubic",
    ] {
        let mut path = Path::new(name, 5, Some(1_000_000));
        path.losses = 3;
        path.run_until(|path| path.pair.progress().is_finished);
        assert_eq!(path.pair.progress().received_bytes, 1_000_000, "{name}");
        assert!(path.pair.state().lost_pkts >= 3, "{name}");
    }
}
