//! A congestion control that is no C, behind the same ops table.

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

fn failing(calls: &Rc<Cell<u32>>) -> Hosted {
    let calls = Rc::clone(calls);
    let hooks = ["init", "ssthresh", "cong_avoid", "undo_cwnd", "release"];
    Hosted {
        name: "failing".to_owned(),
        build: String::new(),
        params: BTreeMap::new(),
        series: Vec::new(),
        hooks: hooks.map(str::to_owned).to_vec(),
        new_flow: Box::new(move || Ok(Box::new(Failing(Rc::clone(&calls))))),
    }
}

#[test]
fn once_it_has_failed_it_is_not_called_again() {
    let calls = Rc::new(Cell::new(0));
    let instance = Instance::host("mine.py", failing(&calls)).unwrap();
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
