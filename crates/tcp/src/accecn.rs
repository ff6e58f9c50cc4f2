//! Accurate ECN (RFC 9768): what both ends share. The sender's part is in `accecn_sender`, the
//! receiver's in `accecn_receiver`.
//!
//! The three flags AE, CWR and ECE are one field, ACE. In the handshake it says which ECN field
//! arrived; after it, how many packets with CE have, modulo 8. An option counts payload by ECN field.

use dumbbell_net::Ecn;

/// `TCP_ACCECN_CEP_INIT_OFFSET`: the counter of CE packets starts at this (RFC 9768 §3.2.1), so that
/// a field of zeros is not taken for it.
pub(crate) const CE_PACKETS_START: u32 = 5;
/// The field has three bits.
pub(crate) const ACE_MASK: u32 = 7;
/// ACE of a SYN that asks for Accurate ECN (RFC 9768 §3.1.1).
pub(crate) const ACE_REQUEST: u8 = 0b111;
/// ACE of a SYN that asks for classic ECN (RFC 3168 §6.1.1).
pub(crate) const ACE_CLASSIC_REQUEST: u8 = 0b011;
/// Two counters of the option start at 1 (RFC 9768 §3.2.1).
pub(crate) const ECT_BYTES_START: u32 = 1;
/// The option's counters have 24 bits.
pub(crate) const COUNTER_MASK: u32 = 0xff_ffff;
/// Kind and length of the option, bytes (RFC 9768 §3.2.3).
pub(crate) const OPTION_BASE_BYTES: u32 = 2;
/// A counter of the option, bytes.
pub(crate) const OPTION_COUNTER_BYTES: u32 = 3;

/// How a host uses Accurate ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    /// The ECN field of all packets, once the connection is open: ECT(0), or ECT(1) of an L4S sender.
    pub ect: Ecn,
    /// SYN and SYN-ACK have it too, as in Linux for a congestion control algorithm with `TCP_CONG_NEEDS_ECN`.
    pub ect_on_syn: bool,
    /// ACKs have the option (`net.ipv4.tcp_ecn_option`).
    pub option: bool,
}

impl Default for AccEcn {
    /// The setting of Linux with `tcp_ecn = 3`.
    fn default() -> Self {
        Self {
            ect: Ecn::Ect0,
            ect_on_syn: false,
            option: true,
        }
    }
}

/// The counters that an option has: as many as there is room for, in the order of Linux's option (RFC 9768 §3.2.3, order 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccEcnCounters {
    /// An option without counters.
    None,
    /// The counter of ECT(1).
    Ect1,
    /// The counters of ECT(1) and CE.
    Ect1AndCe,
    /// All three counters.
    #[default]
    All,
}

impl AccEcnCounters {
    /// Most counters first.
    pub(crate) const MOST_FIRST: [Self; 4] = [Self::All, Self::Ect1AndCe, Self::Ect1, Self::None];

    /// The fewest that have that of an ECN field.
    pub(crate) fn with(field: Ecn) -> Self {
        match field {
            Ecn::NotEct => Self::None,
            Ecn::Ect1 => Self::Ect1,
            Ecn::Ce => Self::Ect1AndCe,
            Ecn::Ect0 => Self::All,
        }
    }

    /// How many they are.
    pub fn count(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Ect1 => 1,
            Self::Ect1AndCe => 2,
            Self::All => 3,
        }
    }
}

/// The AccECN option as it is on the wire: payload that arrived, bytes modulo 2²⁴, by ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    /// The counters that it has; the others are not sent.
    pub counters: AccEcnCounters,
    /// ECT(0), from 1 (EE0B).
    pub ect0_bytes: u32,
    /// CE, from 0 (ECEB).
    pub ce_bytes: u32,
    /// ECT(1), from 1 (EE1B).
    pub ect1_bytes: u32,
}

/// What a packet of the receiver says by Accurate ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcnFeedback {
    /// AE, CWR and ECE, from high to low.
    pub ace: u8,
    /// The option, if it has one.
    pub option: Option<AccEcnOption>,
}

/// ACE that says which ECN field the SYN or the SYN-ACK had (RFC 9768 §3.1.1, table 3).
pub(crate) fn handshake_ace(arrived: Ecn) -> u8 {
    match arrived {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The ECN field that such an ACE reports; none for those that report nothing.
pub(crate) fn reported_field(ace: u8) -> Option<Ecn> {
    match ace {
        0b010 => Some(Ecn::NotEct),
        0b011 => Some(Ecn::Ect1),
        0b100 => Some(Ecn::Ect0),
        0b110 => Some(Ecn::Ce),
        _ => None,
    }
}

/// Whether a path may turn `sent` into `arrived` (RFC 9768 §3.2.2.3, as Linux decides it): ECT may be
/// marked, and one ECT may become the other; nothing may lose or gain ECN.
pub(crate) fn is_valid_transition(sent: Ecn, arrived: Ecn) -> bool {
    sent == arrived || (sent.is_capable() && sent != Ecn::Ce && arrived.is_capable())
}
