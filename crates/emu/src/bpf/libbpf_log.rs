//! What libbpf says, kept for the error message instead of written to stderr.

use std::cell::RefCell;
use std::sync::Once;

use libbpf_rs::{PrintLevel, set_print};

thread_local! {
    /// libbpf speaks on the thread that called it.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`; returns what it returns and what libbpf said meanwhile.
pub(super) fn capture<T>(f: impl FnOnce() -> T) -> (T, String) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        set_print(Some((PrintLevel::Info, |_, message| {
            SAID.with_borrow_mut(|said| said.push_str(&message));
        })));
    });
    SAID.take();
    let result = f();
    (result, SAID.take())
}
