//! Constants of the kernel's headers that BPF sources use without a definition, because their own headers have some.
//!
//! They are defined only where the compiler misses them: a source that defines them itself must not find them there.

/// Values of a kernel with `HZ` of 1000, as everywhere here.
const CONSTANTS: [(&str, &str); 10] = [
    ("HZ", "1000"),
    ("MSEC_PER_SEC", "1000L"),
    ("USEC_PER_MSEC", "1000L"),
    ("NSEC_PER_USEC", "1000L"),
    ("NSEC_PER_MSEC", "1000000L"),
    ("USEC_PER_SEC", "1000000L"),
    ("NSEC_PER_SEC", "1000000000L"),
    ("TCP_INIT_CWND", "10"),
    ("TCP_RTO_MIN", "(1000U/5)"),
    ("TCP_RTO_MAX", "(120U*1000)"),
];

/// Adds definitions of the constants that a compiler's message misses; false if there are none that were not added.
pub(crate) fn add_missing(flags: &mut Vec<String>, message: &str) -> bool {
    let misses = |name: &str| {
        let mut lines = message.lines();
        lines.any(|line| {
            line.contains("undeclared")
                && line.split(['\'', '‘', '’', '`']).any(|word| word == name)
        })
    };
    let before = flags.len();
    for (name, value) in CONSTANTS {
        let flag = format!("-D{name}={value}");
        if misses(name) && !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    flags.len() > before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_defined_and_only_once() {
        let mut flags = Vec::new();
        let message = "x.c:1:2: error: use of undeclared identifier 'HZ'\n\
             x.c:3:4: error: ‘NSEC_PER_USEC’ undeclared (first use in this function)\n\
             x.c:5:6: error: ‘USEC_PER_SEC’ redefined";
        assert!(add_missing(&mut flags, message));
        assert_eq!(flags, ["-DHZ=1000", "-DNSEC_PER_USEC=1000L"]);
        assert!(!add_missing(&mut flags, message));
    }
}
