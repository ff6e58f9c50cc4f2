//! Explains a compiler's errors: a field or function of the kernel that our headers do not have.

use std::collections::BTreeSet;
use std::path::Path;

/// How compilers (gcc, then clang) report a missing field: the words before its name, and those
/// between its name and its structure's.
const FIELDS: [(&str, Option<&str>); 2] = [
    ("has no member named ", None),
    ("no member named ", Some(" in ")),
];
/// How gcc and clang report a member of the ops table that is set but does not exist.
const OPS: [&str; 2] = [
    "'struct tcp_congestion_ops' has no member named ",
    "field designator ",
];
const NAMES: [&str; 4] = [
    "implicit declaration of function ",
    "call to undeclared function ",
    "use of undeclared identifier ",
    "has incomplete type ",
];

/// How compilers report floating point: gcc for x86, gcc for arm64, clang for BPF.
const FLOATS: [&str; 3] = ["SSE register ", "x87 register ", "floating-point"];
/// How clang for BPF reports a call of a compiler's support function: soft float (`__muldf3`), but
/// also others (`__multi3` of 128-bit integers).
const BUILT_IN: &str = "call to built-in function ";
/// Floating-point types in the names of soft-float functions (GCC's machine modes).
const FLOAT_MODES: [&str; 6] = ["sf", "df", "tf", "xf", "hf", "bf"];

/// Where the kernel's types come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    /// A header of ours, `cc/include/vmlinux.h`.
    Ours,
    /// The running kernel.
    Kernels,
}

/// Lists what is missing and what to do about it, followed by the message. `types` are those that
/// the source was compiled with.
pub(crate) fn explain(message: &str, types: Types) -> String {
    let mut fields = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut ops = BTreeSet::new();
    for line in message.lines().filter(|line| line.contains("error: ")) {
        if let Some(op) = forbidden_op(line) {
            ops.insert(format!("`{op}`"));
        } else if let Some((structure, field)) = missing_field(line) {
            fields.insert(format!("`{structure}` has no field `{field}`"));
        } else if let Some(name) = missing_name(line) {
            names.insert(format!("`{name}`"));
        }
    }
    let mut text = String::new();
    if let Some(ops) = listed(ops) {
        text += &format!("the kernel does not let BPF algorithms implement {ops}; remove it\n");
    }
    if let Some(fields) = listed(fields) {
        text += &match types {
            Types::Ours => format!(
                "{fields} here: cc/include/vmlinux.h only has those that the simulated TCP maintains\n"
            ),
            Types::Kernels => format!("{fields} in this kernel\n"),
        };
    }
    if let Some(names) = listed(names) {
        text += &format!("{names} is not in our headers (cc/include); define it in the file\n");
    }
    text + message
}

/// Lists where the source, called `file`, computes in floating point; `None` if there are other
/// errors or no such place.
pub(crate) fn floats(message: &str, file: &str) -> Option<String> {
    let is_error = |line: &str| line.contains("error: ");
    let is_float =
        |line: &str| FLOATS.iter().any(|words| line.contains(words)) || calls_soft_float(line);
    if message
        .lines()
        .any(|line| is_error(line) && !is_float(line))
    {
        return None;
    }
    let mut places = BTreeSet::new();
    let lines: Vec<&str> = message.lines().collect();
    for (number, _) in lines.iter().enumerate().filter(|(_, line)| is_error(line)) {
        // An error in a macro of ours is followed by the place of its expansion.
        let place = lines[number..].iter().find_map(|line| place(line, file));
        places.extend(place);
    }
    let places = listed(places)?;
    Some(format!(
        "{places}: floating point, which kernel code must not use; scale integers: \
         `cwnd * 7 / 10` for `0.7 * cwnd`"
    ))
}

/// How compilers report a file that the sandbox does not let them read: the words before its name,
/// and those after it. The first two may also follow from the file's own permissions.
const UNREADABLE: [(&str, &str); 4] = [
    ("error: cannot open file '", "': Permission denied"), // clang
    ("error: ", ": Permission denied"),                    // gcc
    ("Error: file not found: ", ""),                       // the GNU assembler, `.incbin`
    ("error: Could not find incbin file '", "'"),          // clang's
];

/// Says which file a compiler was not let read; `None` if there is none that exists.
pub(crate) fn unreadable(message: &str) -> Option<String> {
    message.lines().find_map(|line| {
        let (before, file) = UNREADABLE.iter().find_map(|(before, after)| {
            let (place, rest) = line.split_once(before)?;
            let file = rest.strip_suffix(after)?;
            Some((place, file))
        })?;
        Path::new(file).exists().then(|| {
            let place = before.trim_end_matches([' ', ':']);
            let place = place.trim_end_matches("fatal").trim_end_matches([' ', ':']);
            format!(
                "{place}: `{file}` cannot be read: a compiler reads the sources and headers in this \
                 file's directory and below, and the system's"
            )
        })
    })
}

fn calls_soft_float(line: &str) -> bool {
    let called = line.split_once(BUILT_IN).and_then(|(_, rest)| quoted(rest));
    called.is_some_and(|name| {
        name.starts_with("__") && FLOAT_MODES.iter().any(|mode| name.contains(mode))
    })
}

/// `mine.c:3` from a line that begins `mine.c:3:`.
fn place(line: &str, file: &str) -> Option<String> {
    let rest = line.strip_prefix(file)?.strip_prefix(':')?;
    let number = rest.split(':').next()?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("{file}:{number}"))
}

