//! Our congestion controls on this machine's TCP, over loopback. They need root and BTF.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use dumbbell_cc::Request;
use rustix::net::sockopt;
use rustix::thread::UnshareFlags;

use super::*;

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

/// Prints why a test tests nothing here.
fn cannot_load(test: &str) -> bool {
    let problem = failure::missing().or_else(|| {
        dumbbell_cc::bpf_compiler()
            .is_none()
            .then(|| "no BPF compiler".to_owned())
    });
    if let Some(problem) = &problem {
        println!("SKIPPED: {test}: {problem}");
    }
    problem.is_some()
}

fn is_registered(name: &str) -> bool {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(path).unwrap();
    names.split_whitespace().any(|found| found == name)
}

/// Unregistering ends some time after the last descriptor was closed.
fn is_gone(name: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while is_registered(name) {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

/// A connection over loopback whose sender runs the congestion control; what it sends is read.
fn connect(kernel_name: &str) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    sockopt::set_tcp_congestion(&sender, kernel_name).unwrap();
    // Closing resets it, as in a run; the kernel forgets it at once.
    sockopt::set_socket_linger(&sender, Some(Duration::ZERO)).unwrap();
    let (mut receiver, _) = listener.accept().unwrap();
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while receiver.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    sender
}

/// Sends a megabyte and waits until most of it has arrived.
fn send_a_megabyte(mut sender: &TcpStream) {
    sender.write_all(&vec![0; MEGABYTE]).unwrap();
    thread::sleep(Duration::from_millis(100));
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
        let sender = connect(&kernel_name);
        send_a_megabyte(&sender);
        let in_use = sockopt::tcp_congestion(&sender).unwrap();
        assert_eq!(in_use, kernel_name);
        drop(sender);
        drop(loaded);
        assert!(is_gone(&kernel_name), "{kernel_name} stayed");
    }
}

#[test]
fn series_are_read_from_the_kernel() {
    if cannot_load("series_are_read_from_the_kernel") {
        return;
    }
    for (name, least) in [("bbr", "min_rtt_us"), ("copa", "rtt_min_us")] {
        let loaded = load(name, &[]);
        let mut reader = StateReader::new([&loaded], 1).unwrap();
        let sender = connect(&loaded.kernel_name);
        reader.tags().tag(sender.as_fd(), 0).unwrap();
        send_a_megabyte(&sender);
        reader.read().unwrap();
        let series = series(&reader, &loaded);
        let rtt_us = 1..1_000_000;
        assert!(rtt_us.contains(&value(&series, least)), "{series:?}");
        let state = reader.state(0).unwrap();
        assert!(rtt_us.contains(&u64::from(state.rack_rtt_us)), "{state:?}");
        assert_eq!((state.lost_pkts, state.pacing), (0, Pacing::Internal));
        drop(sender);
        reader.read().unwrap();
        assert_eq!(reader.state(0), None, "a closed socket is not read");
    }
}

#[test]
fn parameters_are_in_force_side_by_side() {
    if cannot_load("parameters_are_in_force_side_by_side") {
        return;
    }
    let narrow = load(PROBE, &[("window_pkts", 4), ("bias", -2), ("large", FAST)]);
    let wide = load(PROBE, &[("window_pkts", 90), ("large", FAST)]);
    assert_ne!(narrow.kernel_name, wide.kernel_name);
    assert_eq!(narrow.build(), wide.build());
    assert_eq!(narrow.params()["window_pkts"], 4);
    let senders = [connect(&narrow.kernel_name), connect(&wide.kernel_name)];
    let mut reader = StateReader::new([&narrow, &wide], 2).unwrap();
    for (flow, sender) in (0..).zip(&senders) {
        reader.tags().tag(sender.as_fd(), flow).unwrap();
        send_a_megabyte(sender);
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
    if cannot_load("sockets_in_another_namespace_are_read") {
        return;
    }
    let loaded = load("copa", &[]);
    let mut reader = StateReader::new([&loaded], 1).unwrap();
    let tags = reader.tags();
    let kernel_name = loaded.kernel_name.clone();
    let elsewhere = thread::spawn(move || {
        // SAFETY: a network namespace of its own leaves the thread's memory and files alone.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
        let up = Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status();
        assert!(up.is_ok_and(|status| status.success()));
        let sender = connect(&kernel_name);
        tags.tag(sender.as_fd(), 0).unwrap();
        send_a_megabyte(&sender);
        sender
    });
    let sender = elsewhere.join().unwrap();
    reader.read().unwrap();
    let series = series(&reader, &loaded);
    assert!(
        (1..100_000).contains(&value(&series, "rtt_min_us")),
        "{series:?}"
    );
    drop(sender);
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
        let _sender = connect(&loaded.kernel_name);
        println!("\nholds {}", loaded.kernel_name);
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

#[test]
fn what_the_verifier_refuses_is_told_with_its_line() {
    if cannot_load("what_the_verifier_refuses_is_told_with_its_line") {
        return;
    }
    let reno = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cc/reno.bpf.c"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wild.bpf.c");
    let reads = "\tif (*(volatile u32 *)(unsigned long)ack)\n\t\treturn;\n\ttcp_reno_cong_avoid(";
    let source = reno.unwrap().replace("\ttcp_reno_cong_avoid(", reads);
    fs::write(&path, source).unwrap();
    let path = path.to_str().unwrap();
    let error = Loaded::load(&request(path, &[])).unwrap_err().to_string();
    let (first, last) = error.split_once('\n').unwrap();
    let start = format!("the kernel's verifier refuses `{path}`, in `reno_cong_avoid`, at ");
    assert!(first.starts_with(&start), "{error}");
    assert!(first.contains("wild.bpf.c:"), "{error}");
    assert!(first.contains("invalid mem access"), "{error}");
    assert!((1..=6).contains(&last.lines().count()), "{error}");
}

/// What one sample costs: `cargo test --release -p dumbbell-emu --features bpf -- --ignored
/// --nocapture cost_of_a_sample`.
#[test]
#[ignore = "measures, and checks nothing"]
fn cost_of_a_sample() {
    for (name, count) in [("bbr", 128), ("bbr", 1000), ("copa", 128), ("copa", 1000)] {
        let loaded = load(name, &[]);
        let mut reader = StateReader::new([&loaded], count).unwrap();
        let senders: Vec<TcpStream> = (0..count).map(|_| connect(&loaded.kernel_name)).collect();
        for (flow, sender) in (0..).zip(&senders) {
            reader.tags().tag(sender.as_fd(), flow).unwrap();
            (&*sender).write_all(&[0; 10_000]).unwrap();
        }
        thread::sleep(Duration::from_millis(100));
        let samples = 200;
        let start = Instant::now();
        for _ in 0..samples {
            reader.read().unwrap();
        }
        let each = start.elapsed() / samples;
        let read = (0..count)
            .filter(|&flow| reader.state(flow).is_some())
            .count();
        println!("{name}: {read} sockets in {each:?}");
    }
}
