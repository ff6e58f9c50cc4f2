//! Who is next: event sources, or endpoints with a timer.

/// Competitors that meet at once: a cache line of them.
const WIDTH: usize = 8;

/// Deadlines of many competitors, and the earliest of them.
///
/// A tree of matches: the leaves have the competitors' entries, each node above the earliest of
/// every eight below. An entry is a deadline with the competitor's number in its low bits, so that
/// the smallest one says both, at equal times the lower number. Comparing takes no branch: who is
/// next is as good as random, and a mispredicted branch costs more than all the comparisons.
#[derive(Debug)]
pub struct Tournament {
    /// The entry that is the earliest of all.
    next: u64,
    /// The final, whose winner is `next`.
    top: [u64; WIDTH],
    /// The other nodes: below the final are the first eight, below node `n` of them `8n + 8..8n + 16`.
    nodes: Vec<[u64; WIDTH]>,
    /// The node with the first competitors; none if they are in the final.
    first_leaf: Option<usize>,
    competitors: usize,
    /// Width of a competitor's number.
    number_bits: u32,
}

impl Tournament {
    /// `competitors` without a deadline.
    pub fn new(competitors: usize) -> Self {
        let leaves = competitors.div_ceil(WIDTH).max(1);
        let (mut inner, mut width) = (0, 1);
        while width < leaves {
            inner += width;
            width *= WIDTH;
        }
        let first_leaf = (leaves > 1).then(|| inner - 1);
        let mut tournament = Self {
            next: u64::MAX,
            top: [u64::MAX; WIDTH],
            nodes: vec![[u64::MAX; WIDTH]; first_leaf.map_or(0, |first_leaf| first_leaf + leaves)],
            first_leaf,
            competitors,
            number_bits: Self::number_bits(competitors),
        };
        for competitor in 0..competitors {
            tournament.set(competitor, u64::MAX);
        }
        tournament
    }

    fn number_bits(competitors: usize) -> u32 {
        competitors.next_power_of_two().trailing_zeros()
    }

    /// More competitors, behind those there are, without a deadline. Who was competing keeps its
    /// deadline and its number. It costs as much as building all again: double the number.
    pub fn grow(&mut self, competitors: usize) {
        let mut larger = Self::new(competitors);
        for competitor in 0..self.competitors {
            larger.set_earlier(competitor, self.due_ns(competitor));
        }
        *self = larger;
    }

    /// Time from which on a deadline means never, with this many competitors, ns.
    pub fn never_ns(competitors: usize) -> u64 {
        u64::MAX >> Self::number_bits(competitors)
    }

    /// A competitor's deadline and its number, to be compared with others'.
    #[inline]
    pub(crate) fn entry(&self, competitor: usize, due_ns: u64) -> u64 {
        let never_ns = u64::MAX >> self.number_bits;
        due_ns.min(never_ns) << self.number_bits | competitor as u64
    }

    /// The competitor's deadline is `due_ns` (`u64::MAX`: none).
    #[inline]
    pub fn set(&mut self, competitor: usize, due_ns: u64) {
        let mut entry = self.entry(competitor, due_ns);
        let mut place = competitor % WIDTH;
        if let Some(first_leaf) = self.first_leaf {
            let mut node = first_leaf + competitor / WIDTH;
            loop {
                self.nodes[node][place] = entry;
                entry = earliest(&self.nodes[node]);
                place = node % WIDTH;
                if node < WIDTH {
                    break;
                }
                node = node / WIDTH - 1;
            }
        }
        self.top[place] = entry;
        self.next = earliest(&self.top);
    }

    /// The competitor's deadline is `due_ns` if it was later. Returns whether it was.
    ///
    /// A deadline that moves later can wait at its old time until that comes: an RTO that every
    /// ACK pushes out costs nothing.
    #[inline]
    pub fn set_earlier(&mut self, competitor: usize, due_ns: u64) -> bool {
        if *self.leaf(competitor) >> self.number_bits <= due_ns {
            return false;
        }
        let entry = self.entry(competitor, due_ns);
        let mut place = competitor % WIDTH;
        if let Some(first_leaf) = self.first_leaf {
            let mut node = first_leaf + competitor / WIDTH;
            loop {
                if entry >= self.nodes[node][place] {
                    return true;
                }
                self.nodes[node][place] = entry;
                place = node % WIDTH;
                if node < WIDTH {
                    break;
                }
                node = node / WIDTH - 1;
            }
        }
        self.top[place] = self.top[place].min(entry);
        self.next = self.next.min(entry);
        true
    }

