//! Where on the path packets are captured.

use std::fmt;

/// A place on the path: an interface of the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapturePoint {
    /// Host of a group's senders, both directions.
    Sender(u32),
    /// Host of a group's receivers, both directions.
    Receiver(u32),
    /// Packets arriving at the bottleneck, dropped or not.
    BottleneckIn,
    /// Packets leaving the bottleneck.
    BottleneckOut,
}

impl fmt::Display for CapturePoint {
    /// The interface's name in the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sender(group) => write!(f, "sender-{group}"),
            Self::Receiver(group) => write!(f, "receiver-{group}"),
            Self::BottleneckIn => f.write_str("bottleneck-in"),
            Self::BottleneckOut => f.write_str("bottleneck-out"),
        }
    }
}

/// Which points are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturePoints {
    /// [`CapturePoint::Sender`] of every group.
    pub senders: bool,
    /// [`CapturePoint::Receiver`] of every group.
    pub receivers: bool,
    /// [`CapturePoint::BottleneckIn`] and [`CapturePoint::BottleneckOut`].
    pub bottleneck: bool,
}

impl CapturePoints {
    /// Every point.
    pub const ALL: Self = Self {
        senders: true,
        receivers: true,
        bottleneck: true,
    };

    /// The points of a run with `groups` groups, in the order of the file's interfaces.
    pub fn of_groups(self, groups: u32) -> impl Iterator<Item = CapturePoint> {
        let hosts = (0..groups).flat_map(move |group| {
            [
                self.senders.then_some(CapturePoint::Sender(group)),
                self.receivers.then_some(CapturePoint::Receiver(group)),
            ]
        });
        let bottleneck = [CapturePoint::BottleneckIn, CapturePoint::BottleneckOut]
            .map(|point| self.bottleneck.then_some(point));
        hosts.chain(bottleneck).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_named_and_ordered_by_group() {
        let names = |points: CapturePoints| -> Vec<String> {
            points.of_groups(2).map(|point| point.to_string()).collect()
        };
        assert_eq!(
            names(CapturePoints::ALL),
            [
                "sender-0",
                "receiver-0",
                "sender-1",
                "receiver-1",
                "bottleneck-in",
                "bottleneck-out"
            ]
        );
        let receivers = CapturePoints {
            senders: false,
            receivers: true,
            bottleneck: false,
        };
        assert_eq!(names(receivers), ["receiver-0", "receiver-1"]);
    }
}
