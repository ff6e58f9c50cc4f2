//! How many bytes of private state a kernel gives a congestion control algorithm (`ICSK_CA_PRIV_SIZE`).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Where a Linux tree says so.
const HEADER: &str = "include/net/inet_connection_sock.h";
/// The header has 12 kB; more is not read.
const HEADER_MAX_BYTES: u64 = 1 << 20;

/// The size of the tree that a source lies in, `…/net/ipv4/tcp_bbr.c`; `None` if it lies in none.
pub(crate) fn of_tree(path: &Path) -> Option<u32> {
    let dir = path.canonicalize().ok()?.parent()?.to_owned();
    if !dir.ends_with("net/ipv4") {
        return None;
    }
    let header = dir.parent()?.parent()?.join(HEADER);
    // Not a pipe, which would be waited for.
    if !header.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let file = File::open(header).ok()?;
    file.take(HEADER_MAX_BYTES).read_to_end(&mut text).ok()?;
    of_header(&String::from_utf8_lossy(&text))
}

/// `#define ICSK_CA_PRIV_SIZE (144)`, else `u64 icsk_ca_priv[104 / sizeof(u64)];`.
fn of_header(header: &str) -> Option<u32> {
    let defined = header.lines().find_map(|line| {
        let (_, value) = line.split_once("ICSK_CA_PRIV_SIZE")?;
        line.trim_start().starts_with('#').then(|| product(value))?
    });
    defined.or_else(|| {
        let (_, rest) = header.split_once("icsk_ca_priv[")?;
        product(rest.split(']').next()?)?.checked_mul(8)
    })
}

/// The value of numbers and `sizeof(u64)` that are multiplied and divided.
fn product(expression: &str) -> Option<u32> {
    let expression = expression.replace("sizeof(u64)", "8");
    let mut value: u32 = 1;
    let mut divides = false;
    let bare: String = expression
        .chars()
        .filter(|letter| !letter.is_whitespace() && !matches!(letter, '(' | ')'))
        .collect();
    for factor in bare.split_inclusive(['*', '/']) {
        let number: u32 = factor.trim_end_matches(['*', '/']).parse().ok()?;
        value = if divides {
            value.checked_div(number)?
        } else {
            value.checked_mul(number)?
        };
        divides = factor.ends_with('/');
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_in_which_kernels_say_it_are_read() {
        for (header, bytes) in [
            (
                "\tu64 icsk_ca_priv[104 / sizeof(u64)];\n#define ICSK_CA_PRIV_SIZE \
                 sizeof_field(struct inet_connection_sock, icsk_ca_priv)",
                Some(104),
            ),
            (
                "#define ICSK_CA_PRIV_SIZE      (144)\n\tu64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / \
                 sizeof(u64)];",
                Some(144),
            ),
            ("#define ICSK_CA_PRIV_SIZE (13 * sizeof(u64))", Some(104)),
            ("#define ICSK_CA_PRIV_SIZE (1 / 0)", None),
            ("#define ICSK_CA_PRIV_SIZE (SOMETHING)", None),
            ("", None),
        ] {
            assert_eq!(of_header(header), bytes, "{header}");
        }
    }
}
