//! What a congestion control written in Rust shares with dumbbell: Linux's socket and
//! `tcp_congestion_ops` with the layout of `cc/include/vmlinux.h`, and the declarations of
//! `cc/include/dumbbell.h`.
//!
//! A congestion control is a `cdylib` crate with one [`congestion_control!`], and as many
//! [`param!`] and [`series!`] as it likes; `examples/rust-cc` is one. dumbbell loads it by its path:
//! `dumbbell run ./target/release/libmine.so cubic`. It runs in the simulator only.
//!
//! No allocation, no clock but [`Sock::tcp_mstamp`]: a run is a function of its scenario.

#![no_std]

mod declaration;
mod ops;
mod reno;
#[allow(dead_code, reason = "the host's side of the socket")]
#[path = "../../cc/src/sock.rs"]
mod sock;
mod state;

pub use declaration::{Declaration, Param};
pub use ops::Ops;
pub use sock::{
    AckSample, CA_PRIV_WORDS, CaEvent, CaState, MinMax, RateSample, SK_PACING_NEEDED, Sock,
    TCP_INFINITE_SSTHRESH,
};
pub use state::State;

/// Offsets in the socket that the host compares with its own when it loads the object.
pub const LAYOUT: [u32; LAYOUT_WORDS] = sock::layout();
/// Length of [`LAYOUT`].
pub const LAYOUT_WORDS: usize = sock::layout().len();

/// Declares the congestion control of this object: its name, of 1 to 15 letters, digits, `_` or
/// `.`, and its callbacks, which are [`Ops`]' fields.
///
/// ```ignore
/// congestion_control!("mine", ssthresh: ssthresh, cong_avoid: cong_avoid, undo_cwnd: undo_cwnd);
/// ```
#[macro_export]
macro_rules! congestion_control {
    ($name:literal, $($op:ident: $function:expr),+ $(,)?) => {
        #[used]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".struct_ops")]
        pub static DUMBBELL_OPS: $crate::Ops = $crate::Ops {
            $($op: Some($function),)+
            name: $crate::Ops::named($name),
            ..$crate::Ops::EMPTY
        };

        // What the host sets and checks; natively built C has it from cc/include/native.c.
        #[allow(non_upper_case_globals, reason = "the host's names")]
        const _: () = {
            #[used]
            #[unsafe(no_mangle)]
            static dumbbell_layout: [u32; $crate::LAYOUT_WORDS] = $crate::LAYOUT;
            #[used]
            #[unsafe(no_mangle)]
            static mut dumbbell_now_ns: u64 = 0;
            #[used]
            #[unsafe(no_mangle)]
            static mut dumbbell_random_state: u64 = 1;
        };
    };
}
