"""The engines; compiled from crates/py."""

from pathlib import Path
from typing import Final, Protocol, final, type_check_only

__all__ = [
    "ENGINE_VERSION",
    "MAX_ROWS",
    "AckSample",
    "Cancelled",
    "CaptureError",
    "Child",
    "ConfinedResult",
    "CongestionControlFault",
    "Control",
    "Emulation",
    "EngineError",
    "Output",
    "RateSample",
    "ScratchDirectory",
    "Socket",
    "analyze",
    "applications",
    "builtin_sources",
    "check_for_kernel",
    "check_impairments",
    "check_medium",
    "check_traffic",
    "compile_for_kernel",
    "confine",
    "congestion_controls",
    "datagrams",
    "describe",
    "die_with_parent",
    "distribution_mean_milli",
    "distributions",
    "impairments",
    "machine",
    "match_captures",
    "media",
    "name_of_system_call",
    "native_compiler",
    "packet_log",
    "precompile",
    "queue_disciplines",
    "report_crashes",
    "run",
    "run_compiler",
    "run_confined",
    "running_call",
    "sandbox_pieces",
    "schema",
    "use_finished_builds",
    "verify",
    "write_storm",
]

class EngineError(ValueError):
    """The engine rejects the scenario; the message is for the user."""

class CongestionControlFault(EngineError):
    """A congestion control violated the contract; the message is for the user."""

class Cancelled(Exception):
    """The run was cancelled through its `Control`."""

class CaptureError(ValueError):
    """A capture cannot be read, or lacks what was requested; the message is for the user."""

@final
class Control:
    """A handle on a run in progress, to read its progress and to stop it."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """Ask the run to stop; it raises `Cancelled` within milliseconds."""

    def send_signal(self, signal: int) -> None:
        """Send the clients among the programs of a run in virtual time a signal."""

    def is_cancelled(self) -> bool:
        """Whether it was asked to stop."""

    def progress(self) -> float:
        """Share of the run that has passed, 0 to 1."""

    def set_progress(self, share: float) -> None:
        """Set the share that has passed, for a run in another process."""

@type_check_only
class ArrowRecordBatch:
    """Anything with the Arrow PyCapsule interface; `pyarrow.table()` accepts it."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

@final
class Output:
    """The result of a run: its summary and its tables."""

    def summary(self) -> str:
        """The summary, as JSON."""

    def table_names(self) -> list[str]:
        """Names of the tables, in the order they were recorded."""

    def table(self, name: str) -> ArrowRecordBatch:
        """A table, shared with Python without a copy."""

    def columns(
        self, name: str
    ) -> list[tuple[str, str, bool, int, bytes | None, bytes, list[str] | None]]:
        """A table's columns, for a process without an Arrow library.

        Each has a name, Arrow's name of its type, whether values are missing, its rows, the bits of
        those that are there, the values, and the labels that the values number.
        """

@type_check_only
class CaptureConfig(Protocol):
    """What to capture, and the file to write."""

    @property
    def path(self) -> Path: ...
    @property
    def snap_bytes(self) -> int | None: ...
    @property
    def senders(self) -> bool: ...
    @property
    def receivers(self) -> bool: ...
    @property
    def links(self) -> bool: ...

