"""Prints a digest of every table of a run of each built-in congestion control.

`clean_root.sh` compares what a wheel prints with what the checkout prints.
"""

import hashlib
import io

import pyarrow as pa

import dumbbell


def digest(table: pa.Table) -> str:
    """Return the SHA-256 of a table, as the Arrow IPC format writes it."""
    written = io.BytesIO()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return hashlib.sha256(written.getvalue()).hexdigest()


def main() -> None:
    """Run each against CUBIC with random loss."""
    for name in dumbbell.congestion_controls():
        run = dumbbell.run(
            dumbbell.Scenario([name, "cubic"], buffer="1bdp", time="10s", loss="0.1%", seed=7)
        )
        for table, rows in run.tables.items():
            print(name, table, rows.num_rows, digest(rows))


if __name__ == "__main__":
    main()
