//! The mounts of a program: names of its host's, and processes of its PID namespace.

use libc::{c_char, c_int, c_ulong};

use super::super::launch::Plan;
use super::init::NOTHING;
use super::system::{checked, close, errno};

/// Where a file system of our own is for a moment: the one directory that is certainly there and gets another anyway.
const PLACE: *const c_char = c"/proc".as_ptr();

/// Mounts what the program is to see, in the mount namespace that this process has to itself.
pub(super) fn make(plan: &Plan) -> Result<(), c_int> {
    // What the machine mounts meanwhile is seen here, and nothing of this is seen there.
    mount(
        NOTHING,
        c"/".as_ptr(),
        NOTHING,
        libc::MS_REC | libc::MS_SLAVE,
    )?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    mount(c"dumbbell".as_ptr(), PLACE, c"tmpfs".as_ptr(), flags)?;
    replace(
        c"/proc/hosts".as_ptr(),
        c"/etc/hosts".as_ptr(),
        plan.hosts(),
    )?;
    // A name that is not in the hosts file is unknown at once, instead of after a time-out.
    match replace(
        c"/proc/resolv.conf".as_ptr(),
        c"/etc/resolv.conf".as_ptr(),
        plan.resolver(),
    ) {
        Ok(()) | Err(libc::ENOENT) => {}
        Err(errno) => return Err(errno),
    }
    // SAFETY: a string that ends in a null. The files stay where they were bound.
    checked(unsafe { libc::umount2(PLACE, libc::MNT_DETACH) })?;
    // In a container, whose own is covered in parts, this may be refused; programs then see that.
    let flags = flags | libc::MS_NOEXEC;
    let _ = mount(c"proc".as_ptr(), PLACE, c"proc".as_ptr(), flags);
    Ok(())
}

fn mount(
    source: *const c_char,
    target: *const c_char,
    kind: *const c_char,
    flags: c_ulong,
) -> Result<(), c_int> {
    // SAFETY: strings that end in a null, or null where the call takes none.
    let mounted = unsafe { libc::mount(source, target, kind, flags, NOTHING.cast()) };
    checked(mounted).map(drop)
}

/// Binds a new file with this content over another.
fn replace(file: *const c_char, target: *const c_char, content: &[u8]) -> Result<(), c_int> {
    // SAFETY: strings that end in a null; the buffer has the length given.
    unsafe {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC;
        let opened = checked(libc::open(file, flags, 0o644))?;
        let mut rest = content;
        while !rest.is_empty() {
            let written = libc::write(opened, rest.as_ptr().cast(), rest.len());
            if written <= 0 {
                let errno = errno();
                close(opened);
                return Err(errno);
            }
            rest = &rest[written as usize..];
        }
        // Readable for everybody, for any umask.
        libc::fchmod(opened, 0o644);
        close(opened);
    }
    mount(file, target, NOTHING, libc::MS_BIND)
}
