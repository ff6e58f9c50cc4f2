//! Finds the parts of a network that have nothing to do with one another.

use super::{Network, Next};

impl<H> Network<H> {
    /// The component of each route: routes that share an element, or are joined by others that do, have the
    /// same number. Numbers start at 0, in the order of the routes.
    pub fn components(&self) -> Vec<usize> {
        let elements = self.entrance + 1;
        let mut element_set: Vec<usize> = (0..elements).collect();
        let routes: Vec<Vec<usize>> = (self.routes.iter())
            .map(|&start| self.elements_from(start as usize))
            .collect();
        for route in &routes {
            for &element in route {
                let (a, b) = (find(&element_set, route[0]), find(&element_set, element));
                element_set[a.max(b)] = a.min(b);
            }
        }
        // Links that share a channel wait for each other.
        for link in 0..self.links.len() {
            let first = 2 * self.channels.members(link)[0];
            let (a, b) = (find(&element_set, first), find(&element_set, 2 * link));
            element_set[a.max(b)] = a.min(b);
        }
        let mut numbers = vec![None; elements];
        let mut count = 0;
        (routes.iter())
            .map(|route| {
                *numbers[find(&element_set, route[0])].get_or_insert_with(|| {
                    count += 1;
                    count - 1
                })
            })
            .collect()
    }

    /// The links on each route, by number.
    pub fn links_of_routes(&self) -> Vec<Vec<usize>> {
        let is_transmitter = |source: usize| source < self.timer && source.is_multiple_of(2);
        let link = |source: usize| is_transmitter(source).then_some(source / 2);
        (self.routes.iter())
            .map(|&start| {
                let elements = self.elements_from(start as usize);
                elements.into_iter().filter_map(link).collect()
            })
            .collect()
    }

    /// The elements of the route that starts there, as sources: links by their transmitters.
    fn elements_from(&self, start: usize) -> Vec<usize> {
        let until_end = self.hops[start..].iter().map_while(|hop| match *hop {
            Next::Link(link) => Some(2 * link as usize),
            Next::Line(line) => Some(line as usize),
            Next::End => None,
        });
        until_end.collect()
    }
}

/// The smallest element of the set that `element` is in.
fn find(sets: &[usize], mut element: usize) -> usize {
    while sets[element] != element {
        element = sets[element];
    }
    element
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::{DelayLine, Hop, Limit, Link, QueueConfig, Site, Transmitter};

    fn network(links: usize, lines: usize, routes: &[Vec<Hop>]) -> Network<()> {
        let link = || {
            let link = Link::new(
                Vec::new(),
                QueueConfig::drop_tail(Limit::Packets(10)).build(&Site::default()),
                Transmitter::new(1_000_000, VecDeque::new()),
            );
            (link, DelayLine::new(0))
        };
        Network::new(
            (0..links).map(|_| link()).collect(),
            (0..lines).map(|_| DelayLine::new(0)).collect(),
            routes,
        )
    }

    #[test]
    fn routes_that_share_an_element_are_of_one_component() {
        use Hop::{Line, Link};
        let routes = [
            vec![Link(0), Link(1)],
            vec![Line(0)],
            vec![Line(1), Link(2)],
            vec![Link(3), Line(0)],
            vec![Link(1), Link(2)],
        ];
        let network = network(4, 2, &routes);
        assert_eq!(network.components(), [0, 1, 0, 1, 0]);
        assert_eq!(
            network.links_of_routes(),
            [vec![0, 1], vec![], vec![2], vec![3], vec![1, 2]]
        );
    }
}
