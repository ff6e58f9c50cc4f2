//! Compilers and programs made of foreign code.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dumbbell_cc::{ConfinedCommand, Ended};

use crate::attacks::{ATTACKS, OTHERS};
use crate::{one_test, skipped};

/// Tells a process of these tests which attack to make.
const ATTACK: &str = "DUMBBELL_TEST_ATTACK";
/// Tells a process of these tests to start a compiler, and in which directory.
const REQUESTER: &str = "DUMBBELL_TEST_REQUESTER";

fn shell(script: &str, scratch: &Path) -> ConfinedCommand {
    let mut command = ConfinedCommand::compiler("sh");
    command
        .args(["-c", script])
        .scratch(scratch)
        .execute(["/usr", "/bin", "/lib", "/lib64"].map(PathBuf::from));
    command
}

fn run(script: &str) -> Ended {
    let dir = tempfile::tempdir().unwrap();
    shell(script, dir.path()).output().unwrap()
}

/// Processes that were started with a word.
fn with_argument(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands
        .filter(|command| {
            command
                .split(|&byte| byte == 0)
                .any(|found| found == word.as_bytes())
        })
        .count()
}

/// Waits until something holds.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "not yet: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_program_of_foreign_code_does_not_get_the_environment() {
    let mut program = ConfinedCommand::program(Path::new("/usr/bin/env"));
    let ended = program.env("ASAN_OPTIONS", "x=1").output().unwrap();
    let got = String::from_utf8(ended.stdout).unwrap();
    let names = got.lines().filter_map(|line| line.split('=').next());
    let unknown: Vec<&str> = names
        .filter(|name| !["ASAN_OPTIONS", "LANG", "LC_ALL", "LD_LIBRARY_PATH"].contains(name))
        .collect();
    assert!(got.contains("ASAN_OPTIONS=x=1"), "{:?}", ended.status);
    assert_eq!(unknown, Vec::<&str>::new());
}

#[test]
fn its_output_and_status_arrive() {
    let ended = run("echo out; echo err >&2; exit 3");
    assert_eq!(ended.status.code(), Some(3));
    assert_eq!(
        (&*ended.stdout, &*ended.stderr),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert_eq!(ended.stopped, None);
    let mut missing = ConfinedCommand::compiler("/no/such/compiler");
    assert_eq!(
        missing.output().unwrap_err().kind(),
        std::io::ErrorKind::NotFound
    );
}

#[test]
fn a_compiler_reads_and_writes_only_what_it_may() {
    if skipped("a_compiler_reads_and_writes_only_what_it_may") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    for (script, code) in [
        ("cat /etc/passwd", Some(1)),
        (
            &format!("echo > {}/file", outside.path().display()),
            Some(2),
        ),
        (&format!("echo > {}/file", dir.path().display()), Some(0)),
        ("cat /dev/zero", Some(1)),
        ("ls / | head -n 1", Some(0)), // ls fails, head does not
        ("/usr/bin/true", Some(0)),
    ] {
        let ended = shell(script, dir.path()).output().unwrap();
        assert_eq!(ended.status.code(), code, "{script}: {ended:?}");
    }
    assert!(dir.path().join("file").exists() && !outside.path().join("file").exists());
}

#[test]
fn it_is_ended_at_its_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let mut long = shell("sleep 300.5", dir.path());
    long.time = Duration::from_millis(300);
    let start = Instant::now();
    let ended = long.output().unwrap();
    assert_eq!(ended.stopped.as_deref(), Some("did not end within 0.3 s"));
    assert!(start.elapsed() < Duration::from_secs(8));
    assert_eq!(with_argument("300.5"), 0);

    let mut talkative = shell("yes >&2", dir.path());
    talkative.output_bytes = [1 << 20, 1 << 20];
    let ended = talkative.output().unwrap();
    assert_eq!(
        ended.stopped.as_deref(),
        Some("wrote more than 1 MB of output")
    );

    if !skipped("it_is_ended_at_its_bounds") {
        let mut large = shell("head -c 100000000 /dev/zero > file || exit 7", dir.path());
        large
            .current_dir(dir.path())
            .read([PathBuf::from("/dev/zero")]);
        large.file_bytes = 1 << 20;
        large.output().unwrap();
        assert_eq!(
            fs::metadata(dir.path().join("file")).unwrap().len(),
            1 << 20
        );
        let mut busy = shell("while :; do :; done", dir.path());
        busy.cpu_s = 1;
        assert!(!busy.output().unwrap().status.success());
    }
}

#[test]
fn nothing_that_it_started_stays() {
    run("sleep 301.5 & sleep 301.5 & exit 0");
    assert_eq!(with_argument("301.5"), 0);
    if !skipped("nothing_that_it_started_stays") {
        run("setsid sleep 302.5 & setsid -f sleep 302.5; exit 0");
        assert_eq!(with_argument("302.5"), 0);
    }
}

#[test]
fn nothing_stays_when_the_one_who_asked_is_killed() {
    if let Some(dir) = std::env::var_os(REQUESTER) {
        // Never returns.
        let _ = shell("sleep 303.5 & sleep 303.5", Path::new(&dir)).output();
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("scratch");
    fs::create_dir(&dir).unwrap();
    let name = "commands::nothing_stays_when_the_one_who_asked_is_killed";
    let mut requester = one_test(name, REQUESTER, dir.to_str().unwrap())
        .spawn()
        .unwrap();
    eventually("it is started", || with_argument("303.5") >= 2);
    requester.kill().unwrap();
    requester.wait().unwrap();
    eventually("it has ended", || with_argument("303.5") == 0);
    eventually("its directory is removed", || !dir.exists());
}

/// The attacker, in a process of its own.
#[test]
fn attacker() {
    let Ok(wanted) = std::env::var(ATTACK) else {
        return;
    };
    if wanted == "memory" {
        let mut kept = Vec::new();
        loop {
            kept.push(vec![1_u8; 1 << 20]);
        }
    }
    let mut attacks = ATTACKS.into_iter().chain(OTHERS);
    let (_, attack) = attacks.find(|(name, _)| *name == wanted).unwrap();
    let code = attack().map_or_else(|error| error.raw_os_error().unwrap_or(99), |()| 0);
    std::process::exit(code)
}

fn program(attack: &str) -> ConfinedCommand {
    let mut command = ConfinedCommand::program(&std::env::current_exe().unwrap());
    command
        .args(["--exact", "commands::attacker", "--nocapture"])
        .env(ATTACK, attack);
    command
}

#[test]
fn a_program_made_of_foreign_code_does_no_harm() {
    if skipped("a_program_made_of_foreign_code_does_no_harm") {
        return;
    }
    for (name, _) in ATTACKS.into_iter().chain(OTHERS) {
        let ended = program(name).output().unwrap();
        let refused = [libc::EPERM, libc::EACCES, libc::ENOSYS].map(Some);
        assert!(refused.contains(&ended.status.code()), "{name}: {ended:?}");
    }
}

#[test]
fn a_programs_memory_is_bounded() {
    let mut command = program("memory");
    command.resident_bytes = Some(256 << 20);
    let ended = command.output().unwrap();
    assert_eq!(
        ended.stopped.as_deref(),
        Some("used more than 256 MB of memory")
    );
}
