//! Names of capture points, and which of them are looked at.

/// Interfaces by their number in the capture.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// `None`: all.
    wanted: Option<Vec<String>>,
    /// Few, in the order of their first packet.
    known: Vec<Point>,
    last: usize,
}

#[derive(Clone, Debug)]
struct Point {
    interface: u32,
    name: String,
    is_wanted: bool,
}

impl Points {
    pub(crate) fn new(wanted: Option<Vec<String>>) -> Self {
        Self {
            wanted,
            known: Vec::new(),
            last: 0,
        }
    }

    /// Whether packets of an interface are looked at.
    #[inline]
    pub(crate) fn has(&mut self, interface: u32, name: impl FnOnce(u32) -> Option<String>) -> bool {
        if let Some(point) = self.known.get(self.last)
            && point.interface == interface
        {
            return point.is_wanted;
        }
        self.find(interface, name)
    }

    fn find(&mut self, interface: u32, name: impl FnOnce(u32) -> Option<String>) -> bool {
        let found = self
            .known
            .iter()
            .position(|point| point.interface == interface);
        self.last = found.unwrap_or_else(|| {
            let name = name(interface).unwrap_or_else(|| interface.to_string());
            let is_wanted = self
                .wanted
                .as_ref()
                .is_none_or(|names| names.contains(&name));
            self.known.push(Point {
                interface,
                name,
                is_wanted,
            });
            self.known.len() - 1
        });
        self.known[self.last].is_wanted
    }

    /// The name of a point; its number where it has none.
    pub(crate) fn name(&self, interface: u32) -> &str {
        let point = self.known.iter().find(|point| point.interface == interface);
        point.map_or("", |point| &point.name)
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
        assert_eq!((points.name(1), points.name(7)), ("lan", "7"));
    }
}
