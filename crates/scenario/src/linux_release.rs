//! What Linux's TCP did otherwise in earlier releases: switches, and which release has which.
//!
//! Without any it is Linux 6.18's, which `crates/tcp` follows.

use dumbbell_app::traffic::Preset;
use dumbbell_declare::{Parameter, Settings as _, Unit, Value, choices, settings};
use serde::Serialize;

choices! {
    /// How losses are found.
    pub enum Detection {
        /// By time alone.
        rack,
        /// Also by counting.
        dupthresh_and_rack,
    }
}

choices! {
    /// RACK's reordering window.
    pub enum RackWindow {
        /// Linux from 4.18 on.
        rfc8985,
        /// Linux 4.15.
        until_recovery,
        /// Linux 4.12.
        until_loss,
    }
}

choices! {
    /// What a timeout marks lost.
    pub enum RtoMarks {
        /// The head, and what was sent long enough ago.
        head,
        /// All that is not SACKed.
        all,
    }
}

choices! {
    /// cwnd after a timeout.
    pub enum RtoCwnd {
        /// One more than what is in flight.
        inflight,
        /// One.
        one,
    }
}

choices! {
    /// Proportional rate reduction below ssthresh.
    pub enum Prr {
        /// Linux from 5.14 on.
        safe_ack,
        /// RFC 6937's conservation as Linux had it.
        conservation,
    }
}

choices! {
    /// Where tail loss probes are sent.
    pub enum Tlp {
        /// In Open and CWR.
        open_and_cwr,
        /// In Open.
        open_only,
    }
}

choices! {
    /// How departures are spaced.
    pub enum Pacing {
        /// Linux from 4.20 on.
        departure_time,
        /// Linux 4.13 to 4.18.
        timer,
        /// Linux up to 4.12 without `fq`.
        none,
    }
}

choices! {
    /// How near an ACK must be for a burst to wait for it.
    pub enum TsoDefer {
        /// A millisecond.
        within_1ms,
        /// Half a round trip.
        half_rtt,
    }
}

choices! {
    /// How long a SYN is waited for.
    pub enum SynTimeouts {
        /// Five times 1 s, then doubling.
        linear,
        /// 1 s, then doubling.
        doubling,
    }
}

choices! {
    /// Where PSH is set.
    pub enum Psh {
        /// Where a burst ends, and where a write ends.
        bursts,
        /// Where a write ends.
        writes,
    }
}

