//! Programs in hosts of this machine.

use std::fs;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dumbbell_results::ProgramSummary;
use dumbbell_scenario::{Control, Group, Limit, Port, Program, Queue, Scenario};

use super::*;
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::testbed::hosts;

const PATIENCE: Duration = Duration::from_secs(20);

fn scenario(program: Program) -> Scenario {
    let group = Group {
        cc: "linux/default".into(),
        base_rtt_ns: 20_000_000,
        start_jitter_ns: 0,
        program: Some(program),
        ..Group::default()
    };
    Scenario {
        seed: 1,
        duration_ns: 1_000_000_000,
        groups: vec![group],
        ..Scenario::dumbbell(10_000_000, Queue::drop_tail(Limit::Packets(100)))
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn programs(hosts: &Arc<Hosts>) -> Programs {
    Programs::new(Some(Spawner::start().expect("it forks")), hosts, None)
}

/// Runs a shell's commands at the client until they have ended.
fn shell(programs: &mut Programs, commands: &str) -> Exit {
    let command = Command::new(&words(&["sh", "-c", commands]));
    let process = programs
        .spawn(0, Side::Client, command, Standard::Kept)
        .unwrap_or_else(|error| panic!("{error}"));
    let exit = process.wait(Some(PATIENCE)).expect("it can be watched");
    exit.expect("it ends soon")
}

fn last(programs: &mut Programs) -> ProgramSummary {
    programs.end().expect("they end");
    programs.summaries(0).pop().expect("there is one")
}

/// What the last of them printed.
fn printed(programs: &mut Programs) -> String {
    last(programs).output.expect("it is kept")
}

/// Numbers of processes whose command has this word.
fn processes_with(word: &str) -> Vec<String> {
    let all = fs::read_dir("/proc").expect("it is mounted").flatten();
    let has = |path: &std::path::Path| {
        let command = fs::read(path.join("cmdline")).unwrap_or_default();
        let mut words = command.split(|&byte| byte == 0);
        words.any(|each| each == word.as_bytes())
    };
    all.filter(|entry| has(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn are_gone(word: &str) -> bool {
    let until = Instant::now() + PATIENCE;
    while !processes_with(word).is_empty() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn a_program_is_in_its_host_and_knows_the_other_by_name() {
    const TEST: &str = "a_program_is_in_its_host_and_knows_the_other_by_name";
    let before = fs::read("/etc/hosts").ok();
    let Some((_turn, hosts)) = hosts(TEST, &scenario(Program::default())) else {
        return;
    };
    let mut programs = programs(&hosts);
    let exit = shell(
        &mut programs,
        "grep -c tun0 /proc/net/dev; getent ahostsv4 server0; getent ahostsv6 client; echo of $$ >&2; ls /proc/1 >/dev/null; exit 7",
    );
    assert_eq!(exit, Exit::Code(7));
    let text = printed(&mut programs);
    assert!(text.starts_with("1\n10.0.0.1"), "{text}");
    // A kernel without IPv6 has IPv4 mapped into it.
    let has_v6 = std::path::Path::new("/proc/sys/net/ipv6/conf").exists();
    let client = if has_v6 {
        "fd64:756d:6262::a00:2"
    } else {
        "::ffff:10.0.0.2"
    };
    assert!(text.contains(client), "{text}");
    assert!(text.contains("of 2"), "{text}");
    assert_eq!(fs::read("/etc/hosts").ok(), before);
}

#[test]
fn nothing_that_a_client_leaves_outlives_it() {
    const TEST: &str = "nothing_that_a_client_leaves_outlives_it";
    let Some((_turn, hosts)) = hosts(TEST, &scenario(Program::default())) else {
        return;
    };
    let mut programs = programs(&hosts);
    let exit = shell(&mut programs, "setsid sleep 98761 & sleep 0.1");
    assert_eq!(exit, Exit::Code(0));
    assert!(are_gone("98761"));
}

#[test]
fn what_does_not_listen_to_sigterm_is_killed_and_what_listens_may_end() {
    const TEST: &str = "what_does_not_listen_to_sigterm_is_killed_and_what_listens_may_end";
    let Some((_turn, hosts)) = hosts(TEST, &scenario(Program::default())) else {
        return;
    };
    for (commands, expected) in [
        (
            "trap '' TERM; echo; sleep 98762; sleep 98762",
            (None, Some(libc::SIGKILL.cast_unsigned())),
        ),
        (
            "trap 'exit 5' TERM; echo; while :; do sleep 0.02; done",
            (Some(5), None),
        ),
        (
            "echo; exec sleep 98762",
            (None, Some(libc::SIGTERM.cast_unsigned())),
        ),
    ] {
        let mut programs = programs(&hosts);
        let command = Command::new(&words(&["sh", "-c", commands]));
        let spawned = programs.spawn(0, Side::Client, command, Standard::Kept);
        let process = spawned.unwrap_or_else(|error| panic!("{error}"));
        let until = Instant::now() + PATIENCE;
        while programs.summaries(0)[0].output.as_deref() == Some("") && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(process.poll().expect("it can be watched"), None);
        let summary = last(&mut programs);
        assert!(summary.was_ended);
        assert_eq!((summary.exit_code, summary.signal), expected, "{commands}");
        assert!(are_gone("98762"));
    }
}

#[test]
fn programs_end_with_what_started_them() {
    const TEST: &str = "programs_end_with_what_started_them";
    let Some((_turn, hosts)) = hosts(TEST, &scenario(Program::default())) else {
        return;
    };
    let mut programs = programs(&hosts);
    let command = Command::new(&words(&["sleep", "98763"]));
    for side in [Side::Client, Side::Server] {
        let spawned = programs.spawn(0, side, command.clone(), Standard::Kept);
        spawned.unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(processes_with("98763").len(), 2);
    drop(programs);
    assert!(processes_with("98763").is_empty());
}

#[test]
fn signals_and_given_descriptors_reach_a_program() {
    const TEST: &str = "signals_and_given_descriptors_reach_a_program";
    let Some((_turn, hosts)) = hosts(TEST, &scenario(Program::default())) else {
        return;
    };
    let mut programs = programs(&hosts);
    let directory = tempfile::tempdir().expect("there is room");
    let path = directory.path().join("out");
    let file = fs::File::create(&path).expect("it can be made");
    let nothing = fs::File::open("/dev/null").expect("it is there");
    let command = Command {
        environment: Some(vec![("GREETING".to_owned(), "hello".to_owned())]),
        directory: Some(directory.path().to_owned()),
        ..Command::new(&words(&[
            "/bin/sh",
            "-c",
            "echo $GREETING; pwd; sleep 98764",
        ]))
    };
    let standard = Standard::Given([nothing.as_fd(), file.as_fd(), file.as_fd()]);
    let spawned = programs.spawn(0, Side::Client, command, standard);
    let process = spawned.unwrap_or_else(|error| panic!("{error}"));
    let status = fs::read_to_string(format!("/proc/{}/stat", process.id()));
    assert!(status.is_ok_and(|status| status.contains("(sh)")));
    let expected = format!("hello\n{}\n", directory.path().display());
    let until = Instant::now() + PATIENCE;
    while fs::read_to_string(&path).ok().as_deref() != Some(&expected) {
        assert!(Instant::now() < until, "{:?}", fs::read_to_string(&path));
        std::thread::sleep(Duration::from_millis(5));
    }
    // A shell would wait for what it runs after SIGINT.
    process.signal(libc::SIGUSR1);
    let exit = process.wait(Some(PATIENCE)).expect("it can be watched");
    assert_eq!(exit, Some(Exit::Signal(libc::SIGUSR1)));
}

#[test]
fn what_cannot_be_started_is_refused_with_the_reason() {
    const TEST: &str = "what_cannot_be_started_is_refused_with_the_reason";
    let Some((_turn, hosts)) = hosts(TEST, &scenario(Program::default())) else {
        return;
    };
    let mut programs = programs(&hosts);
    let mut refusal = |command: &[&str], directory: Option<&str>| {
        let command = Command {
            directory: directory.map(Into::into),
            ..Command::new(&words(command))
        };
        let spawned = programs.spawn(0, Side::Client, command, Standard::Kept);
        spawned.expect_err("it is refused").to_string()
    };
    for (command, directory, expected) in [
        (
            "no-such-command",
            None,
            "cannot start `no-such-command`: command not found; install it, or give its path",
        ),
        ("./nothing", None, "cannot start `./nothing`: no such file"),
        (
            "/etc",
            None,
            "cannot start `/etc`: Permission denied (os error 13)",
        ),
        (
            "true",
            Some("/no-such-directory"),
            "cannot start `true`: cannot work in /no-such-directory: No such file or directory (os error 2)",
        ),
    ] {
        assert_eq!(refusal(&[command], directory), expected);
    }
}

#[test]
fn a_flood_of_output_is_read_and_its_end_kept() {
    const TEST: &str = "a_flood_of_output_is_read_and_its_end_kept";
    let Some((_turn, hosts)) = hosts(TEST, &scenario(Program::default())) else {
        return;
    };
    let mut programs = programs(&hosts);
    let exit = shell(&mut programs, "yes flood | head -c 50000000; echo the end");
    assert_eq!(exit, Exit::Code(0));
    let summary = last(&mut programs);
    let text = summary.output.expect("it is kept");
    assert!(text.len() <= 65_536 && text.starts_with("flood\n"));
    assert!(text.ends_with("the end\n"));
    // Writing it took time, which is counted with all that the shell started.
    let cpu_us = summary.cpu_us.expect("nothing is left");
    assert!(cpu_us > 1000, "{cpu_us}");
}

#[test]
fn a_server_is_waited_for_and_one_that_never_listens_is_refused() {
    const TEST: &str = "a_server_is_waited_for_and_one_that_never_listens_is_refused";
    let python = "import socket, time; time.sleep(0.3); s = socket.create_server(('', 5201)); time.sleep(98765)";
    let program = Program {
        server: words(&["python3", "-c", python]),
        ready: vec![Port::Tcp(5201)],
        ..Program::default()
    };
    let scenario = scenario(program);
    let Some((_turn, hosts)) = hosts(TEST, &scenario) else {
        return;
    };
    let mut first = programs(&hosts);
    let began = Instant::now();
    let ready = first.start_servers(&scenario, &Control::default());
    ready.unwrap_or_else(|error| panic!("{error}"));
    assert!(began.elapsed() >= Duration::from_millis(300));
    let short = Duration::from_millis(50);
    let refusal = |programs: &Programs| {
        let waited = programs.await_ports(0, &[Port::Udp(443)], short, &Control::default());
        waited.expect_err("no socket is bound to it").to_string()
    };
    let expected = "the server of group 0 did not open `udp:443` within 0.05 s; change `ready`, or start the server in the foreground";
    assert_eq!(refusal(&first), expected);
    drop(first);

    let mut second = programs(&hosts);
    let command = Command::new(&words(&["sh", "-c", "echo bad configuration; exit 3"]));
    let spawned = second.spawn(0, Side::Server, command, Standard::Kept);
    let server = spawned.unwrap_or_else(|error| panic!("{error}"));
    server.wait(Some(PATIENCE)).expect("it can be watched");
    let longer = second.await_ports(0, &[Port::Udp(443)], PATIENCE, &Control::default());
    let expected = "the server of group 0, `sh`, ended with code 3 before `udp:443` was open; it printed `bad configuration`";
    assert_eq!(longer.expect_err("it has ended").to_string(), expected);

    let control = Control::default();
    control.cancel();
    let cancelled = second.await_ports(0, &[Port::Tcp(1)], PATIENCE, &control);
    assert!(matches!(cancelled, Err(Error::Cancelled)));
}
