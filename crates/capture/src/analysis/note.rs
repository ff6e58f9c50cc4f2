//! What makes the figures of a view unreliable.

use super::direction::UNKNOWN_MSS_BYTES;
use super::vantage::Vantage;
use crate::connection::View;

/// A reason not to take a figure at face value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The connection's SYN was not seen: the MSS, the window's scale and whether SACK was
    /// negotiated are unknown, and sequence numbers are relative to the first one seen.
    BeganBeforeCapture,
    /// Nothing was seen of the other direction: no RTT, no in-flight, and retransmissions are not
    /// classified.
    OneDirection,
    /// Captured at the data's receiver: RTT and in-flight cover only the short way to the receiver,
    /// and a retransmission of what was lost before the point counts as out of order.
    AtReceiver,
    /// Captured between the ends: RTT and in-flight cover only the way beyond the point.
    InTheMiddle,
    /// Where it was captured is unknown, and so is what RTT and in-flight cover.
    UnknownVantage,
    /// Segments larger than the MSS: the network card cut or merged them, so packets differ from
    /// those on the wire.
    Offload,
    /// The capture lacks data that was acknowledged.
    MissingData,
    /// The capture has packets twice.
    Duplicates,
    /// Packets were repeated without a reason, and a retransmission would have the same headers as a copy.
    UndecidedRepeats,
    /// Packets are not in the order of their times: in-flight, RTT and losses are of another order.
    Unsorted,
    /// Sequence numbers jumped further than any window, or are not those that the SYN announced; what was outstanding
    /// was forgotten.
    SequenceJump,
    /// More was outstanding than is kept: RTT and retransmissions are partly unknown.
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
            Self::UndecidedRepeats => "undecided_repeats",
            Self::Unsorted => "unsorted",
            Self::SequenceJump => "sequence_jump",
            Self::Forgotten => "forgotten",
        }
    }
}

impl View {
    /// Whether segments larger than the MSS were seen; `None` if that is unknown.
    pub(crate) fn has_offload(&self, direction: usize) -> Option<bool> {
        let this = self.directions[direction].as_ref()?;
        let largest_bytes = this.counts.largest_segment_bytes;
        let syn = self.directions[1 - direction]
            .as_ref()
            .and_then(|other| other.syn);
        match syn.and_then(|syn| syn.mss_bytes) {
            Some(mss_bytes) => Some(largest_bytes > u32::from(mss_bytes)),
            None if largest_bytes > UNKNOWN_MSS_BYTES => Some(true),
            None => None,
        }
    }

    /// What makes a direction's figures unreliable.
    pub(crate) fn notes(&self, direction: usize) -> Vec<Note> {
        let Some(this) = &self.directions[direction] else {
            return Vec::new();
        };
        let flight = this.flight.as_ref();
        let mut notes = Vec::new();
        let mut note_if = |is_so: bool, note: Note| {
            if is_so {
                notes.push(note);
            }
        };
        note_if(
            self.began_before_capture(direction),
            Note::BeganBeforeCapture,
        );
        let is_alone = self.directions[1 - direction].is_none();
        note_if(is_alone, Note::OneDirection);
        if this.counts.data_pkts > 0 && !is_alone {
            let vantage = self.vantage(direction);
            note_if(vantage == Vantage::Receiver, Note::AtReceiver);
            note_if(vantage == Vantage::Middle, Note::InTheMiddle);
            note_if(vantage == Vantage::Unknown, Note::UnknownVantage);
        }
        note_if(self.has_offload(direction) == Some(true), Note::Offload);
        note_if(this.missing_bytes() > 0, Note::MissingData);
        note_if(this.counts.duplicate_pkts > 0, Note::Duplicates);
        note_if(self.unsorted_pkts > 0, Note::Unsorted);
        note_if(this.has_undecided_repeats, Note::UndecidedRepeats);
        note_if(
            flight.is_some_and(|flight| flight.jumps > 0),
            Note::SequenceJump,
        );
        note_if(
            flight.is_some_and(|flight| flight.is_forgetful),
            Note::Forgotten,
        );
        notes
    }
}
