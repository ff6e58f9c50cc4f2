//! The Python that may have the package ziglang, which is a C compiler for every target.
//! Build scripts use this file too.

use std::env;
use std::sync::OnceLock;

static EXECUTABLE: OnceLock<String> = OnceLock::new();

/// Puts a Python ahead of the others.
#[allow(dead_code, reason = "build scripts are not loaded by a Python")]
pub(crate) fn prefer(executable: String) {
    // A process has one Python; a second call would name the same.
    let _ = EXECUTABLE.set(executable);
}

/// `python -m ziglang cc` with each Python to try, as words.
pub(crate) fn zig_commands() -> impl Iterator<Item = Vec<String>> {
    let own = EXECUTABLE.get().cloned();
    // Set by maturin for the build, and by an environment that is activated.
    let build = env::var("PYO3_PYTHON").ok();
    let environment = env::var("VIRTUAL_ENV").map(|dir| format!("{dir}/bin/python"));
    let pythons = own.into_iter().chain(build).chain(environment);
    pythons
        .chain(["python3".to_owned()])
        .map(|python| [&python, "-m", "ziglang", "cc"].map(str::to_owned).to_vec())
}
