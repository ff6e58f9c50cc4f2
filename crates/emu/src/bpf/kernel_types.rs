//! The running kernel's types as C, for sources that need more of them than our headers have.

use std::ffi::{c_char, c_void};
use std::ptr::{self, NonNull};

use libbpf_rs::libbpf_sys::{
    __va_list_tag, btf, btf__free, btf__load_vmlinux_btf, btf__type_cnt, btf_dump,
    btf_dump__dump_type, btf_dump__free, btf_dump__new,
};

/// Precedes the types. The ops table is ours, a part of the kernel's: then it has the offsets that
/// dumbbell knows, and libbpf finds each member by name.
const HEAD: &str = "\
#ifndef __VMLINUX_H__
#define __VMLINUX_H__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#define tcp_congestion_ops tcp_congestion_ops___kernel
";
const TAIL: &str = "
#undef tcp_congestion_ops
#include \"tcp_congestion_ops.h\"
#pragma clang attribute pop
#ifndef NULL
#define NULL ((void *)0)
#endif
#endif /* __VMLINUX_H__ */
";

/// All types of the kernel, some 3 MB in 0.3 s; `None` if it does not export them.
pub(super) fn header() -> Option<String> {
    let types = Types::of_kernel()?;
    let mut text = String::from(HEAD);
    let dump = Dump::new(&types, &mut text)?;
    // SAFETY: the BTF is loaded.
    let count = unsafe { btf__type_cnt(types.0.as_ptr()) };
    for id in 1..count {
        // SAFETY: the dump and its BTF are alive, and so is the text that it appends to.
        if unsafe { btf_dump__dump_type(dump.0.as_ptr(), id) } != 0 {
            return None;
        }
    }
    drop(dump);
    text.push_str(TAIL);
    Some(text)
}

struct Types(NonNull<btf>);

impl Types {
    fn of_kernel() -> Option<Self> {
        // SAFETY: no preconditions; null is an error.
        NonNull::new(unsafe { btf__load_vmlinux_btf() }).map(Self)
    }
}

impl Drop for Types {
    fn drop(&mut self) {
        // SAFETY: loaded by `of_kernel`, freed once, and no dump of it is left.
        unsafe { btf__free(self.0.as_ptr()) };
    }
}

struct Dump<'types>(NonNull<btf_dump>, std::marker::PhantomData<&'types Types>);

impl<'types> Dump<'types> {
    fn new(types: &'types Types, text: &'types mut String) -> Option<Self> {
        let context = ptr::from_mut(text).cast::<c_void>();
        // SAFETY: the BTF and the text outlive the dump by its lifetime; no options are allowed.
        let dump = unsafe { btf_dump__new(types.0.as_ptr(), Some(append), context, ptr::null()) };
        NonNull::new(dump).map(|dump| Self(dump, std::marker::PhantomData))
    }
}

impl Drop for Dump<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { btf_dump__free(self.0.as_ptr()) };
    }
}

/// Called by libbpf for each piece of text, like `vprintf`.
unsafe extern "C" fn append(text: *mut c_void, format: *const c_char, args: *mut __va_list_tag) {
    // SAFETY: the context that `Dump::new` passed, whose borrow is not used meanwhile.
    let text = unsafe { &mut *text.cast::<String>() };
    // SAFETY: libbpf's format, and its arguments.
    if let Ok(piece) = unsafe { vsprintf::vsprintf(format, args) } {
        text.push_str(&piece);
    }
}
