#!/bin/sh
# Compiles Rust for the tests: Cargo calls it with a compiler's command (tests/checked.toml).
# Libraries are optimised as their profiles say. Most programs of tests are not: the optimiser would
# take four fifths of the time to compile them, which is more than the tests then take longer.
# Assertions and overflow checks do not depend on this.
case "$CARGO_PKG_NAME $CARGO_CRATE_NAME" in
    # These compute much themselves: models of disciplines, callbacks of algorithms, whole transfers.
    "dumbbell-net all" | "dumbbell-cc all" | "dumbbell-tcp stories") exec "$@" ;;
    # A harness of its own, so without `--test`.
    "dumbbell-tcp packetdrill") exec "$@" -C opt-level=0 ;;
esac
case " $* " in
    *" --test "*) exec "$@" -C opt-level=0 ;;
esac
exec "$@"
