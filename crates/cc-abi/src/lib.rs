//! The binary interface between a congestion control algorithm and dumbbell: Linux's socket ([`Sock`]) and
//! `tcp_congestion_ops` ([`Ops`]) with the layout of `cc/include/vmlinux.h`, and the declarations of
//! `cc/include/dumbbell.h`. `crates/cc` calls congestion control algorithms in C through it.
//!
//! A congestion control algorithm in Rust is a `cdylib` crate with one [`congestion_control!`] and any number of
//! [`param!`] and [`series!`]; see `examples/rust-cc`. dumbbell loads it by its path:
//! `dumbbell run ./target/release/libmine.so cubic`. It runs in the simulator only.
//!
//! No allocation, no clock except [`Sock::tcp_mstamp`]: a run is a function of its scenario.

#![no_std]

mod declaration;
mod ops;
mod reno;
mod sock;
mod state;

pub use declaration::{Declaration, Param};
pub use ops::{
    CALLBACKS, MODULE_CALLBACKS, ModuleOps, Ops, TCP_CA_NAME_MAX, TCP_CONG_ECT_1_NEGOTIATION,
    TCP_CONG_NEEDS_ACCECN, TCP_CONG_NEEDS_ECN,
};
pub use sock::{
    AckSample, CA_PRIV_WORDS, CaEvent, CaState, LAYOUT, LAYOUT_WORDS, LostSegment, MinMax,
    RateSample, SK_PACING_NEEDED, Sock, TCP_INFINITE_SSTHRESH,
};
pub use state::State;

/// Declares the congestion control algorithm of this object: its name, of 1 to 15 letters, digits, `_` or
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

        // What the host sets and checks; C built natively gets it from cc/include/native.c.
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