    /// The competitor with the earliest deadline, and that, ns; from [`Tournament::never_ns`] on: none.
    #[inline]
    pub fn next(&self) -> (usize, u64) {
        self.next_with(u64::MAX)
    }

    /// The same with the entry of one who is not in the tournament.
    #[inline]
    pub(crate) fn next_with(&self, other: u64) -> (usize, u64) {
        let entry = self.next.min(other);
        let number = entry & ((1 << self.number_bits) - 1);
        (number as usize, entry >> self.number_bits)
    }

    /// Whether the competitor has a deadline.
    #[inline]
    pub fn is_due_ever(&self, competitor: usize) -> bool {
        *self.leaf(competitor) >> self.number_bits < u64::MAX >> self.number_bits
    }

    /// The competitor's deadline, ns; `u64::MAX`: none.
    #[inline]
    pub(crate) fn due_ns(&self, competitor: usize) -> u64 {
        if self.is_due_ever(competitor) {
            *self.leaf(competitor) >> self.number_bits
        } else {
            u64::MAX
        }
    }

    /// A competitor's entry.
    #[inline]
    fn leaf(&self, competitor: usize) -> &u64 {
        let place = competitor % WIDTH;
        match self.first_leaf {
            None => &self.top[place],
            Some(first_leaf) => &self.nodes[first_leaf + competitor / WIDTH][place],
        }
    }
}

#[inline]
fn earliest(entries: &[u64; WIDTH]) -> u64 {
    let [a, b, c, d, e, f, g, h] = *entries;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who is due in what order, each once.
    fn order(tournament: &mut Tournament) -> Vec<(usize, u64)> {
        let never_ns = u64::MAX >> tournament.number_bits;
        let next = || {
            let (competitor, due_ns) = tournament.next();
            tournament.set(competitor, u64::MAX);
            (due_ns < never_ns).then_some((competitor, due_ns))
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn an_earlier_deadline_wins_and_a_later_one_waits_at_its_old_time() {
        let mut tournament = Tournament::new(3);
        assert!(tournament.set_earlier(0, 50));
        assert!(tournament.set_earlier(1, 20));
        assert!(tournament.set_earlier(0, 10));
        assert!(!tournament.set_earlier(1, 90));
        assert_eq!(order(&mut tournament), [(0, 10), (1, 20)]);
    }

    #[test]
    fn equal_deadlines_go_by_number() {
        let mut tournament = Tournament::new(70);
        for competitor in [64, 2, 9, 1, 69] {
            tournament.set_earlier(competitor, 5);
        }
        tournament.set(3, 4);
        tournament.set(3, 6);
        let due = [(1, 5), (2, 5), (9, 5), (64, 5), (69, 5), (3, 6)];
        assert_eq!(order(&mut tournament), due);
    }

    #[test]
    fn growing_keeps_deadlines_and_makes_room_for_more() {
        let mut tournament = Tournament::new(2);
        tournament.set(1, 30);
        tournament.set(0, 40);
        tournament.grow(100);
        tournament.set(99, 35);
        assert_eq!(order(&mut tournament), [(1, 30), (99, 35), (0, 40)]);
    }

    #[test]
    fn any_number_of_competitors_is_put_in_order() {
        for competitors in [1, 2, 7, 8, 9, 63, 64, 65, 512, 513, 600] {
            let mut tournament = Tournament::new(competitors);
            let due_ns = |competitor: usize| (competitor as u64 * 7919) % 101;
            for competitor in 0..competitors {
                tournament.set_earlier(competitor, due_ns(competitor));
            }
            let mut expected: Vec<_> = (0..competitors).map(|c| (c, due_ns(c))).collect();
            expected.sort_by_key(|&(competitor, due_ns)| (due_ns, competitor));
            assert_eq!(order(&mut tournament), expected);
        }
    }
}