settings! {
    /// Linux's TCP.
    pub struct Config {
        /// How losses are found: `rack` by time alone (RFC 8985); `dupthresh_and_rack` also by three SACKed segments
        /// above, or as many as reordering was seen to need (RFC 6675; Linux up to 4.17).
        detection: Detection = Detection::rack;
        /// RACK's reordering window: `rfc8985`; `until_recovery`, a quarter of the minimum RTT outside recovery and 1 ms in
        /// it (4.15); `until_loss`, a quarter of the minimum RTT before a loss and 1 ms after (4.11 to 4.14).
        rack_window: RackWindow = RackWindow::rfc8985;
        /// What a timeout marks lost: `head`, and what was sent long enough ago; or `all` that is not SACKed (up to 4.17).
        rto_marks: RtoMarks = RtoMarks::head;
        /// cwnd after a timeout: one more than what is `inflight`, or `one` (up to 4.17).
        rto_cwnd: RtoCwnd = RtoCwnd::inflight;
        /// The defect of 4.10 to 4.15.10: after a timeout the SACK of any segment that was sent once undoes it, with all marks
        /// of losses.
        undo_on_any_sack: bool = false;
        /// The defect up to 5.4: when the segment that retransmission would go on with is acknowledged by the ACK that
        /// reveals a further loss, losses marked before it are skipped until a timeout.
        hint_defect: bool = false;
        /// Proportional rate reduction below ssthresh: `safe_ack` catches up unless losses are new (RFC 9937); `conservation`
        /// sends what was delivered and catches up only on ACKs of retransmissions (RFC 6937 as in 4.3 to 5.13).
        prr: Prr = Prr::safe_ack;
        /// Tail loss probes: `open_and_cwr`, or `open_only` (up to 4.15).
        tlp: Tlp = Tlp::open_and_cwr;
        /// Pacing of algorithms that ask for it: `departure_time` makes up for up to half a gap of lateness and lets the
        /// first ten packets go; `timer` makes up for nothing, spares none and charges 32 bytes of TCP header per burst
        /// (4.13 to 4.18); `none` (up to 4.12, unless `fq` does it).
        pacing: Pacing = Pacing::departure_time;
        /// For which ACK a burst waits to be filled: one expected `within_1ms`, or within `half_rtt` (up to 6.17).
        tso_defer: TsoDefer = TsoDefer::within_1ms;
        /// Timeouts of a lost SYN: `linear`, five of 1 s, or `doubling` from the first on (up to 6.4).
        syn_timeouts: SynTimeouts = SynTimeouts::linear;
        /// Where PSH is set, which the receiver acknowledges as soon as it is read: at the end of `bursts` and of writes, or of
        /// `writes` alone (up to 5.3).
        psh: Psh = Psh::bursts;
        /// The receiver compresses SACKs beyond the third duplicate ACK (from 4.18 on); otherwise every segment above a hole
        /// is acknowledged at once.
        sack_compression: bool = true;
    }
}

/// The release that it is, or none of them.
impl Value for Config {
    const UNIT: Option<Unit> = Some(Unit::Named);
    const CHOICES: &'static [&'static str] = &["6.18", "4.15", "4.12"];

    fn number(&self) -> Option<u64> {
        (0..)
            .zip(kernels())
            .find_map(|(index, kernel)| (kernel.settings == *self).then_some(index))
    }
}

impl Config {
    /// Linux 4.15.18.
    pub fn linux_4_15() -> Self {
        Self {
            detection: Detection::dupthresh_and_rack,
            rack_window: RackWindow::until_recovery,
            rto_marks: RtoMarks::all,
            rto_cwnd: RtoCwnd::one,
            undo_on_any_sack: false,
            hint_defect: true,
            prr: Prr::conservation,
            tlp: Tlp::open_only,
            pacing: Pacing::timer,
            tso_defer: TsoDefer::half_rtt,
            syn_timeouts: SynTimeouts::doubling,
            psh: Psh::writes,
            sack_compression: false,
        }
    }

    /// Linux 4.12.4.
    pub fn linux_4_12() -> Self {
        Self {
            rack_window: RackWindow::until_loss,
            undo_on_any_sack: true,
            pacing: Pacing::none,
            ..Self::linux_4_15()
        }
    }
}

/// The switches, and the releases that are settings of them, for what names and explains them.
#[derive(Clone, Debug, Serialize)]
pub struct Declaration {
    /// The switches.
    pub parameters: Vec<Parameter>,
    /// Every release that can be named, the default first.
    pub kernels: Vec<Preset<Config>>,
}

/// The declaration.
pub fn declaration() -> Declaration {
    Declaration {
        parameters: Config::parameters(),
        kernels: kernels(),
    }
}

fn kernels() -> Vec<Preset<Config>> {
    vec![
        Preset {
            name: Config::CHOICES[0],
            doc: "Linux 6.18's TCP, which the simulator follows.",
            settings: Config::default(),
        },
        Preset {
            name: Config::CHOICES[1],
            doc: "Linux 4.15.18's TCP (up to 4.15.10 with `undo_on_any_sack=on`).",
            settings: Config::linux_4_15(),
        },
        Preset {
            name: Config::CHOICES[2],
            doc: "Linux 4.12.4's TCP without `fq`, so that nothing is paced.",
            settings: Config::linux_4_12(),
        },
    ]
}
