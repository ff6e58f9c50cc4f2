//! What the media of links share: each has a channel, of its own or together with others.

use crate::medium::Channel;

/// The channels of a network's links.
#[derive(Debug)]
pub(super) struct Channels {
    channels: Vec<Shared>,
    /// The channel of each link.
    of_links: Vec<usize>,
}

#[derive(Debug)]
struct Shared {
    channel: Channel,
    /// Links, in their order.
    members: Vec<usize>,
}

impl Channels {
    /// A channel of its own for each of `links` links.
    pub(super) fn new(links: usize) -> Self {
        let own = |link| Shared {
            channel: Channel::default(),
            members: vec![link],
        };
        Self {
            channels: (0..links).map(own).collect(),
            of_links: (0..links).collect(),
        }
    }

    /// Those links have one channel together.
    pub(super) fn share(&mut self, links: &[usize], channel: Channel) {
        let mut members = links.to_vec();
        members.sort_unstable();
        let number = self.channels.len();
        for &link in &members {
            self.of_links[link] = number;
        }
        self.channels.push(Shared { channel, members });
    }

    /// The channel of a link.
    pub(super) fn of(&mut self, link: usize) -> &mut Channel {
        &mut self.channels[self.of_links[link]].channel
    }

    /// The links that share it.
    pub(super) fn members(&self, link: usize) -> &[usize] {
        &self.channels[self.of_links[link]].members
    }
}
