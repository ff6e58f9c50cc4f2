//! A process that confines itself.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use dumbbell_cc::{Confine, confine, seal};

use crate::attacks::{ATTACKS, OTHERS};
use crate::{one_test, skipped};

const TURNED_OFF: &str = "DUMBBELL_UNSAFE_NO_SANDBOX";
/// Of a process in which an attack failed otherwise than by the sandbox.
const ODD: i32 = 99;

/// Runs something in a process of its own; its status is 0 if that succeeds, else the error number.
fn in_process(run: impl FnOnce() -> io::Result<()>) -> ExitStatus {
    let mut status = 0;
    // SAFETY: the new process has one thread and ends here; this one waits for it.
    unsafe {
        match libc::fork() {
            0 => {
                let code = match run() {
                    Ok(()) => 0,
                    Err(error) => error.raw_os_error().unwrap_or(ODD),
                };
                libc::_exit(code)
            }
            child => {
                assert!(child > 0);
                libc::waitpid(child, &raw mut status, 0);
            }
        }
    }
    ExitStatus::from_raw(status)
}

fn confined(trap: bool, run: impl FnOnce() -> io::Result<()>) -> ExitStatus {
    in_process(|| {
        let missing = confine(Confine {
            trap,
            ..Confine::default()
        })?;
        assert!(missing.is_empty());
        run()
    })
}

#[test]
fn attacks_succeed_without_it() {
    for (name, attack) in ATTACKS {
        assert_eq!(in_process(attack).code(), Some(0), "{name}");
    }
}

#[test]
fn attacks_fail_with_it() {
    if skipped("attacks_fail_with_it") {
        return;
    }
    for (name, attack) in ATTACKS.into_iter().chain(OTHERS) {
        let status = confined(false, attack);
        let refused = [libc::EPERM, libc::EACCES, libc::ENOSYS].map(Some);
        assert!(refused.contains(&status.code()), "{name}: {status}");
    }
}

#[test]
fn forbidden_system_calls_raise_a_signal() {
    if skipped("forbidden_system_calls_raise_a_signal") {
        return;
    }
    for (name, attack) in ATTACKS.into_iter().chain(OTHERS) {
        let status = confined(true, attack);
        // Files are refused by Landlock, and x32 where the kernel does not have it.
        let is_refused = status.signal() == Some(libc::SIGSYS)
            || (name.ends_with("a file") && status.code() == Some(libc::EACCES))
            || (name == "x32" && status.code() == Some(libc::ENOSYS));
        assert!(is_refused, "{name}: {status}");
    }
}

#[test]
fn what_it_needs_it_can_do() {
    if skipped("what_it_needs_it_can_do") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().to_owned();
    std::fs::write(dir.join("readable"), "text").unwrap();
    let status = in_process(|| {
        confine(Confine {
            read: vec![dir.join("readable")],
            write: vec![dir.clone()],
            trap: true,
            parent: None,
        })?;
        assert_eq!(std::fs::read(dir.join("readable"))?, b"text");
        std::fs::write(dir.join("written"), "text")?;
        std::thread::spawn(|| ()).join().unwrap();
        Ok(())
    });
    assert_eq!(status.code(), Some(0), "{status}");
    assert!(dir.join("written").exists());
}

#[test]
fn once_sealed_it_opens_no_file_and_starts_no_thread() {
    if skipped("once_sealed_it_opens_no_file_and_starts_no_thread") {
        return;
    }
    // A library is readable until then.
    let open = || std::fs::read_dir("/usr/lib").map(drop);
    assert_eq!(confined(true, open).code(), Some(0));
    let sealed = |run: fn() -> io::Result<()>| confined(true, || seal().and_then(|()| run()));
    assert_eq!(sealed(|| Ok(())).code(), Some(0));
    assert_eq!(
        sealed(|| std::fs::read_dir("/usr/lib").map(drop)).signal(),
        Some(libc::SIGSYS)
    );
    let spawn = || std::thread::Builder::new().spawn(|| ()).map(drop);
    // The C library has blocked the signal meanwhile, so that the kernel kills.
    assert_eq!(sealed(spawn).signal(), Some(libc::SIGSYS));
    // Python imports modules later.
    let python = confined(false, || seal().and_then(|()| open()));
    assert_eq!(python.code(), Some(0));
    let python = confined(false, || seal().and_then(|()| spawn()));
    assert_eq!(python.code(), Some(libc::EPERM));
}

#[test]
fn sealing_does_nothing_where_nothing_is_confined() {
    let status = in_process(|| {
        seal()?;
        std::fs::File::open("/etc/passwd").map(drop)
    });
    assert_eq!(status.code(), Some(0));
}

#[test]
fn memory_is_bounded() {
    let reserve = || {
        let bytes = 1 << 45; // of 47 bits; more than any machine has
        // SAFETY: a new mapping, whatever becomes of it.
        let place = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    assert_eq!(in_process(reserve).code(), Some(0));
    assert_eq!(confined(true, reserve).code(), Some(libc::ENOMEM));
}

#[test]
fn it_ends_if_its_parent_is_not_there() {
    let ran = in_process(|| {
        let own = std::process::id();
        confine(Confine {
            parent: Some(own), // it is not its own parent
            ..Confine::default()
        })?;
        std::process::exit(0)
    });
    assert_eq!(ran.code(), Some(1));
}

#[test]
fn the_user_can_turn_it_off() {
    if std::env::var_os(TURNED_OFF).is_some() {
        let status = confined(true, || std::fs::File::open("/etc/passwd").map(drop));
        assert_eq!(status.code(), Some(0));
        return;
    }
    let name = "this_process::the_user_can_turn_it_off";
    let status = one_test(name, TURNED_OFF, "1").status();
    assert!(status.unwrap().success());
}
