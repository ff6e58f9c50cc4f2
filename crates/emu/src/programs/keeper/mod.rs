//! What runs between the engine and a program: processes that are forked and never become another program.
//!
//! | file | process |
//! |---|---|
//! | `spawner` | forked from the engine before its threads start; starts an `init` for each program |
//! | `init` | the first process of a program's PID namespace, with its mounts; when it ends, the kernel kills all others there |
//! | `command` | what becomes the program |
//!
//! The engine has several threads, so its children may only make system calls: nothing here allocates, takes a lock or
//! returns. Each ends when its socket's other end closes, however that happened.

mod command;
mod init;
mod mounts;
mod spawner;
mod system;

pub(super) use spawner::serve;
pub(super) use system::fork;
