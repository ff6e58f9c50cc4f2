//! Changes of a network while packets are in it.

use super::Network;
use crate::{Header, Observer};

/// A change of an element, which holds from the moment that it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkChange {
    /// The rate of a link that is a wire, bit/s (not zero). The packet on the wire keeps its time.
    Rate {
        /// Number of the link.
        link: usize,
        /// Its rate from then on.
        link_rate_bps: u64,
    },
    /// The propagation delay of a link. What has left it keeps the time it was given, and nothing overtakes.
    LinkDelay {
        /// Number of the link.
        link: usize,
        /// Its delay from then on, ns.
        delay_ns: u64,
    },
    /// The delay of a delay line, in the same way.
    LineDelay {
        /// Number of the delay line.
        line: usize,
        /// Its delay from then on, ns.
        delay_ns: u64,
    },
    /// Random loss before a link's queue.
    Loss {
        /// Number of the link.
        link: usize,
        /// How many of 10⁹ packets are lost on average from then on.
        loss_ppb: u32,
        /// Seed of its random numbers, if the link lost nothing at random before.
        seed: u64,
    },
}

impl<H: Header> Network<H> {
    /// Makes a change at `now_ns`, before which everything has happened. Steps that were planned for later still
    /// come.
    pub fn change<O: Observer<H>>(&mut self, now_ns: u64, change: NetworkChange, observer: &mut O) {
        match change {
            NetworkChange::Rate {
                link,
                link_rate_bps,
            } => self.links[link].change_rate(link, now_ns, link_rate_bps, observer),
            NetworkChange::LinkDelay { link, delay_ns } => {
                self.lines[2 * link + 1].change_delay(now_ns, delay_ns);
            }
            NetworkChange::LineDelay { line, delay_ns } => {
                self.line_mut(line).change_delay(now_ns, delay_ns);
            }
            NetworkChange::Loss {
                link,
                loss_ppb,
                seed,
            } => self.links[link].set_random_loss(loss_ppb, seed),
        }
    }
}
