//! What hostile code would try. Each returns Ok if it succeeds.

use std::fs::File;
use std::io;
use std::net::UdpSocket;
use std::ptr;

/// An attack, by name.
pub(crate) type Attack = (&'static str, fn() -> io::Result<()>);

/// Those that succeed for every user without the sandbox.
pub(crate) const ATTACKS: [Attack; 10] = [
    ("read a file", read_file),
    ("write a file", write_file),
    ("make a socket", socket),
    ("fork", fork),
    ("execute", execute),
    ("signal its parent", signal_parent),
    ("open its parent", open_parent),
    ("change its parent's limits", limit_parent),
    ("change a file's mode", change_mode),
    ("watch a file", watch),
];

/// Those that kernels do not grant everywhere.
pub(crate) const OTHERS: [Attack; 5] = [
    ("trace its parent", trace_parent),
    ("io_uring", io_uring),
    ("bpf", bpf),
    ("a user namespace", namespace),
    ("x32", x32),
];

fn done(result: libc::c_long) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn read_file() -> io::Result<()> {
    File::open("/etc/passwd").map(drop)
}

fn write_file() -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("dumbbell-attack-{}", std::process::id()));
    File::create(&path)?;
    std::fs::remove_file(path)
}

fn socket() -> io::Result<()> {
    UdpSocket::bind("127.0.0.1:0").map(drop)
}

fn fork() -> io::Result<()> {
    // SAFETY: the new process ends at once.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(0),
            child => {
                done(child.into())?;
                done(libc::waitpid(child, ptr::null_mut(), 0).into())
            }
        }
    }
}

fn execute() -> io::Result<()> {
    let arguments = [c"true".as_ptr(), ptr::null()];
    // SAFETY: arguments and path end as they must. The program ends with 0: success.
    done(unsafe { libc::execv(c"/bin/true".as_ptr(), arguments.as_ptr()) }.into())
}

fn signal_parent() -> io::Result<()> {
    // SAFETY: numbers only; signal 0 is none.
    done(unsafe { libc::kill(libc::getppid(), 0) }.into())
}

fn open_parent() -> io::Result<()> {
    // SAFETY: numbers only.
    done(unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getppid(), 0) })
}

fn limit_parent() -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the old limit is written to, the new one read from, locals.
    unsafe {
        let parent = libc::getppid();
        let mut now = limit;
        done(libc::prlimit(parent, libc::RLIMIT_CORE, ptr::null(), &raw mut now).into())?;
        done(libc::prlimit(parent, libc::RLIMIT_CORE, &raw const now, ptr::null_mut()).into())
    }
}

fn change_mode() -> io::Result<()> {
    let path = std::env::current_exe()?.with_extension(std::process::id().to_string());
    // Where the sandbox lets no file be made, one that exists.
    let made = File::create(&path).is_ok();
    let path = if made { path } else { std::env::current_exe()? };
    let path = std::ffi::CString::new(path.into_os_string().into_encoded_bytes())?;
    // SAFETY: the path ends in a null.
    unsafe {
        let result = done(libc::chmod(path.as_ptr(), 0o755).into());
        if made {
            libc::unlink(path.as_ptr());
        }
        result
    }
}

fn watch() -> io::Result<()> {
    // SAFETY: numbers only.
    done(unsafe { libc::syscall(libc::SYS_inotify_init1, 0) })
}

fn trace_parent() -> io::Result<()> {
    // SAFETY: the kernel attaches to another process, and reads nothing.
    done(unsafe { libc::ptrace(libc::PTRACE_SEIZE, libc::getppid(), 0, 0) })
}

fn io_uring() -> io::Result<()> {
    let mut parameters = [0_u8; 256];
    // SAFETY: the kernel writes at most as many bytes.
    done(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) })
}

fn bpf() -> io::Result<()> {
    // A hash map of one entry.
    let attributes = [1_u32, 4, 4, 1, 0, 0, 0, 0];
    // SAFETY: the kernel reads the attributes.
    done(unsafe {
        libc::syscall(
            libc::SYS_bpf,
            0,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    })
}

fn namespace() -> io::Result<()> {
    // SAFETY: numbers only.
    done(unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into())
}

/// `getpid` by the other interface of x86-64, past filters that do not know it.
fn x32() -> io::Result<()> {
    // SAFETY: no arguments.
    done(unsafe { libc::syscall(0x4000_0000 | libc::SYS_getpid) })
}
