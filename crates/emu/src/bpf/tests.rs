//! Our congestion control algorithms on this machine's TCP, over loopback. They need root and BTF.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use dumbbell_cc::Request;
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::thread::UnshareFlags;

use super::*;
use crate::error::Error;
use crate::skipped::skipped;

const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cc/tests/cc/probe.bpf.c");
const MEGABYTE: usize = 1_000_000;
/// The probe paces at its parameter `large`, bytes/s.
const FAST: i64 = 1 << 40;

fn request(name: &str, params: &[(&str, i64)]) -> Request {
    let params = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value));
    Request {
        name: name.to_owned(),
        params: params.collect(),
    }
}

fn load(name: &str, params: &[(&str, i64)]) -> Loaded {
    Loaded::load(&request(name, params)).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether this machine cannot run the test.
fn cannot_load(test: &str) -> bool {
    let problem = failure::missing().or_else(|| {
        dumbbell_cc::builtins_bpf_compiler()
            .is_none()
            .then(|| "no BPF compiler".to_owned())
    });
    if let Some(problem) = &problem {
        skipped(test, problem);
    }
    problem.is_some()
}

/// Whether this machine cannot run a test that reads the state of sockets: its kernel lets root load no iterator.
fn cannot_read(test: &str) -> bool {
    if cannot_load(test) {
        return true;
    }
    let refused = match StateReader::new([], 1) {
        Err(Error::NotPermitted(problem)) => Some(problem),
        _ => None,
    };
    if let Some(problem) = &refused {
        skipped(test, problem);
    }
    refused.is_some()
}

fn is_registered(name: &str) -> bool {
    let names = crate::machine::kernel::congestion_controls();
    names.iter().any(|found| found == name)
}

/// Whether it becomes true soon: the kernel frees unused things a little later.
fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

fn is_gone(name: &str) -> bool {
    soon(|| !is_registered(name))
}

/// A connection over loopback whose sender runs a congestion control algorithm.
struct Connection {
    sender: TcpStream,
    /// Receives a message for each megabyte that has arrived.
    megabytes: mpsc::Receiver<()>,
}

impl Connection {
    fn new(kernel_name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        sockopt::set_tcp_congestion(&sender, kernel_name).unwrap();
        // Closing resets it, as in a run; the kernel forgets it at once.
        sockopt::set_socket_linger(&sender, Some(Duration::ZERO)).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let (tell, megabytes) = mpsc::channel();
        thread::spawn(move || {
            let mut megabyte = vec![0; MEGABYTE];
            while receiver.read_exact(&mut megabyte).is_ok() && tell.send(()).is_ok() {}
        });
        Self { sender, megabytes }
    }

    /// Sends a megabyte and waits until it has arrived.
    fn carry_a_megabyte(&self) {
        (&self.sender).write_all(&vec![0; MEGABYTE]).unwrap();
        let arrived = self.megabytes.recv_timeout(Duration::from_secs(20));
        arrived.expect("the megabyte arrives");
    }
}

/// All series of flow 0 by name.
fn series(reader: &StateReader, loaded: &Loaded) -> Vec<(String, u64)> {
    let state = reader.state(0).expect("a tagged socket");
    let mut values = Vec::new();
    loaded.read_series(state, reader.storage(0), |index, value| {
        values.push((loaded.series()[index].name.clone(), value));
    });
    values
}

fn value(series: &[(String, u64)], name: &str) -> u64 {
    let found = series.iter().find(|(found, _)| found == name);
    found.unwrap_or_else(|| panic!("no series {name}")).1
}

#[test]
fn built_ins_carry_a_megabyte_and_are_gone_afterwards() {
    if cannot_load("built_ins_carry_a_megabyte_and_are_gone_afterwards") {
        return;
    }
    for name in dumbbell_cc::builtin_names() {
        let loaded = load(name, &[]);
        let kernel_name = loaded.kernel_name.clone();
        assert_eq!(loaded.name(), name);
        assert!(kernel_name.starts_with(name) && is_registered(&kernel_name));
        let connection = Connection::new(&kernel_name);
        connection.carry_a_megabyte();
        let in_use = sockopt::tcp_congestion(&connection.sender).unwrap();
        assert_eq!(in_use, kernel_name);
        drop(connection);
        drop(loaded);
        assert!(is_gone(&kernel_name), "{kernel_name} stayed");
    }
}

#[test]
fn series_are_read_from_the_kernel() {
    if cannot_read("series_are_read_from_the_kernel") {
        return;
    }
    let cases = [
        ("bbr", "min_rtt_us"),
        ("bbr3", "min_rtt_us"),
        ("copa", "rtt_min_us"),
        // State of both kinds.
        ("l3dr", "min_rtt_us"),
        ("l3dr", "round_rtt_us"),
    ];
    for (name, least) in cases {
        let loaded = load(name, &[]);
        let mut reader = StateReader::new([&loaded], 1).unwrap();
        let connection = Connection::new(&loaded.kernel_name);
        reader.tags().tag(connection.sender.as_fd(), 0).unwrap();
        connection.carry_a_megabyte();
        reader.read().unwrap();
        let series = series(&reader, &loaded);
        let rtt_us = 1..1_000_000;
        assert!(rtt_us.contains(&value(&series, least)), "{series:?}");
        let state = reader.state(0).unwrap();
        assert!(rtt_us.contains(&u64::from(state.rack_rtt_us)), "{state:?}");
        assert_eq!(state.pacing_status, 1);
        assert!(state.lost_pkts < 1000, "{state:?}");
        drop(connection);
        let is_closed = || {
            reader.read().unwrap();
            reader.state(0).is_none()
        };
        assert!(soon(is_closed), "a closed socket is read");
    }
}

#[test]
fn parameters_are_in_force_side_by_side() {
    if cannot_read("parameters_are_in_force_side_by_side") {
        return;
    }
    let narrow = load(PROBE, &[("window_pkts", 4), ("bias", -2), ("large", FAST)]);
    let wide = load(PROBE, &[("window_pkts", 90), ("large", FAST)]);
    assert_ne!(narrow.kernel_name, wide.kernel_name);
    assert_eq!(narrow.build(), wide.build());
    assert_eq!(narrow.params()["window_pkts"], 4);
    let connections = [&narrow, &wide].map(|loaded| Connection::new(&loaded.kernel_name));
    let mut reader = StateReader::new([&narrow, &wide], 2).unwrap();
    for (flow, connection) in (0..).zip(&connections) {
        reader.tags().tag(connection.sender.as_fd(), flow).unwrap();
        connection.carry_a_megabyte();
    }
    reader.read().unwrap();
    let biases = [(&narrow, 0), (&wide, 1)].map(|(loaded, flow)| {
        let mut bias = 0;
        let state = reader.state(flow).unwrap();
        loaded.read_series(state, reader.storage(flow), |index, value| {
            if loaded.series()[index].name == "bias_milli" {
                bias = value as i64;
            }
        });
        (bias, reader.storage(flow)[0] > 10)
    });
    assert_eq!(biases, [(-2, true), (-3, true)]);
}

#[test]
fn sockets_in_another_namespace_are_read() {
    if cannot_read("sockets_in_another_namespace_are_read") {
        return;
    }
    let loaded = load("copa", &[]);
    let mut reader = StateReader::new([&loaded], 1).unwrap();
    let tags = reader.tags();
    let kernel_name = loaded.kernel_name.clone();
    let elsewhere = thread::spawn(move || {
        // SAFETY: a network namespace of its own does not affect the thread's memory and files.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
        let up = Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status();
        assert!(up.is_ok_and(|status| status.success()));
        let connection = Connection::new(&kernel_name);
        tags.tag(connection.sender.as_fd(), 0).unwrap();
        connection.carry_a_megabyte();
        connection
    });
    let connection = elsewhere.join().unwrap();
    reader.read().unwrap();
    let series = series(&reader, &loaded);
    assert!(
        (1..100_000).contains(&value(&series, "rtt_min_us")),
        "{series:?}"
    );
    drop(connection);
}

#[test]
fn nothing_stays_of_a_killed_process() {
    const HOLD: &str = "DUMBBELL_TEST_HOLD";
    const TEST: &str = "nothing_stays_of_a_killed_process";
    if cannot_load(TEST) {
        return;
    }
    if env::var_os(HOLD).is_some() {
        // The process to be killed.
        let loaded = load("bbr", &[]);
        let _connection = Connection::new(&loaded.kernel_name);
        let _ = std::io::stdout().write_all(format!("\nholds {}\n", loaded.kernel_name).as_bytes());
        thread::sleep(Duration::from_secs(60));
        return;
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--nocapture", "--exact", &format!("bpf::tests::{TEST}")])
        .env(HOLD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let name = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("holds ").map(str::to_owned))
        .expect("the child says what it holds");
    assert!(is_registered(&name));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_gone(&name), "{name} stayed");
}

/// `cc/reno.bpf.c` with something replaced: the path of the file, and the directory that removes
/// it.
fn reno_with(from: &str, to: &str) -> (String, tempfile::TempDir) {
    let reno = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cc/reno.bpf.c");
    let reno = fs::read_to_string(reno).unwrap();
    assert!(reno.contains(from));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wild.bpf.c");
    fs::write(&path, reno.replace(from, to)).unwrap();
    (path.to_str().unwrap().to_owned(), dir)
}

/// The error message about it, and its path.
fn refusal_of_reno_with(from: &str, to: &str) -> (String, String) {
    let (path, _dir) = reno_with(from, to);
    let error = Loaded::load(&request(&path, &[])).unwrap_err();
    (error.to_string(), path)
}

#[test]
fn what_the_verifier_rejects_is_reported_with_its_line() {
    if cannot_load("what_the_verifier_rejects_is_reported_with_its_line") {
        return;
    }
    let reads = "\tif (*(volatile u32 *)(unsigned long)ack)\n\t\treturn;\n\ttcp_reno_cong_avoid(";
    let (error, path) = refusal_of_reno_with("\ttcp_reno_cong_avoid(", reads);
    let (first, last) = error.split_once('\n').unwrap();
    let start = format!("the kernel's verifier rejects `{path}`, in `reno_cong_avoid`, at ");
    assert!(first.starts_with(&start), "{error}");
    assert!(first.contains("wild.bpf.c:"), "{error}");
    assert!(first.contains("invalid mem access"), "{error}");
    assert!((1..=6).contains(&last.lines().count()), "{error}");
}

#[test]
fn a_source_may_use_what_this_kernel_has_and_the_simulator_has_not() {
    if cannot_load("a_source_may_use_what_this_kernel_has_and_the_simulator_has_not") {
        return;
    }
    let reads = |field: &str| format!("\tif (!sk->{field})\n\t\treturn;\n\ttcp_reno_cong_avoid(");
    let (path, _dir) = reno_with("\ttcp_reno_cong_avoid(", &reads("__sk_common.skc_family"));
    Loaded::load(&request(&path, &[])).unwrap();
    let (error, _) = refusal_of_reno_with("\ttcp_reno_cong_avoid(", &reads("sk_nonesuch"));
    assert!(
        error.contains("`struct sock` has no field `sk_nonesuch` in this kernel\n"),
        "{error}"
    );
}

#[test]
fn a_kernel_function_that_is_not_there_is_named() {
    if cannot_load("a_kernel_function_that_is_not_there_is_named") {
        return;
    }
    let call = "extern u32 tcp_nonesuch(struct sock *sk) __ksym;\n\treturn tcp_nonesuch(";
    let (error, path) = refusal_of_reno_with("\treturn tcp_reno_undo_cwnd(", call);
    let named = format!("does not let BPF call `tcp_nonesuch`, which `{path}` needs; use one");
    assert!(error.starts_with("this kernel ("), "{error}");
    assert!(error.contains(&named) && !error.contains('\n'), "{error}");
}

#[test]
fn more_sockets_than_the_kernel_collects_at_a_time_are_read() {
    if cannot_read("more_sockets_than_the_kernel_collects_at_a_time_are_read") {
        return;
    }
    // A record is 128 bytes, and 32 kB are collected at a time.
    const SOCKETS: usize = 600;
    let mut reader = StateReader::new([], SOCKETS).unwrap();
    let tags = reader.tags();
    let socket = || rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let sockets: Vec<OwnedFd> = (0..SOCKETS).map(|_| socket()).collect();
    for (flow, socket) in (0..).zip(&sockets) {
        tags.tag(socket.as_fd(), flow).unwrap();
    }
    reader.read().unwrap();
    assert!((0..SOCKETS).all(|flow| reader.state(flow).is_some()));
    assert!(tags.tag(std::io::stdin().as_fd(), 0).is_err());
}
