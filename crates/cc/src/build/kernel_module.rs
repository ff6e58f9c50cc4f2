//! Sources of kernel modules (`net/ipv4/tcp_*.c` of Linux): how one is recognized and compiled, and
//! what its compiler's errors mean.

use std::fs;
use std::path::{Path, PathBuf};

use dumbbell_cc_abi::CA_PRIV_WORDS;

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

/// For sources of Linux before 6.10, whose `cong_control` has two parameters.
pub(crate) const CONG_CONTROL_RS: &str = "-DDUMBBELL_CONG_CONTROL_RS";

/// What a user can do about something that the simulator does not have.
const REMEDY: &str = "docs/linux-congestion-controls.md lists what it has; guard what you \
     can do without with `#ifndef DUMBBELL`, or add it to cc/include/linux-module";

/// Whether a source is a kernel module's.
pub(crate) fn is_module(source: &str) -> bool {
    source.lines().any(|line| {
        let mut words = line.trim_start().trim_start_matches('#').split_whitespace();
        line.trim_start().starts_with('#')
            && words.next() == Some("include")
            && words.next() == Some("<linux/module.h>")
    })
}

/// Modules in the same directory whose functions this one uses: the [`candidates`] that are
/// modules.
pub(crate) fn dependencies(path: &Path, source: &str) -> Vec<PathBuf> {
    candidates(path, source)
        .filter(|file| fs::read_to_string(file).is_ok_and(|text| is_module(&text)))
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

/// The kernel's name for the congestion control of a source: `vegas` for `tcp_vegas.c`.
pub(crate) fn kernel_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.trim_start_matches("tcp_").to_owned()
}

/// Whether the compiler rejected the type of `cong_control`.
pub(crate) fn is_about_cong_control(message: &str) -> bool {
    message
        .lines()
        .any(|line| line.contains("incompatible") && line.contains("rate_sample") && is_error(line))
}

/// Lists what the module needs and the simulator does not have, one line each, before the
/// compiler's other errors; the compiler's message if there is nothing of that kind.
pub(crate) fn explain(message: &str) -> String {
    let errors: Vec<&str> = message.lines().filter(|line| is_error(line)).collect();
    if let Some(assertion) = errors.iter().find_map(|line| failed_assertion(line)) {
        return assertion;
    }
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

/// BUILD_BUG_ON of `cc/include/linux-module/compiler.h`, mostly about the size of the state.
fn failed_assertion(line: &str) -> Option<String> {
    let (_, condition) = line.split_once("not to be: ")?;
    let condition = condition.split('"').next()?;
    Some(format!(
        "BUILD_BUG_ON({condition}) holds; ICSK_CA_PRIV_SIZE is {} bytes, as in Linux",
        8 * CA_PRIV_WORDS
    ))
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
        format!("uses the kernel's `{first}`")
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
                "x.c:3 uses the kernel's `TCP_FOO`, which the simulator does not have",
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
    fn what_is_not_a_lack_is_left_as_it_is() {
        let error = "x.c:1:1: error: expected ‘;’ before ‘}’ token";
        assert_eq!(explain(error), error);
    }
}
