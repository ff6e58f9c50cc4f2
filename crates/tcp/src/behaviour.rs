//! What Linux's sender did otherwise in earlier releases, rule by rule.
//!
//! The rules are independent of each other. [`Behaviour::default`] is Linux 6.18's; which release had which others is in
//! `dumbbell_scenario::linux_release`.

/// How losses are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// Losses are found by time alone (RFC 8985).
    #[default]
    Rack,
    /// And by as many SACKed segments above as `reordering` (RFC 6675).
    DupthreshAndRack,
}

/// RACK's reordering window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RackWindow {
    /// RFC 8985 §6.2 step 4.
    #[default]
    Rfc8985,
    /// A quarter of the minimum RTT by steps up to srtt outside recovery, 1 ms in it unless reordering was seen.
    UntilRecovery,
    /// A quarter of the minimum RTT while nothing is marked lost, then 1 ms unless reordering was seen.
    UntilLoss,
}

/// How departures are spaced when the congestion control algorithm asks for pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Each departure follows from the previous one's; half a gap of lateness is made up for.
    #[default]
    DepartureTime,
    /// A timer starts when a burst leaves and charges its TCP headers once; lateness is not made up for.
    Timer,
    /// None: `fq` does it, or nothing.
    None,
}

/// The sender's rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// How losses are found.
    pub detection: Detection,
    /// RACK's reordering window.
    pub rack_window: RackWindow,
    /// A timeout marks lost all that is not SACKed, instead of the head and what was sent long ago.
    pub rto_marks_all: bool,
    /// A timeout sets cwnd to 1, instead of one more than what is in flight.
    pub rto_cwnd_one: bool,
    /// After a timeout the SACK of any segment that was sent once undoes it, also where F-RTO had given up.
    pub undoes_on_any_sack: bool,
    /// The pointer to what is retransmitted next may skip what was marked lost earlier.
    pub has_hint_defect: bool,
    /// Proportional rate reduction below ssthresh catches up only when retransmissions are acknowledged.
    pub conserves_packets: bool,
    /// Tail loss probes are sent only in Open.
    pub probes_in_open_only: bool,
    /// How departures are spaced.
    pub pacing: Pacing,
    /// Only what ends a write has PSH; otherwise the last segment of a burst has it too.
    pub pushes_writes_only: bool,
    /// A burst waits to be filled for an ACK expected within half a round trip, instead of a millisecond.
    pub defers_half_rtt: bool,
    /// Every timeout of the SYN is double the one before; otherwise the first ones are equal.
    pub doubles_syn_timeouts: bool,
}