fn listed(what: BTreeSet<String>) -> Option<String> {
    let what: Vec<String> = what.into_iter().collect();
    (!what.is_empty()).then(|| what.join(", "))
}

/// The callback that BPF does not have, such as `get_info`.
fn forbidden_op(line: &str) -> Option<String> {
    let line = line.replace(['\u{2018}', '\u{2019}'], "'");
    let line = line.replace("const struct", "struct");
    let is_ops = line.contains("'struct tcp_congestion_ops'");
    let rest = OPS.iter().find_map(|before| line.split_once(before));
    quoted(rest?.1).filter(|_| is_ops).map(str::to_owned)
}

/// The structure and its missing field.
fn missing_field(line: &str) -> Option<(String, String)> {
    FIELDS.iter().find_map(|(before, between)| {
        let (structure, rest) = line.split_once(before)?;
        let field = quoted(rest)?;
        let structure = match between {
            Some(between) => quoted(rest.split_once(between)?.1)?,
            None => quoted(structure.split_once("error: ")?.1)?,
        };
        let structure = structure.trim_start_matches("const ");
        Some((structure.to_owned(), field.to_owned()))
    })
}

fn missing_name(line: &str) -> Option<&str> {
    if let Some((_, rest)) = line.split_once("error: ")
        && rest.contains(" undeclared (first use")
    {
        return quoted(rest);
    }
    NAMES
        .iter()
        .find_map(|before| quoted(line.split_once(before)?.1))
}

/// The text in the first quotation marks, which depend on the compiler's locale.
fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['\'', '\u{2018}'])?;
    let rest = &text[start..];
    let inner = &rest[rest.chars().next()?.len_utf8()..];
    inner.split(['\'', '\u{2019}']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floating_point_is_named_where_the_source_has_it() {
        let gcc = "In file included from ./a.c:13:\n\
                   /t/net_tcp.h:21:50: error: SSE register return with SSE disabled\n\
                   ./a.c:78:16: note: in expansion of macro 'max'";
        let clang = "./a.c:9:3: error: A call to built-in function '__muldf3' is not supported.\n\
                     ./a.c:9:8: error: A call to built-in function '__divdf3' is not supported.";
        let text = floats(gcc, "./a.c").unwrap_or_default();
        assert!(text.starts_with("./a.c:78: floating point, "), "{text}");
        let text = floats(clang, "./a.c").unwrap_or_default();
        assert!(text.starts_with("./a.c:9: floating point, "), "{text}");
        let other = format!("{clang}\n./a.c:1:1: error: expected ';'");
        assert_eq!(floats(&other, "./a.c"), None);
        for integers in ["__multi3", "__udivti3", "__clzdi2", "__ffsdi2"] {
            let message = clang.replace("__divdf3", integers);
            assert_eq!(floats(&message, "./a.c"), None, "{integers}");
        }
    }

    #[test]
    fn a_file_that_may_not_be_read_is_named() {
        for message in [
            "a.c:41:10: fatal error: /etc/passwd: Permission denied\n  41 | #include",
            "a.c:41:10: fatal error: cannot open file '/etc/passwd': Permission denied",
            "cc/x.s: Assembler messages:\ncc/x.s:5: Error: file not found: /etc/passwd",
            "<inline asm>:2:9: error: Could not find incbin file '/etc/passwd'",
        ] {
            let text = unreadable(message).unwrap_or_default();
            assert!(text.contains(": `/etc/passwd` cannot be read: "), "{text}");
        }
        assert_eq!(
            unreadable("cc/x.s:5: Error: file not found: /no/such"),
            None
        );
    }

    #[test]
    fn missing_fields_and_functions_are_named_whatever_the_compiler() {
        for said in [
            "a.c:3:5: error: ‘const struct tcp_sock’ has no member named ‘sk_drops’",
            "a.c:3:5: error: no member named 'sk_drops' in 'struct tcp_sock'",
        ] {
            let text = explain(said, Types::Ours);
            assert!(text.ends_with(said), "{text}");
            assert!(
                text.starts_with("`struct tcp_sock` has no field `sk_drops` here"),
                "{text}"
            );
        }
        for said in [
            "a.c:3:5: error: implicit declaration of function ‘ktime_get’ [-Werror]",
            "a.c:3:5: error: call to undeclared function 'ktime_get'; ISO C99",
            "a.c:3:5: error: ‘ktime_get’ undeclared (first use in this function)",
            "a.c:3:5: error: use of undeclared identifier 'ktime_get'",
        ] {
            let text = explain(said, Types::Ours);
            assert!(
                text.starts_with("`ktime_get` is not in our headers"),
                "{text}"
            );
        }
        for said in [
            "a.c:9:1: error: ‘struct tcp_congestion_ops’ has no member named ‘get_info’",
            "a.c:9:1: error: field designator 'get_info' does not refer to any field in type \
             'struct tcp_congestion_ops'",
        ] {
            let text = explain(said, Types::Ours);
            let start = "the kernel does not let BPF algorithms implement `get_info`; remove";
            assert!(text.starts_with(start), "{text}");
        }
        assert_eq!(
            explain("a.c:1:1: error: expected ';'", Types::Kernels),
            "a.c:1:1: error: expected ';'"
        );
    }
}
