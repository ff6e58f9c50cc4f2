//! The path's delay lines.

use dumbbell_path::{DelayLine, Packet};
use dumbbell_run::{Geometry, GroupDelays, Scenario};
use dumbbell_tcp::{Ack, DataHeader};

/// One line forward from the bottleneck, and per class of base RTT one before it and one back.
pub(crate) struct Lines {
    pub(crate) forward: DelayLine<Packet<DataHeader>>,
    pub(crate) classes: Vec<PathClass>,
    /// Index of each group's class.
    pub(crate) class_of_group: Vec<usize>,
}

/// The lines that flows of one base RTT share.
pub(crate) struct PathClass {
    pub(crate) has_access_delay: bool,
    pub(crate) access: DelayLine<Packet<DataHeader>>,
    pub(crate) back: DelayLine<Ack>,
}

impl Lines {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let geometry = Geometry::new(scenario);
        let mut classes = geometry.groups.clone();
        classes.sort_unstable();
        classes.dedup();
        let class_of = |delays: &GroupDelays| {
            let class = classes.iter().position(|class| class == delays);
            class.expect("every group's delays have a class")
        };
        Self {
            forward: DelayLine::new(geometry.forward_ns),
            class_of_group: geometry.groups.iter().map(class_of).collect(),
            classes: classes
                .iter()
                .map(|delays| PathClass {
                    has_access_delay: delays.access_ns > 0,
                    access: DelayLine::new(delays.access_ns),
                    back: delays.back_line(0),
                })
                .collect(),
        }
    }
}
