//! Packets of one flow, or of all, that are lost, by their numbers.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::{Header, Packet};

settings! {
    /// Listed packets of one flow are lost, for scripts: the first, the tenth and so on that come.
    pub struct Config {
        /// Numbers of the packets, from 1 on: `3;4;20`. Retransmissions count as packets.
        packets: Vec<u64> = Vec::new(), in 1..=u64::MAX;
        /// Number of the flow, or of an application's connection; off: the packets of all are counted together.
        flow: Option<u64> = Some(0), in 0..=4_294_967_294;
        /// Whether only packets with data are counted, and not ACKs, SYNs and the like.
        only_data: bool = true;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl ImpairmentSettings for Config {
    type Element = Listed;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn check_together(&self) -> Result<(), String> {
        if self.packets.is_empty() {
            return Err("`packets` is empty; use e.g. `3;4;20`".to_owned());
        }
        Ok(())
    }

    fn build(&self, _seed: u64, _start_ns: u64) -> Listed {
        let mut packets = self.packets.clone();
        packets.sort_unstable_by(|a, b| b.cmp(a));
        Listed {
            packets,
            flow: self.flow.map(|flow| flow as u32),
            only_data: self.only_data,
            count: 0,
        }
    }
}

/// Loses packets by their numbers.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Those to come, the next one last.
    packets: Vec<u64>,
    /// The flow whose packets it counts; `None`: any.
    flow: Option<u32>,
    only_data: bool,
    /// Packets of the flow, or of all, so far.
    count: u64,
}

impl Impair for Listed {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, packet: &mut Packet<H>) -> Fate {
        let is_of_another = self.flow.is_some_and(|flow| packet.flow != flow);
        if is_of_another || self.only_data && !packet.header.is_data() {
            return Fate::Passes;
        }
        self.count += 1;
        let mut is_lost = false;
        while self.packets.last() == Some(&self.count) {
            self.packets.pop();
            is_lost = true;
        }
        Fate::lost_if(is_lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::sample_packet;

    #[test]
    fn the_listed_packets_of_the_flow_are_lost_in_whatever_order_they_are_listed() {
        let config = Config {
            packets: vec![7, 2, 3, 7],
            flow: Some(1),
            ..Config::default()
        };
        let mut element = config.build(1, 0);
        let mut lost = Vec::new();
        for number in 1..=10 {
            assert_eq!(element.fate(0, &mut sample_packet(0)), Fate::Passes);
            if element.fate(0, &mut sample_packet(1)) == Fate::Lost {
                lost.push(number);
            }
        }
        assert_eq!(lost, [2, 3, 7]);
        let config = Config {
            flow: None,
            ..config
        };
        let mut element = config.build(1, 0);
        let lost = (1..=10).filter(|&flow| element.fate(0, &mut sample_packet(flow)) == Fate::Lost);
        assert_eq!(lost.collect::<Vec<_>>(), [2, 3, 7], "of any flow");
        assert!(Config::default().check_together().is_err());
    }
}
