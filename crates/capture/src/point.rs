//! Where in the network packets are captured.

/// A place on the path: an interface of the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapturePoint {
    /// Host of a group's senders, both directions.
    Sender(u32),
    /// Host of a group's receivers, both directions.
    Receiver(u32),
    /// Packets arriving at a link, dropped or not.
    LinkIn(u32),
    /// Packets leaving a link.
    LinkOut(u32),
}

impl CapturePoint {
    /// The interface's name in the file; `links` are the links' names.
    pub fn name(self, links: &[impl AsRef<str>]) -> String {
        let link_name = |link: u32| links[link as usize].as_ref();
        match self {
            Self::Sender(group) => format!("sender-{group}"),
            Self::Receiver(group) => format!("receiver-{group}"),
            Self::LinkIn(link) => format!("{}-in", link_name(link)),
            Self::LinkOut(link) => format!("{}-out", link_name(link)),
        }
    }
}

/// The points that are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturePoints {
    /// [`CapturePoint::Sender`] of every group.
    pub senders: bool,
    /// [`CapturePoint::Receiver`] of every group.
    pub receivers: bool,
    /// [`CapturePoint::LinkIn`] and [`CapturePoint::LinkOut`] of every link.
    pub links: bool,
}

impl CapturePoints {
    /// Captures at every point.
    pub const ALL: Self = Self {
        senders: true,
        receivers: true,
        links: true,
    };

    /// The points of a run with this number of groups and links, in the order of the file's interfaces.
    pub fn of_run(self, groups: u32, links: u32) -> impl Iterator<Item = CapturePoint> {
        let hosts = (0..groups).flat_map(move |group| {
            [
                self.senders.then_some(CapturePoint::Sender(group)),
                self.receivers.then_some(CapturePoint::Receiver(group)),
            ]
        });
        let sides = (0..links).flat_map(move |link| {
            [CapturePoint::LinkIn(link), CapturePoint::LinkOut(link)]
                .map(|point| self.links.then_some(point))
        });
        hosts.chain(sides).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_named_and_ordered_by_group() {
        let names = |points: CapturePoints| -> Vec<String> {
            let points = points.of_run(2, 2);
            points
                .map(|point| point.name(&["bottleneck", "uplink"]))
                .collect()
        };
        assert_eq!(
            names(CapturePoints::ALL),
            [
                "sender-0",
                "receiver-0",
                "sender-1",
                "receiver-1",
                "bottleneck-in",
                "bottleneck-out",
                "uplink-in",
                "uplink-out"
            ]
        );
        let receivers = CapturePoints {
            senders: false,
            receivers: true,
            links: false,
        };
        assert_eq!(names(receivers), ["receiver-0", "receiver-1"]);
    }
}
