//! Sources of kernel modules (`net/ipv4/tcp_*.c` of Linux): how one is recognized and compiled, and
//! what its compiler's errors mean.

use std::fs;
use std::path::{Path, PathBuf};

use dumbbell_cc_abi::CA_PRIV_WORDS;

use crate::build::state_size;
use crate::object::declaration_reader::{
    MODULE_STATE_MAX_BYTES, STATE_IS_OF_TREE, STATE_NEEDED, STATE_UNCHECKED,
};

/// Flags in addition to the built-ins'. No warnings beyond those of the kernel's own build, but a
/// call of the wrong function or with the wrong argument is an error.
pub(crate) const FLAGS: [&str; 3] = [
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
];

/// The file of `cc/include` that a module is linked with in addition to `flags::LINKED`.
pub(crate) const LINKED: &str = "linux-module/module.c";

/// For a module on which another depends: it does not register, and has no parameters.
pub(crate) const DEPENDENCY: &str = "-DDUMBBELL_DEPENDENCY";

/// Sources of Linux before 6.10, whose `cong_control` has two parameters; before 4.7, whose
/// `pkts_acked` has three; and before 4.13, whose times have a type of their own.
const CONG_CONTROL_RS: &str = "-DDUMBBELL_CONG_CONTROL_RS";
const PKTS_ACKED_RTT: &str = "-DDUMBBELL_PKTS_ACKED_RTT";
const BEFORE_4_13: &str = "-DDUMBBELL_BEFORE_4_13";

/// Names that Linux had until 4.12 only.
const NAMES_BEFORE_4_13: [&str; 2] = ["skb_mstamp", "tcp_time_stamp"];

/// Flags with which a source's private state has a size of its own.
const STATE_BYTES: &str = "-DDUMBBELL_STATE_BYTES=";
const STATE_OF_TREE: &str = "-DDUMBBELL_STATE_OF_TREE=";

/// What [`explain`] puts around a condition that must not hold.
const TOO_LARGE: &str = "BUILD_BUG_ON(";
const TOO_LARGE_END: &str = ") holds";

/// What a user can do about something that the simulator does not have.
const REMEDY: &str = "docs/linux-congestion-controls.md lists what it has; guard what you \
     can do without with `#ifndef DUMBBELL`, or add it to cc/include/linux-module; what the project \
     itself defines is read from a Makefile or Kbuild next to the source (-D and -I of `ccflags-y` \
     and `CFLAGS_name.o`) and from headers in `include/` there";

/// Headers that only a kernel module's source includes.
const HEADERS_OF_MODULES: [&str; 2] = ["<linux/module.h>", "<net/tcp.h>"];

/// What only a kernel module calls; its headers may come through one of the project's own.
const REGISTERS: [&str; 2] = ["tcp_register_congestion_control(", "module_init("];

/// Whether a source is a kernel module's, by the headers that it includes or by what it registers.
pub(crate) fn is_module(source: &str) -> bool {
    let registers = |line: &str| {
        let is_comment = ["//", "/*", "*"]
            .iter()
            .any(|start| line.starts_with(start));
        !is_comment && REGISTERS.iter().any(|call| line.contains(call))
    };
    source.lines().any(|line| {
        if registers(line.trim_start()) {
            return true;
        }
        let mut words = line.trim_start().trim_start_matches('#').split_whitespace();
        line.trim_start().starts_with('#')
            && words.next() == Some("include")
            && words
                .next()
                .is_some_and(|header| HEADERS_OF_MODULES.contains(&header))
    })
}

/// Modules in the same directory whose functions this one uses: the [`candidates`] that are
/// modules.
pub(crate) fn dependencies(path: &Path, source: &str) -> Vec<PathBuf> {
    candidates(path, source)
        .filter(|file| fs::read(file).is_ok_and(|text| is_module(&String::from_utf8_lossy(&text))))
        .collect()
}

/// Where such a module would be, according to the headers that this one includes: `tcp_vegas.c` for
/// `tcp_yeah.c`, which includes `tcp_vegas.h`.
pub(crate) fn candidates(path: &Path, source: &str) -> impl Iterator<Item = PathBuf> {
    let includes = source.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    });
    includes
        .map(move |header| path.with_file_name(header).with_extension("c"))
        .filter(move |file| file != path)
}

/// The kernel's name for the congestion control algorithm of a source: `vegas` for `tcp_vegas.c`.
pub(crate) fn kernel_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.trim_start_matches("tcp_").to_owned()
}

