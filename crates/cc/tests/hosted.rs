//! A congestion control algorithm that is not written in C, behind the same ops table.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use dumbbell_cc::{Hook, Hooks, Hosted, Instance, Sock};

/// Counts its calls, and fails from the second on.
struct Failing(Rc<Cell<u32>>);

impl Hooks for Failing {
    fn call(&mut self, sock: &mut Sock, _hook: Hook<'_>) -> Result<u32, String> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > 1 {
            return Err(format!("fails at call {}", self.0.get()));
        }
        sock.snd_cwnd = 7;
        Ok(0)
    }

    fn read_series(&self, _take: &mut dyn FnMut(usize, u64)) {}
}

/// Sets cwnd to the test's value.
struct Obedient(Rc<Cell<u32>>);

impl Hooks for Obedient {
    fn call(&mut self, sock: &mut Sock, _hook: Hook<'_>) -> Result<u32, String> {
        sock.snd_cwnd = self.0.get();
        Ok(0)
    }

    fn read_series(&self, _take: &mut dyn FnMut(usize, u64)) {}
}

fn hosted<H: Hooks + 'static>(make: fn(Rc<Cell<u32>>) -> H, cell: &Rc<Cell<u32>>) -> Hosted {
    let cell = Rc::clone(cell);
    let hooks = ["init", "ssthresh", "cong_avoid", "undo_cwnd", "release"];
    Hosted {
        name: "hosted".to_owned(),
        build: String::new(),
        params: BTreeMap::new(),
        parameters: Vec::new(),
        series: Vec::new(),
        hooks: hooks.map(str::to_owned).to_vec(),
        new_flow: Box::new(move || Ok(Box::new(make(Rc::clone(&cell))))),
    }
}

#[test]
fn once_it_has_failed_it_is_not_called_again() {
    let calls = Rc::new(Cell::new(0));
    let instance = Instance::host("mine.py", hosted(Failing, &calls)).unwrap();
    let mut flow = instance.new_flow();
    let mut other = instance.new_flow();
    flow.init();
    assert_eq!((calls.get(), flow.sock.snd_cwnd), (1, 7));
    assert_eq!(flow.ssthresh(), 3, "Reno's, in its place");
    flow.cong_avoid(1, 1);
    other.init();
    assert_eq!(flow.undo_cwnd(), 7);
    drop((flow, other));
    assert_eq!(calls.get(), 2);
    let fault = instance.fault().unwrap().to_string();
    assert!(
        fault.contains("`mine.py` fails at call 2 in `ssthresh`"),
        "{fault}"
    );
}

#[test]
fn the_longest_time_at_a_cwnd_of_0_is_known() {
    let cwnd_pkts = Rc::new(Cell::new(10));
    let instance = Instance::host("mine.py", hosted(Obedient, &cwnd_pkts)).unwrap();
    let mut flow = instance.new_flow();
    flow.init();
    let mut react = |at_ms: u64, pkts: u32| {
        cwnd_pkts.set(pkts);
        flow.sock.tcp_clock_cache = at_ms * 1_000_000;
        flow.cong_avoid(1, 1);
        flow.cwnd_zero_max_ns() / 1_000_000
    };
    assert_eq!(react(0, 10), 0);
    assert_eq!(react(100, 0), 0);
    assert_eq!(react(400, 0), 300);
    assert_eq!(react(500, 10), 400, "until it set another");
    assert_eq!(react(3000, 10), 400);
    assert_eq!(react(3100, 0), 400);
    assert_eq!(react(3200, 10), 400);
    assert_eq!(react(4000, 0), 400);
    // A timeout sets cwnd to 1: from then on it is not 0, and no reaction changes that.
    cwnd_pkts.set(1);
    flow.sock.tcp_clock_cache = 6_000_000_000;
    flow.ssthresh();
    assert_eq!(flow.cwnd_zero_max_ns() / 1_000_000, 400);
    assert!(instance.fault().is_none());
}
