#!/usr/bin/env bash
# Installs dist/'s wheel in bare Debian roots (suites as arguments) and compares its runs with the
# checkout's. The roots have Python and nothing to compile with. Needs root, debootstrap and the
# package registries; roots are kept in $ROOTS. Mounts are made in a mount namespace of this
# script's own, so none is left behind.
set -euo pipefail
cd "$(dirname "$0")/.."

ROOTS=${ROOTS:-/var/tmp/dumbbell-roots}
# What `pip install` and the first run may take together.
LIMIT_S=${LIMIT_S:-60}
WHEEL=$(ls dist/dumbbell-*-manylinux_*_"$(uname -m)".whl 2>/dev/null | tail -n 1) || true
CHECKOUT=$PWD/.venv/bin
FIRST_RUN=(run copa cubic --buffer 2bdp --json)

fail() {
	echo "error: $*" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || fail "test-wheel needs root: it makes Debian roots and enters them"
command -v debootstrap >/dev/null || fail "no \`debootstrap\`; run \`apt-get install debootstrap\`"
[ -n "$WHEEL" ] || fail "no wheel for $(uname -m) in dist/; run \`make wheel\`"
[ $# -gt 0 ] || fail "name the Debian suites: clean_root.sh bookworm trixie"
if [ -z "${IN_MOUNT_NAMESPACE:-}" ]; then
	IN_MOUNT_NAMESPACE=1 exec unshare --mount --propagation private -- tests/clean_root.sh "$@"
fi

# Runs a command in the root, with pip's settings but for a directory of this machine's.
inside() {
	env -u VIRTUAL_ENV -u PYTHONPATH -u PIP_FIND_LINKS HOME=/root TMPDIR=/tmp \
		PATH=/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" "$@"
}

make_root() {
	[ -e "$root/etc/debian_version" ] \
		|| debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$root" \
			>"$ROOTS/$suite.log" 2>&1 || fail "debootstrap failed; see $ROOTS/$suite.log"
	for tool in cc gcc clang rustc cargo; do
		! inside sh -c "command -v $tool" >/dev/null || fail "$root has $tool, but must be bare"
	done
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	# A registry's mirror may have a certificate that only this machine knows.
	cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
	rm -rf "$root/venv" "$root/test"
	mkdir "$root/test"
	cp "$WHEEL" tests/table_digests.py cc/cubic.bpf.c "$root/test/"
	mv "$root/test/cubic.bpf.c" "$root/test/mine.bpf.c"
}

install_and_run() {
	local started=$SECONDS
	inside python3 -m venv /venv
	inside pip install --quiet "/test/$(basename "$WHEEL")"
	inside dumbbell "${FIRST_RUN[@]}" >"$root/test/run.json"
	local took=$((SECONDS - started))
	echo "$suite: $(inside python3 --version), installed and first run in $took s," \
		"environment $(du -sm "$root/venv" | cut -f1) MB"
	[ "$took" -le "$LIMIT_S" ] || fail "$suite: took $took s, expected at most $LIMIT_S s"
}

# From nothing again, to the page of explore.
drag_a_slider() {
	"$CHECKOUT/python" benches/explore/first_slider.py "$root" "/test/$(basename "$WHEEL")" \
		| sed "s/^/$suite: /" || fail "$suite: the first slider"
}

# Digests of the builds differ with the compiler; nothing else may.
without_builds() {
	grep -vE '"(engine_)?build": '
}

compare_with_checkout() {
	diff <("$CHECKOUT/dumbbell" "${FIRST_RUN[@]}" | without_builds) \
		<(without_builds <"$root/test/run.json") \
		|| fail "$suite: \`dumbbell ${FIRST_RUN[*]}\` differs from the checkout's"
	"$CHECKOUT/python" tests/table_digests.py | diff - <(inside python3 /test/table_digests.py) \
		|| fail "$suite: tables differ from the checkout's"
	echo "$suite: run.json and every table equal the checkout's"
}

run_on_the_kernel() {
	if [ -e /sys/kernel/btf/vmlinux ]; then
		inside dumbbell run copa cubic --buffer 2bdp --time 3s --engine kernel --json \
			| grep '"engine": "kernel"' >/dev/null || fail "$suite: no run on the kernel"
		echo "$suite: built-in algorithms ran on the kernel"
	else
		echo "$suite: SKIPPED the kernel engine: this kernel has no BTF"
	fi
}

# A user's own file needs a compiler: the error says how to get one, and that works.
compile_a_file() {
	local message
	if message=$(inside dumbbell run /test/mine.bpf.c --time 1s 2>&1); then
		fail "$suite: a C file ran where there is no compiler"
	fi
	[[ $message == *"pip install 'dumbbell[cc]'"* ]] || fail "$suite: expected the extra in: $message"
	inside pip install --quiet "dumbbell[cc] @ file:///test/$(basename "$WHEEL")"
	inside dumbbell run /test/mine.bpf.c --time 1s >/dev/null || fail "$suite: ziglang is not found"
	[ ! -e /sys/kernel/btf/vmlinux ] \
		|| inside dumbbell run /test/mine.bpf.c --time 1s --engine kernel >/dev/null \
		|| fail "$suite: ziglang is not found for BPF"
	echo "$suite: a C file needs the extra, and runs with it"
}

mkdir -p "$ROOTS"
for suite in "$@"; do
	root=$ROOTS/$suite
	make_root
	drag_a_slider
	install_and_run
	compare_with_checkout
	run_on_the_kernel
	compile_a_file
done