/// Flags with which a source is compiled first: the state has the size that it has in the tree that
/// the source lies in. One that does not check its size has as much as there can be.
pub(crate) fn first_flags(path: &Path, source: &str) -> Vec<String> {
    let flags = |bytes, origin| {
        vec![
            format!("{STATE_BYTES}{bytes}"),
            format!("{STATE_OF_TREE}{origin}"),
        ]
    };
    let is_checked = source.lines().any(|line| {
        let is_comment = ["//", "/*", "*"]
            .iter()
            .any(|start| line.trim_start().starts_with(start));
        line.contains("ICSK_CA_PRIV_SIZE") && !is_comment
    });
    if source.contains("inet_csk_ca") && !is_checked {
        return flags(MODULE_STATE_MAX_BYTES, STATE_UNCHECKED);
    }
    match state_size::of_tree(path) {
        Some(bytes) if bytes as usize != 8 * CA_PRIV_WORDS => {
            flags(bytes as usize, STATE_IS_OF_TREE)
        }
        // A list's head is part of its ring: the state must stay where it is, in the flow's storage. A socket moves.
        _ if ["list_head", "LIST_HEAD"]
            .iter()
            .any(|word| source.contains(word)) =>
        {
            flags(8 * CA_PRIV_WORDS, STATE_IS_OF_TREE)
        }
        _ => Vec::new(),
    }
}

/// Replaces or adds the flags that a source needs according to [`explain`]'s text; false if there
/// are none that it does not have.
pub(crate) fn adapt(flags: &mut Vec<String>, explained: &str) -> bool {
    let errors = || explained.lines().filter(|line| is_error(line));
    let rejects = |argument: &str| {
        errors().any(|line| line.contains("incompatible") && line.contains(argument))
    };
    let lacks =
        |name: &&str| errors().any(|line| line.contains(*name) && !line.contains("incompatible"));
    let mut needed = Vec::new();
    if rejects("rate_sample") {
        needed.push(CONG_CONTROL_RS.to_owned());
    }
    if rejects("ack_sample") {
        needed.push(PKTS_ACKED_RTT.to_owned());
    }
    if NAMES_BEFORE_4_13.iter().any(lacks) {
        needed.push(BEFORE_4_13.to_owned());
    }
    if let Some(state) = needed_state(explained) {
        let of_tree = format!("{STATE_OF_TREE}{STATE_NEEDED}");
        if !flags.contains(&of_tree) {
            flags.retain(|flag| !flag.starts_with(STATE_BYTES) && !flag.starts_with(STATE_OF_TREE));
            needed.extend([format!("{STATE_BYTES}{state}"), of_tree]);
        }
    }
    needed.retain(|flag| !flags.contains(flag));
    let is_adapted = !needed.is_empty();
    flags.extend(needed);
    is_adapted
}

/// `sizeof(struct bbr)`, which is larger than the state that there is, from the message about it.
fn needed_state(explained: &str) -> Option<&str> {
    let (_, condition) = explained.split_once(TOO_LARGE)?;
    let condition = condition.split(TOO_LARGE_END).next()?;
    let start = condition
        .find("sizeof")
        .filter(|_| condition.contains("ICSK_CA_PRIV_SIZE"))?;
    let end = start + condition[start..].find(')')? + 1;
    Some(&condition[start..end])
}

/// Lists what the module needs and the simulator does not have, one line each, before the
/// compiler's other errors; the compiler's message if there is nothing of that kind.
pub(crate) fn explain(message: &str) -> String {
    let errors = || message.lines().filter(|line| is_error(line));
    // BUG_ON's is in our header.
    if let Some(assertion) = errors().find_map(failed_assertion) {
        return assertion;
    }
    let errors: Vec<&str> = errors().filter(|line| !is_of_our_macro(line)).collect();
    let mut missing: Vec<String> = Vec::new();
    for lack in errors.iter().filter_map(|line| missing_piece(line)) {
        if !missing.contains(&lack) {
            missing.push(lack);
        }
    }
    if missing.is_empty() {
        return message.to_owned();
    }
    format!("{}\n{REMEDY}\n{}", missing.join("\n"), errors.join("\n"))
}

/// The message about symbols that the dynamic linker does not find.
pub(crate) fn explain_symbols(symbols: &[&str]) -> String {
    if symbols.contains(&"dumbbell_module_init") {
        return "has no module_init(), without which nothing is registered".to_owned();
    }
    format!(
        "calls the kernel's `{}`, which the simulator does not have; {REMEDY}",
        symbols.join("`, `")
    )
}

/// BUILD_BUG_ON and BUG_ON of `cc/include/linux-module/compiler.h`, mostly about the state's size.
fn failed_assertion(line: &str) -> Option<String> {
    let (_, condition) = line.split_once("not to be: ")?;
    let condition = condition.split('"').next()?;
    Some(format!(
        "{TOO_LARGE}{condition}{TOO_LARGE_END}; ICSK_CA_PRIV_SIZE is {} bytes, as in Linux",
        8 * CA_PRIV_WORDS
    ))
}

/// A variable in a macro of ours is missing because the macro's argument is.
fn is_of_our_macro(line: &str) -> bool {
    let is_ours = line.starts_with("cc/include/");
    is_ours
        && quoted(line)
            .first()
            .is_some_and(|name| name.starts_with("__"))
}

fn is_error(line: &str) -> bool {
    line.contains("error:")
}

