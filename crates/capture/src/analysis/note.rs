//! What makes the figures of a view unreliable.

/// A reason not to take a figure at its face value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The connection's SYN was not seen: the MSS, the window's scale and whether SACK was agreed
    /// are not known, and sequence numbers are relative to the first one seen.
    BeganBeforeCapture,
    /// Nothing was seen of the other direction: no RTT, no in-flight, and retransmissions are not
    /// told apart.
    OneDirection,
    /// Captured at the data's receiver: RTT and in-flight are of the short way to the receiver
    /// only, and a retransmission of what was lost before the point counts as out of order.
    AtReceiver,
    /// Captured between the ends: RTT and in-flight are of the way behind the point only.
    InTheMiddle,
    /// Where it was captured cannot be told, so neither what RTT and in-flight are of.
    UnknownVantage,
    /// Segments larger than the MSS: the network card cut or merged them, so packets are not
    /// those of the wire.
    Offload,
    /// The capture lacks data that was acknowledged.
    MissingData,
    /// The capture has packets twice.
    Duplicates,
    /// Sequence numbers jumped further than any window; what was outstanding was forgotten.
    SequenceJump,
    /// More was outstanding than is kept: RTT and retransmissions are in part not known.
    Forgotten,
}

impl Note {
    /// Short name, as the tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::BeganBeforeCapture => "began_before_capture",
            Self::OneDirection => "one_direction",
            Self::AtReceiver => "at_receiver",
            Self::InTheMiddle => "in_the_middle",
            Self::UnknownVantage => "unknown_vantage",
            Self::Offload => "offload",
            Self::MissingData => "missing_data",
            Self::Duplicates => "duplicates",
            Self::SequenceJump => "sequence_jump",
            Self::Forgotten => "forgotten",
        }
    }
}
