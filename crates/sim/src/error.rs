//! Why a run could not be made.

/// Each message is one line for the user: the thing, the value, the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A congestion control algorithm could not be loaded.
    #[error(transparent)]
    CongestionControl(#[from] dumbbell_cc::Error),
    /// An algorithm cannot be run over QUIC.
    #[error(transparent)]
    Quic(#[from] dumbbell_quic::Error),
    /// A congestion control algorithm did what no TCP can go on with.
    #[error(transparent)]
    Fault(#[from] dumbbell_cc::Fault),
    /// A value of the scenario that cannot be simulated.
    #[error(transparent)]
    Scenario(#[from] dumbbell_scenario::Refusal),
    /// More connections at once than a run of its length has room for.
    #[error(
        "{0} connections were open at once, and more were to come: reduce the load or the run's time"
    )]
    TooManyConnections(usize),
    /// [`dumbbell_scenario::Control::cancel`] was called.
    #[error("the run was cancelled")]
    Cancelled,
    /// The capture could not be written.
    #[error(transparent)]
    Capture(#[from] dumbbell_capture::WriteError),
    /// The process that runs foreign code could not be confined.
    #[error("foreign code cannot be confined: {0}")]
    Unconfined(#[source] std::io::Error),
}
