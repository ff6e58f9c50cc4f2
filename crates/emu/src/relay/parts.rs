//! Divides the network into parts, one for each thread of the relay.

use dumbbell_net::Network;
use dumbbell_scenario::{Scenario, Way, route};

use crate::packet::frame::{Frame, GroupRoute};

/// What of a network one thread runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) routes: Vec<GroupRoute>,
    /// Links by their number in the network.
    pub(crate) links: Vec<usize>,
}

/// The parts of a scenario's network: each is a thread's. Routes that share a link or a delay line are in one
/// part, and so are all routes without a link, which are delay alone. If there are more parts than CPUs (two at
/// least), the smallest are put together.
pub(crate) fn parts(scenario: &Scenario) -> Vec<Part> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let components = components(&scenario.network(0), scenario.groups.len());
    at_most(components, cpus.max(2))
}

/// The whole network as one part.
pub(crate) fn whole(scenario: &Scenario) -> Part {
    let components = components(&scenario.network(0), scenario.groups.len());
    components.into_iter().reduce(together).unwrap_or_default()
}

fn components(network: &Network<Frame>, groups: usize) -> Vec<Part> {
    let (numbers, links) = (network.components(), network.links_of_routes());
    let count = numbers.iter().max().map_or(0, |&last| last + 1);
    let mut components = vec![Part::default(); count];
    for group in 0..groups {
        for way in [Way::There, Way::Back] {
            let index = route(group, way);
            let part = &mut components[numbers[index]];
            let group = group as u16;
            part.routes.push(GroupRoute { group, way });
            part.links.extend(&links[index]);
        }
    }
    let (mut parts, delays): (Vec<Part>, Vec<Part>) =
        (components.into_iter()).partition(|part| !part.links.is_empty());
    for part in &mut parts {
        part.links.sort_unstable();
        part.links.dedup();
    }
    parts.extend(delays.into_iter().reduce(together));
    parts
}

fn at_most(mut parts: Vec<Part>, most: usize) -> Vec<Part> {
    while parts.len() > most {
        parts.sort_by_key(|part| std::cmp::Reverse(part.routes.len()));
        if let (Some(a), Some(b)) = (parts.pop(), parts.pop()) {
            parts.push(together(b, a));
        }
    }
    parts
}

fn together(mut a: Part, b: Part) -> Part {
    a.routes.extend(b.routes);
    a.links.extend(b.links);
    a
}

#[cfg(test)]
mod tests {
    use super::super::tests::{group, scenario};
    use super::*;

    fn of(routes: &[(u16, Way)], links: &[usize]) -> Part {
        let routes = routes.iter();
        Part {
            routes: routes
                .map(|&(group, way)| GroupRoute { group, way })
                .collect(),
            links: links.to_vec(),
        }
    }

    #[test]
    fn a_dumbbell_has_the_bottleneck_and_the_way_back() {
        use Way::{Back, There};
        let scenario = scenario(50_000_000, 100_000, vec![group(40), group(100)]);
        let expected = [
            of(&[(0, There), (1, There)], &[0]),
            of(&[(0, Back), (1, Back)], &[]),
        ];
        assert_eq!(components(&scenario.network(0), 2), expected);
    }

    #[test]
    fn the_smallest_parts_are_put_together() {
        use Way::{Back, There};
        let parts = vec![
            of(&[(0, There)], &[0]),
            of(&[(1, There), (2, There), (3, There)], &[1]),
            of(&[(0, Back), (1, Back)], &[]),
        ];
        let expected = [
            of(&[(1, There), (2, There), (3, There)], &[1]),
            of(&[(0, Back), (1, Back), (0, There)], &[0]),
        ];
        assert_eq!(at_most(parts, 2), expected);
    }
}
