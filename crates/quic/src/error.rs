//! Why an algorithm cannot be run over QUIC. `Display` is the line a user reads.

/// It cannot be run as requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No stack has this name.
    #[error("unknown QUIC stack `{stack}`; {}", if .known.is_empty() { "this build has none".to_owned() } else { format!("there are {known}") })]
    UnknownStack {
        /// What stands for a stack in the name that was given.
        stack: String,
        /// Those that there are.
        known: String,
    },
    /// The stack does not come in this version.
    #[error("`quic/{stack}` has no version `{version}`; there are {known}")]
    UnknownVersion {
        /// The stack's name.
        stack: &'static str,
        /// The version that was asked for.
        version: String,
        /// Those that there are.
        known: String,
    },
    /// The name ends with the stack.
    #[error("`quic/{stack}` names no algorithm; name one: `quic/{stack}:{example}`")]
    NoAlgorithm {
        /// The stack, and the version if one was named.
        stack: String,
        /// One that it runs.
        example: &'static str,
    },
    /// Neither the stack nor dumbbell has such an algorithm.
    #[error("`quic/{stack}` has no algorithm `{algorithm}`; of its own it has {known}{ours}")]
    UnknownAlgorithm {
        /// The stack's name.
        stack: &'static str,
        /// The algorithm that was asked for.
        algorithm: String,
        /// The stack's own algorithms.
        known: String,
        /// What follows of dumbbell's.
        ours: String,
    },
    /// The stack cannot run it.
    #[error("`quic/{stack}:{algorithm}` cannot be run: it {reason}")]
    Refused {
        /// The stack, and the version where that matters.
        stack: String,
        /// The algorithm's name.
        algorithm: String,
        /// Why, and what can be run instead.
        reason: &'static str,
    },
    /// The stack has no such parameter.
    #[error("`{name}` has no parameter `{param}`; it has {known}")]
    UnknownParam {
        /// The algorithm with its stack.
        name: String,
        /// The parameter that was given.
        param: String,
        /// Those that it has.
        known: String,
    },
    /// A parameter is out of its range.
    #[error("parameter `{param}={value}` of `{name}` is out of range; use {range} {unit}")]
    OutOfRange {
        /// The algorithm with its stack.
        name: String,
        /// The parameter's name.
        param: String,
        /// The value that was given.
        value: i64,
        /// What it may be.
        range: String,
        /// The parameter's unit.
        unit: String,
    },
    /// `paced` with a stack's own algorithm.
    #[error(
        "`paced` is for algorithms of dumbbell's, and `{name}` is the stack's own; leave it out"
    )]
    AlwaysPaced {
        /// The algorithm with its stack.
        name: String,
    },
    /// An algorithm of ours asks for what no stack gives its controller.
    #[error(
        "`{name}` cannot be run: the algorithm needs the count of marked packets, which stacks do not pass to their controllers; use it with TCP"
    )]
    NeedsEcn {
        /// The algorithm with its stack.
        name: String,
    },
    /// An algorithm of ours cannot be loaded.
    #[error(transparent)]
    CongestionControl(#[from] dumbbell_cc::Error),
}
