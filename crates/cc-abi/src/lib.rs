//! The binary interface between a congestion control algorithm and dumbbell: Linux's socket ([`Sock`]) and
//! `tcp_congestion_ops` ([`Ops`]) with the layout of `cc/include/vmlinux.h`, and the declarations of
//! `cc/include/dumbbell.h`. `crates/cc` calls congestion control algorithms in C through it.
//!
//! No allocation, no clock except [`Sock::tcp_mstamp`]: a run is a function of its scenario.

#![no_std]

mod declaration;
mod ops;
mod sock;

pub use declaration::Declaration;
pub use ops::{
    CALLBACKS, MODULE_CALLBACKS, ModuleOps, Ops, TCP_CA_NAME_MAX, TCP_CONG_ECT_1_NEGOTIATION,
    TCP_CONG_NEEDS_ACCECN, TCP_CONG_NEEDS_ECN,
};
pub use sock::{
    AckSample, CA_PRIV_WORDS, CaEvent, CaState, LAYOUT, LAYOUT_WORDS, LostSegment, MinMax,
    RateSample, SK_PACING_FQ, SK_PACING_NEEDED, Sock, TCP_INFINITE_SSTHRESH,
};
