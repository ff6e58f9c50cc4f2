//! Accurate ECN (RFC 9768): flags that a classic reader takes for ECE and CWR count CE-marked packets.

use super::direction::Syn;
use crate::connection::View;
use crate::packet::TcpFlags;

/// The flags of the ACE field; on a SYN they negotiate.
pub(crate) const FLAGS: u16 = TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE;
/// Where the ACE field begins among the flags.
const SHIFT: u32 = TcpFlags::ECE.trailing_zeros();
/// What it counts modulo.
const MODULO: u8 = 8;
/// What the counter of CE-marked packets begins with (§3.2.1).
const FIRST: u8 = 5;

/// The ACE fields that a direction's sender has sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AceCounter {
    /// The last, as flags.
    last: u16,
    /// The acknowledgment number of the packet that changed it.
    ack: u32,
    /// CE-marked packets that it has reported.
    ce_pkts: u64,
    /// The network cleared the field of the first packet, or there was no SYN before it.
    is_unusable: bool,
    has_ae: bool,
}

/// No packet yet; no flags are all of these.
const NONE: u16 = u16::MAX;

impl Default for AceCounter {
    fn default() -> Self {
        Self {
            last: NONE,
            ack: 0,
            ce_pkts: 0,
            is_unusable: false,
            has_ae: false,
        }
    }
}

impl AceCounter {
    /// A packet; `syn`: that of its sender, if it was seen.
    #[inline]
    pub(crate) fn on_packet(&mut self, flags: TcpFlags, ack: u32, syn: Option<&Syn>) {
        let ace = flags.0 & (FLAGS | TcpFlags::SYN);
        if self.last != ace {
            self.on_change(ace, ack, syn);
        }
    }

    #[cold]
    fn on_change(&mut self, ace: u16, ack: u32, syn: Option<&Syn>) {
        if ace & TcpFlags::SYN != 0 {
            return;
        }
        let is_first = self.last == NONE;
        let answers = syn.map(|syn| !syn.is_first);
        self.has_ae |= ace & TcpFlags::AE != 0;
        let count = |ace: u16| (ace >> SHIFT) as u8;
        let before = if is_first {
            self.is_unusable = ace == 0 || answers.is_none();
            FIRST
        } else if super::sequence::is_before(ack, self.ack) {
            return; // It was overtaken.
        } else {
            count(self.last)
        };
        // The initiator's first packet says how its SYN was answered (§3.2.2.1), and counts nothing.
        let is_of_handshake = is_first && answers == Some(false);
        self.ack = ack;
        if is_of_handshake {
            self.last = u16::from(FIRST) << SHIFT;
            return;
        }
        self.ce_pkts += u64::from((count(ace) + MODULO - before) % MODULO);
        self.last = ace;
    }
}

impl View {
    /// Whether the ends use accurate ECN: they negotiated it (§3.1.1), or set AE, which has no other meaning.
    pub(crate) fn has_accurate_ecn(&self) -> bool {
        let ends = || self.directions.iter().flatten();
        let offered = ends().any(|end| {
            end.syn
                .is_some_and(|syn| syn.is_first && syn.ecn_flags == FLAGS)
        });
        let answers = [
            TcpFlags::CWR,
            TcpFlags::CWR | TcpFlags::ECE,
            TcpFlags::AE,
            TcpFlags::AE | TcpFlags::CWR,
        ];
        let answered = ends().any(|end| {
            end.syn
                .is_some_and(|syn| !syn.is_first && answers.contains(&syn.ecn_flags))
        });
        offered && answered || ends().any(|end| end.ace.has_ae)
    }

    /// CE-marked packets that a direction's sender says it received; `None` without accurate ECN, or if that cannot be
    /// known.
    pub(crate) fn reported_ce_pkts(&self, direction: usize) -> Option<u64> {
        let ace = self.directions[direction].as_ref()?.ace;
        (self.has_accurate_ecn() && !ace.is_unusable && ace.last != NONE).then_some(ace.ce_pkts)
    }
}
