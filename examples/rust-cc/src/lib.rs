//! AIMD: additive increase, multiplicative decrease, both to be set; a congestion control in Rust.
//!
//! ```sh
//! cargo build --release --manifest-path examples/rust-cc/Cargo.toml
//! dumbbell run ./examples/rust-cc/target/release/libmycc.so:beta=870 cubic
//! ```

use dumbbell_cc_abi::{Sock, State, congestion_control, param, series};

param!(alpha: u32 = 1, 1..=100, "pkts", "how much cwnd grows per round trip");
param!(beta: u32 = 512, 1..=1023, "/1024", "share of cwnd kept after a loss");

/// What a flow remembers.
#[repr(C)]
#[derive(Clone, Copy)]
struct Aimd {
    w_max_pkts: u32,
    reductions: u32,
}

// SAFETY: two integers, no padding.
unsafe impl State for Aimd {}

series!(Aimd, w_max_pkts: u32, "w_max_pkts", "pkts", "cwnd before the last reduction");
series!(Aimd, reductions: u32, "reductions", "", "reductions since the start");

extern "C" fn ssthresh(sock: &mut Sock) -> u32 {
    let mut aimd = Aimd::of(sock);
    aimd.w_max_pkts = sock.snd_cwnd;
    aimd.reductions += 1;
    aimd.put(sock);
    let kept = u64::from(sock.snd_cwnd) * u64::from(beta.get()) / 1024;
    (kept as u32).max(2)
}

extern "C" fn cong_avoid(sock: &mut Sock, _ack: u32, mut acked: u32) {
    if !sock.may_grow() {
        return;
    }
    if sock.in_slow_start() {
        acked = sock.slow_start(acked);
    }
    if acked > 0 {
        sock.cong_avoid_ai((sock.snd_cwnd / alpha.get()).max(1), acked);
    }
}

extern "C" fn undo_cwnd(sock: &mut Sock) -> u32 {
    sock.snd_cwnd.max(sock.prior_cwnd)
}

congestion_control!("mycc", ssthresh: ssthresh, cong_avoid: cong_avoid, undo_cwnd: undo_cwnd);