/// What is missing according to an error of gcc or clang.
fn missing_piece(line: &str) -> Option<String> {
    let place = place(line);
    if let Some(header) = missing_header(line) {
        return Some(format!(
            "{place} includes <{header}>, which the simulator does not have"
        ));
    }
    let quoted = quoted(line);
    let first = quoted.first()?;
    let has = |text: &str| line.contains(text);
    let piece = if has("implicit declaration of function")
        || has("call to undeclared function")
        || has("undeclared library function")
    {
        format!("calls the kernel's `{first}`")
    } else if has("has no member named") {
        format!("uses the field `{}` of `{first}`", quoted.get(1)?)
    } else if has("no member named") {
        // clang names the field first.
        format!("uses the field `{first}` of `{}`", quoted.get(1)?)
    } else if has("undeclared") {
        return Some(format!(
            "{place} uses `{first}`, which neither the project nor the simulator defines"
        ));
    } else if has("unknown type name") || has("incomplete type") {
        format!("uses the kernel's type `{first}`")
    } else {
        return None;
    };
    Some(format!(
        "{place} {piece}, which the simulator does not have"
    ))
}

/// gcc: `linux/foo.h: No such file or directory`; clang: `'linux/foo.h' file not found`.
fn missing_header(line: &str) -> Option<&str> {
    let message = line.split_once("error: ")?.1;
    let gcc = message.strip_suffix(": No such file or directory");
    let clang = || message.strip_suffix(" file not found");
    Some(gcc.or_else(clang)?.trim_matches('\''))
}

/// `tcp_vegas.c:42` from `/path/tcp_vegas.c:42:7: error: …`.
fn place(line: &str) -> String {
    let head = line.split("error:").next().unwrap_or_default();
    let mut parts = head.split(':');
    let path = parts.next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    match parts.next() {
        Some(number) if !number.is_empty() => format!("{file}:{number}"),
        _ => file.to_owned(),
    }
}

/// The words in quotes, which are ‘’ or '' by locale and compiler.
fn quoted(line: &str) -> Vec<&str> {
    let message = line.split("error:").nth(1).unwrap_or_default();
    message.split(['\'', '‘', '’']).skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_recognized_by_its_include() {
        assert!(is_module("/* x */\n#include <linux/module.h>\n"));
        assert!(is_module("# include  <linux/module.h>"));
        assert!(!is_module(
            "#include <linux/tcp.h>\n#include \"bpf_tracing_net.h\"\n"
        ));
        assert!(!is_module("/* no #include <linux/module.h> here */"));
        assert!(is_module(
            "#include \"own.h\"\nmodule_init(own_register);\n"
        ));
        assert!(is_module("\treturn tcp_register_congestion_control(&own);"));
        assert!(!is_module(
            " * as tcp_register_congestion_control() does\nSEC(\".struct_ops\")\n"
        ));
    }

    /// Messages of gcc 12 and clang 19.
    #[test]
    fn what_is_missing_is_named() {
        for (error, want) in [
            (
                "/a/x.c:7:2: error: implicit declaration of function ‘tcp_foo’ [-Werror=…]",
                "x.c:7 calls the kernel's `tcp_foo`, which the simulator does not have",
            ),
            (
                "/a/x.c:7:2: error: call to undeclared function 'tcp_foo'; ISO C99 …",
                "x.c:7 calls the kernel's `tcp_foo`, which the simulator does not have",
            ),
            (
                "x.c:9:4: error: ‘struct tcp_sock’ has no member named ‘plb_rehash’",
                "x.c:9 uses the field `plb_rehash` of `struct tcp_sock`, which the simulator does not have",
            ),
            (
                "x.c:9:4: error: no member named 'plb_rehash' in 'struct tcp_sock'",
                "x.c:9 uses the field `plb_rehash` of `struct tcp_sock`, which the simulator does not have",
            ),
            (
                "x.c:3:4: error: ‘TCP_FOO’ undeclared (first use in this function)",
                "x.c:3 uses `TCP_FOO`, which neither the project nor the simulator defines",
            ),
            (
                "x.c:1:10: fatal error: linux/foo.h: No such file or directory",
                "x.c:1 includes <linux/foo.h>, which the simulator does not have",
            ),
            (
                "x.c:1:10: fatal error: 'linux/foo.h' file not found",
                "x.c:1 includes <linux/foo.h>, which the simulator does not have",
            ),
        ] {
            let explained = explain(error);
            assert_eq!(explained.lines().next(), Some(want));
            assert!(explained.contains(REMEDY) && explained.ends_with(error));
        }
    }

    #[test]
    fn a_variable_of_a_macro_of_ours_is_not_missing() {
        let error = "x.c:8:13: error: ‘OWN_BETA’ undeclared (first use in this function)\n\
             cc/include/linux-module/arithmetic.h:52:9: error: ‘__a’ undeclared";
        let explained = explain(error);
        let first = "x.c:8 uses `OWN_BETA`, which neither the project nor the simulator defines";
        assert_eq!(explained.lines().next(), Some(first));
        assert_eq!(explained.lines().nth(1), Some(REMEDY));
        assert!(!explained.contains("__a"));
    }

    #[test]
    fn what_is_not_a_lack_is_left_as_it_is() {
        let error = "x.c:1:1: error: expected ‘;’ before ‘}’ token";
        assert_eq!(explain(error), error);
    }
}
