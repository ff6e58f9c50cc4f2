//! Unique names for the interfaces of a capture; those in the file may repeat.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

/// The names given so far.
#[derive(Debug, Default)]
pub(super) struct InterfaceNames {
    taken: HashSet<String, RandomState>,
    /// For each name that was taken, how many interfaces requested it.
    counts: HashMap<String, u64, RandomState>,
}

impl InterfaceNames {
    /// The name of interface `number`: its own, `eth0#2` for a second `eth0`. One without a name is
    /// named by its number, or otherwise if that is taken.
    pub(super) fn unique(&mut self, own: Option<String>, number: usize) -> Option<String> {
        let wanted = own.clone().unwrap_or_else(|| number.to_string());
        if self.taken.insert(wanted.clone()) {
            return own;
        }
        let count = self.counts.entry(wanted.clone()).or_insert(1);
        loop {
            *count += 1;
            let name = format!("{wanted}#{count}");
            if self.taken.insert(name.clone()) {
                return Some(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_interfaces_go_by_one_name() {
        let mut names = InterfaceNames::default();
        let own = [
            Some("eth0"),
            Some("eth0#2"),
            Some("eth0"),
            Some("eth0"),
            None,
            Some("4"),
            Some("7"),
            None,
        ];
        let unique = own
            .into_iter()
            .enumerate()
            .map(|(number, name)| names.unique(name.map(str::to_owned), number));
        let unique: Vec<_> = unique.map(|name| name.unwrap_or_default()).collect();
        let want = ["eth0", "eth0#2", "eth0#3", "eth0#4", "", "4#2", "7", "7#2"];
        assert_eq!(unique, want);
    }
}
