//! Points that saw one direction each: the two lines of a tap.

use std::collections::{BTreeMap, BTreeSet};

use crate::connection::View;
use crate::points::Points;

/// Names of points that each saw one direction only, and together both, of connections that no point saw whole.
pub(crate) fn pairs(views: &[View], points: &Points) -> Vec<Vec<String>> {
    let mut whole = BTreeSet::new();
    let mut halves: BTreeMap<u64, Vec<(u32, usize)>> = BTreeMap::new();
    let mut seen_whole = BTreeSet::new();
    for view in views {
        match view.directions {
            [Some(_), Some(_)] => {
                whole.insert(view.key.interface);
                seen_whole.insert(view.connection);
            }
            [Some(_), None] => halves
                .entry(view.connection)
                .or_default()
                .push((view.key.interface, 0)),
            _ => halves
                .entry(view.connection)
                .or_default()
                .push((view.key.interface, 1)),
        }
    }
    let mut partners: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    halves.retain(|connection, _| !seen_whole.contains(connection));
    for places in halves.values() {
        for &(one, direction) in places {
            let others = places.iter().filter(|&&(_, other)| other != direction);
            partners
                .entry(one)
                .or_default()
                .extend(others.map(|&(other, _)| other));
        }
    }
    let only_partner = |point: u32| -> Option<u32> {
        let of_point = partners.get(&point).filter(|_| !whole.contains(&point))?;
        (of_point.len() == 1).then(|| of_point.first().copied())?
    };
    let name = |interface: u32| points.name_of_interface(interface).to_owned();
    let found = partners.keys().filter_map(|&one| {
        let other = only_partner(one).filter(|&other| other > one)?;
        (only_partner(other) == Some(one)).then(|| vec![name(one), name(other)])
    });
    found.collect()
}
