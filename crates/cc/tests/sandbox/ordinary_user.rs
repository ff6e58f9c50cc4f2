//! The same for an ordinary user.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// `nobody` on every distribution.
const NOBODY: u32 = 65534;

#[test]
fn the_same_holds_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        return; // then the other tests show it
    }
    // One that this user can read, and write.
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let copy = dir.path().join("sandbox");
    // By a process of its own: a test that forks meanwhile would keep the copy open for writing, and
    // the kernel does not run such a file.
    let copied = Command::new("cp")
        .arg(std::env::current_exe().unwrap())
        .arg(&copy)
        .status()
        .unwrap();
    assert!(copied.success());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(&copy, Some(NOBODY), Some(NOBODY)).unwrap();
    let output = Command::new(&copy)
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir(dir.path())
        .env("HOME", "/")
        .env_remove("TMPDIR")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
}
