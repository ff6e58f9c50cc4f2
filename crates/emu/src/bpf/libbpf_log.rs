//! Keeps libbpf's messages for the error message instead of writing them to stderr.

use std::cell::RefCell;
use std::sync::Once;

use libbpf_rs::{PrintLevel, set_print};

thread_local! {
    /// libbpf calls back on the thread that called it.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`; returns its result and libbpf's messages meanwhile.
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
