//! The versions of the stacks: each compiles the same driver and its stack's adapter against its own crate.

#![allow(
    clippy::duplicate_mod,
    reason = "the same adapter is compiled against each version's crate"
)]

/// A version: its crate and the adapter of its stack. What of the adapter not all versions have is between
/// `if_cwnd_limited! {}`.
macro_rules! version {
    ($name:ident, $adapter:literal, $if_cwnd_limited:ident) => {
        #[path = "."]
        pub(crate) mod $name {
            pub(super) use ::$name as proto;

            #[allow(unused_imports, reason = "no version of quinn has it")]
            use super::$if_cwnd_limited as if_cwnd_limited;

            #[path = "connection_ids.rs"]
            mod connection_ids;

            #[path = "host.rs"]
            mod host;

            #[path = "keys.rs"]
            mod keys;

            #[path = $adapter]
            mod stack;

            #[path = "driver.rs"]
            mod driver;

            pub(crate) use driver::pair;
        }
    };
}

/// Keeps what it is given.
macro_rules! kept {
    ($($item:tt)*) => { $($item)* };
}

/// Leaves out what it is given.
macro_rules! left_out {
    ($($item:tt)*) => {};
}

use {kept, left_out};

version!(quinn_0_11_14, "quinn.rs", left_out);
version!(quinn_0_11_19, "quinn.rs", left_out);
version!(noq_1_1_0, "noq.rs", left_out);
version!(noq_1_2_0, "noq.rs", kept);
version!(noq_1_4_0, "noq.rs", kept);
