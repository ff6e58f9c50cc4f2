//! Names of capture points, and which of them are selected.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::network::NetworkId;

/// Interfaces by their number in the capture.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// Links by name; `None` for all.
    wanted: Option<Vec<String>>,
    known: HashMap<u32, Point, RandomState>,
    /// Interfaces that saw several virtual networks: a point each.
    shared: HashSet<u32, RandomState>,
    /// The last interface checked, and the result.
    last: Option<(u32, bool)>,
}

#[derive(Clone, Debug)]
struct Point {
    name: String,
    is_wanted: bool,
}

impl Points {
    pub(crate) fn new(wanted: Option<Vec<String>>) -> Self {
        Self {
            wanted,
            known: HashMap::default(),
            shared: HashSet::default(),
            last: None,
        }
    }

    /// The name of an interface alone.
    pub(crate) fn name_of_interface(&self, interface: u32) -> &str {
        self.known.get(&interface).map_or("", |point| &point.name)
    }

    /// Whether packets of an interface are selected.
    #[inline]
    pub(crate) fn has(&mut self, interface: u32, name: impl FnOnce(u32) -> Option<String>) -> bool {
        match self.last {
            Some((last, is_wanted)) if last == interface => is_wanted,
            _ => self.find(interface, name),
        }
    }

    fn find(&mut self, interface: u32, name: impl FnOnce(u32) -> Option<String>) -> bool {
        let wanted = &self.wanted;
        let point = self.known.entry(interface).or_insert_with(|| {
            let name = name(interface).unwrap_or_else(|| interface.to_string());
            let is_wanted = wanted.as_ref().is_none_or(|names| names.contains(&name));
            Point { name, is_wanted }
        });
        self.last = Some((interface, point.is_wanted));
        point.is_wanted
    }

    /// Names an interface's points after their virtual networks, where there are several.
    pub(crate) fn tell_networks_apart(&mut self, places: impl Iterator<Item = (u32, NetworkId)>) {
        let mut networks: HashMap<u32, NetworkId, RandomState> = HashMap::default();
        for (interface, network) in places {
            if *networks.entry(interface).or_insert(network) != network {
                self.shared.insert(interface);
            }
        }
    }

    /// The name of a point; its number where it has none.
    pub(crate) fn name(&self, (interface, network): (u32, NetworkId)) -> Cow<'_, str> {
        let name = self.name_of_interface(interface);
        if self.shared.contains(&interface) {
            format!("{name} {network}").into()
        } else {
            name.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_chosen_by_name() {
        let mut points = Points::new(Some(vec!["lan".to_owned(), "7".to_owned()]));
        let name = |interface| (interface == 1).then(|| "lan".to_owned());
        assert!(points.has(1, name));
        assert!(!points.has(2, name));
        assert!(
            points.has(7, name),
            "a point without a name goes by its number"
        );
        assert!(points.has(1, |_| unreachable!("it is known")));
        let names = [1, 7].map(|interface| points.name((interface, NetworkId::NONE)));
        assert_eq!(names, ["lan", "7"]);
    }
}