@final
class Socket:
    """A copy of the sender's `tcp_sock` for the duration of a call, under the kernel's names."""

    @property
    def icsk_ca_state(self) -> int: ...
    @property
    def is_cwnd_limited(self) -> bool: ...
    @property
    def min_rtt_us(self) -> int: ...
    @property
    def in_slow_start(self) -> bool: ...
    @property
    def packets_in_flight(self) -> int: ...
    @property
    def sk_max_pacing_rate(self) -> int: ...
    @property
    def bytes_acked(self) -> int: ...
    @property
    def bytes_sent(self) -> int: ...
    @property
    def tcp_mstamp(self) -> int: ...
    @property
    def tcp_clock_cache(self) -> int: ...
    @property
    def tcp_wstamp_ns(self) -> int: ...
    @property
    def delivered_mstamp(self) -> int: ...
    @property
    def first_tx_mstamp(self) -> int: ...
    @property
    def sk_gso_max_size(self) -> int: ...
    @property
    def icsk_rto(self) -> int: ...
    @property
    def srtt_us(self) -> int: ...
    @property
    def mdev_us(self) -> int: ...
    @property
    def rttvar_us(self) -> int: ...
    @property
    def mss_cache(self) -> int: ...
    @property
    def advmss(self) -> int: ...
    @property
    def snd_una(self) -> int: ...
    @property
    def snd_nxt(self) -> int: ...
    @property
    def write_seq(self) -> int: ...
    @property
    def high_seq(self) -> int: ...
    @property
    def snd_wnd(self) -> int: ...
    @property
    def snd_cwnd_clamp(self) -> int: ...
    @property
    def snd_cwnd_used(self) -> int: ...
    @property
    def prior_cwnd(self) -> int: ...
    @property
    def prior_ssthresh(self) -> int: ...
    @property
    def packets_out(self) -> int: ...
    @property
    def retrans_out(self) -> int: ...
    @property
    def sacked_out(self) -> int: ...
    @property
    def lost_out(self) -> int: ...
    @property
    def max_packets_out(self) -> int: ...
    @property
    def cwnd_usage_seq(self) -> int: ...
    @property
    def prr_delivered(self) -> int: ...
    @property
    def prr_out(self) -> int: ...
    @property
    def delivered(self) -> int: ...
    @property
    def delivered_ce(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def rate_delivered(self) -> int: ...
    @property
    def rate_interval_us(self) -> int: ...
    @property
    def total_retrans(self) -> int: ...
    @property
    def data_segs_out(self) -> int: ...
    @property
    def reordering(self) -> int: ...
    @property
    def undo_marker(self) -> int: ...
    @property
    def lsndtime(self) -> int: ...
    @property
    def sk_gso_max_segs(self) -> int: ...
    @property
    def sk_pacing_shift(self) -> int: ...
    @property
    def icsk_retransmits(self) -> int: ...
    @property
    def icsk_backoff(self) -> int: ...
    @property
    def undo_retrans(self) -> int: ...
    sk_pacing_rate: int
    sk_pacing_status: int
    snd_cwnd: int
    snd_cwnd_cnt: int
    snd_cwnd_stamp: int
    snd_ssthresh: int
    app_limited: int
    ecn_flags: int

@final
class AckSample:
    """The sample passed to `pkts_acked`: `struct ack_sample`."""

    @property
    def pkts_acked(self) -> int: ...
    @property
    def rtt_us(self) -> int: ...
    @property
    def in_flight(self) -> int: ...

@final
class RateSample:
    """The sample passed to `cong_control`: `struct rate_sample`."""

    @property
    def prior_mstamp(self) -> int: ...
    @property
    def prior_delivered(self) -> int: ...
    @property
    def prior_delivered_ce(self) -> int: ...
    @property
    def delivered(self) -> int: ...
    @property
    def delivered_ce(self) -> int: ...
    @property
    def interval_us(self) -> int: ...
    @property
    def snd_interval_us(self) -> int: ...
    @property
    def rcv_interval_us(self) -> int: ...
    @property
    def rtt_us(self) -> int: ...
    @property
    def losses(self) -> int: ...
    @property
    def acked_sacked(self) -> int: ...
    @property
    def prior_in_flight(self) -> int: ...
    @property
    def last_end_seq(self) -> int: ...
    @property
    def is_app_limited(self) -> bool: ...
    @property
    def is_retrans(self) -> bool: ...
    @property
    def is_ack_delayed(self) -> bool: ...

def run(
    scenario_json: str,
    control: Control | None = None,
    engine: str = "simulator",
    capture: CaptureConfig | None = None,
) -> Output:
    """Run a scenario on an engine, `simulator` or `kernel`; other Python threads run meanwhile."""

def run_in_guest(
    scenario_json: str,
    kernel: Path,
    library: Path,
    control: Control | None = None,
    capture: CaptureConfig | None = None,
    programs: list[tuple[int, str, list[str], tuple[int, int, int], list[str], float]]
    | None = None,
) -> Output:
    """Run a scenario on a guest's kernel, in virtual time.

    `kernel` is the executable, `library` what its kernel loads. With `programs` those are started
    instead of the scenario's: group, side, words, descriptors of standard input, output and errors,
    ports that must be open before the next, and how long that may take, s.
    """

@final
class KeptAwake:
    """CPUs that do not sleep until `end`."""

    def __new__(cls) -> KeptAwake:
        """Keep idle CPUs from sleeping."""

    def end(self) -> None:
        """Let them sleep again."""

@final
class Emulation:
    """A running network with hosts: of each group two, in which programs are started."""

    def __new__(
        cls,
        scenario_json: str,
        control: Control | None = None,
        capture: CaptureConfig | None = None,
        gateway_json: str | None = None,
    ) -> Emulation:
        """Make the hosts, measure the idle path, start the relay and all flows of ours."""

    @staticmethod
    def between(scenario_json: str, between_json: str) -> Emulation:
        """Start a network with the first group's hosts behind interfaces of this machine."""

    def rebound(self) -> str:
        """Return what the NAT has replaced since this was last asked, as JSON."""

    def spawn(
        self,
        group: int,
        side: str,
        argv: list[str],
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        stdio: tuple[int, int, int] = (0, 1, 2),
        new_session: bool = False,
    ) -> Child:
        """Start a program in the `client` or `server` host of a group."""

    def wait_ready(self, group: int, ports: list[str], timeout_s: float) -> None:
        """Wait until ports like `tcp:80` are open at a group's server."""

    def change(self, change_json: str) -> None:
        """Change the path from now on."""

    def snapshot(self) -> str:
        """How links and flows are now, as JSON."""

    def addresses(self, group: int) -> str:
        """Addresses of a group's hosts, as JSON: lists by `client` and `server`."""

    def network(self, group: int, side: str) -> int:
        """The descriptor of the network of a group's host, which is open until `stop`."""

    def stop(self) -> Output:
        """End all programs, and what is measured: the result."""

@final
class Child:
    """A program in a host."""

    @property
    def pid(self) -> int:
        """Number of its process."""

    def poll(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None while it runs."""

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Wait until it has ended, or for so long; as `poll`."""

    def signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""

def analyze(path: str, options_json: str) -> tuple[str, dict[str, list[ArrowRecordBatch]]]:
    """Analyse a capture, `-` for standard input: its reading as JSON, tables as batches."""

def match_captures(
    before: str, after: str, options_json: str
) -> tuple[str, dict[str, list[ArrowRecordBatch]]]:
    """Match two captures of the same traffic: their reading as JSON, tables as batches."""

def datagrams(path: str, options_json: str) -> tuple[str, dict[str, list[ArrowRecordBatch]]]:
    """Flows of UDP, by the times and sizes of packets: the reading as JSON, tables as batches."""

def packet_log(path: str, max_rows: int) -> tuple[str, dict[str, list[ArrowRecordBatch]]]:
    """What happened to every packet at every link: the reading as JSON, tables as batches."""

def check_for_kernel(scenario_json: str) -> None:
    """Refuse a scenario that the kernel engine cannot run on any machine."""

def check_for_guest(scenario_json: str) -> str | None:
    """Refuse a scenario that no guest can run.

    Return the first algorithm that needs Accurate ECN, files left out.
    """

def machine() -> str:
    """What this machine can do for the kernel engine, as JSON: a list of facts."""

def native_compiler() -> str | None:
    """Name and version of the C compiler for a user's congestion control; None if there is none."""

def builtin_sources() -> dict[str, str]:
    """Text of the sources that the built-in algorithms were compiled from, by path."""

def congestion_controls() -> str:
    """Every built-in congestion control with its parameters and state series, as JSON."""

def queue_disciplines() -> str:
    """Every queue discipline with its facts and parameters, as JSON."""

def impairments() -> str:
    """Every impairment of links with its parameters, as JSON."""

def media() -> str:
    """Every medium of links but the wire with its parameters, as JSON."""

def schema() -> str:
    """What goes into a run and what it reports, as JSON: parameters of hosts, and every record."""

def tcp_kernels() -> str:
    """The switches of a simulated host's TCP, and the releases of Linux, as JSON."""

def applications() -> str:
    """Every application with its facts, parameters and presets, as JSON."""

def distributions() -> str:
    """Every distribution with its parameters, as JSON."""

def check_impairments(impairments: str) -> None:
    """Refuse impairments of a link, given as a JSON list, whose settings do not fit together.

    Raises
    ------
    EngineError
        They do not, or one is out of its range.
    """

def check_medium(link: str) -> None:
    """Refuse a link, given as JSON, whose medium does not fit its queue.

    Raises
    ------
    EngineError
        It does not, or one of its settings is out of its range.
    """

def check_traffic(traffic: str) -> None:
    """Refuse an application, given as JSON, whose settings do not fit together.

    Raises
    ------
    EngineError
        They do not, or one is out of its range.
    """

def distribution_mean_milli(distribution: str) -> int:
    """Mean of a distribution, given as JSON, in thousandths of its unit."""

def quic_algorithms() -> list[str]:
    """Names of the algorithms that QUIC stacks have of their own, by stack and version."""

def describe(name_or_path: str) -> str:
    """One congestion control, by name or by its source file, as JSON."""

@final
class ScratchDirectory:
    """A directory for compilers, removed with its `with` block or when the next is made."""

    def __enter__(self) -> Path: ...
    def __exit__(self, *exception: object) -> None: ...

def write_storm(name_or_path: str, directory: str) -> str:
    """Write the storm's sources and the headers to a directory; return how to build it, as JSON."""

def compile_for_kernel(name_or_path: str) -> None:
    """Compile a congestion control for the running kernel, without loading it."""

def verify(name_or_path: str) -> None:
    """Load a congestion control into the running kernel, so that its verifier checks it."""

def precompile(name_or_path: str) -> None:
    """Compile a congestion control's source for the simulator, without running it."""

def report_crashes(descriptor: int) -> None:
    """Report crashes of this process to a descriptor, in a frame.

    The run must be in this thread.
    """

def running_call() -> tuple[int, str, int, bool, int] | None:
    """Return the latest call into a congestion control in a process that reports crashes.

    Group, op, flow, whether it is under way, simulated ns.
    """

@final
class ConfinedResult:
    """The result of a confined command."""

    @property
    def returncode(self) -> int:
        """Its status; a signal's number, negative, if one ended it."""

    @property
    def stdout(self) -> bytes: ...
    @property
    def stderr(self) -> bytes: ...
    @property
    def stopped(self) -> str | None:
        """The bound at which it was ended, in words that follow its name."""

def run_compiler(
    words: list[str], arguments: list[str], directory: str, source: str
) -> ConfinedResult:
    """Run a compiler, by the words of its command, in a directory that it can write.

    It reads `source`, and the sources in its directory and below.
    """

def run_confined(
    program: str,
    arguments: list[str],
    *,
    source: str,
    environment: dict[str, str],
    time_limit_s: float,
    memory_bytes: int,
) -> ConfinedResult:
    """Run a program made of foreign code.

    It neither starts processes nor reaches the network; it reads its directory, `source` and the
    system's libraries, and writes nothing. `environment` is in addition to this process's. The
    directory is removed if this process dies meanwhile.
    """

def confine(
    read: list[str], write: list[str], *, trap: bool, parent: int | None = None
) -> list[str]:
    """Confine this process, which must have one thread, to running algorithms.

    It can read `read` and the system's libraries, and write `write`. A forbidden system call raises
    SIGSYS with `trap`, else it fails with EPERM. Once a run has loaded its algorithms, the
    process can no longer start threads; with `trap`, neither open files nor load code. It dies with
    the thread that forked it, and at once unless its parent is `parent`.

    Returns
    -------
    list
        Names of what this kernel lacks for it. Empty too if the user has turned confinement off.
    """

def die_with_parent(parent: int) -> None:
    """End this process with the thread that forked it; at once if its parent is not `parent`."""

def use_finished_builds() -> None:
    """Take files as they were compiled last in this process or its parent, without reading them."""

def sandbox_pieces() -> dict[str, str]:
    """Return the pieces of the sandbox, and what foreign code can do without each."""

def name_of_system_call(number: int) -> str | None:
    """Return the name of a system call, for a message; None for an unusual one."""

ENGINE_VERSION: Final[str]

MAX_ROWS: Final[int]
"""Largest number of rows of a run's time series."""
