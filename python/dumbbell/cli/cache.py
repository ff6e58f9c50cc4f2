"""`dumbbell cache`: where runs are kept for reuse, how many, and what to remove."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from dumbbell.base.cache_place import CACHE_VARIABLE
from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.quantities.quantity import Size
from dumbbell.runs.age import parse_age
from dumbbell.runs.cache import Cache
from dumbbell.runs.inventory import Inventory, Removed, prune, take_inventory, verify
from dumbbell.terminal import options
from dumbbell.terminal.console import error, out, print_json, print_line
from dumbbell.terminal.lazy_command import CommandGroup, examples
from dumbbell.terminal.table import print_table

__all__ = ["cache_app"]

cache_app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="Show, prune and check the cache of runs.",
    invoke_without_command=True,
)


@cache_app.callback()
def cache_command(context: typer.Context, json: options.Json = False) -> int:
    """Show where runs are kept for reuse, and how many of which version."""
    if context.invoked_subcommand is not None:
        return 0
    cache = Cache()
    inventory = take_inventory(cache)
    if json:
        print_json(inventory.to_dict())
    else:
        print_inventory(inventory)
    return 0


@cache_app.command("prune", epilog=examples("dumbbell cache prune --older-than 30d"))
def prune_command(
    older_than: Annotated[
        str | None,
        typer.Option(metavar="30d|12h", help="Remove runs that were not used for this long."),
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option(metavar="5GB", help="Remove the least recently used until the rest fits."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove every run.")] = False,
) -> int:
    """Remove runs from the cache; what an earlier dumbbell left goes in any case."""
    if older_than is None and max_size is None and not everything:
        raise ScenarioError(
            "nothing to remove: use `--older-than 30d`, `--max-size 5GB`, or `--all` for every run"
        )
    limit = None if max_size is None else int(Size.parse(max_size, "max-size"))
    if (older_than is not None or limit is not None) and everything:
        raise ScenarioError("`--all` cannot be combined with other options")
    age_s = None if older_than is None else parse_age(older_than)
    removed = prune(Cache(), older_than_s=age_s, max_bytes=limit, everything=everything)
    print_removed(removed)
    return 0


@cache_app.command("verify", epilog=examples("dumbbell cache verify --remove"))
def verify_command(
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove what is damaged; it will run again.")
    ] = False,
) -> int:
    """Compare every file in the cache with its digest; exits with 1 if one is damaged."""
    cache = Cache()
    checked, damaged = verify(cache, remove=remove)
    for line in damaged:
        error(line)
    done = ", removed" if remove and damaged else ""
    out().print(f"{pluralize(checked, 'run')}, {len(damaged):,} damaged{done}", markup=False)
    return 1 if damaged and not remove else 0


def print_inventory(inventory: Inventory) -> None:
    """Print what is in the cache."""
    is_named = bool(os.environ.get(CACHE_VARIABLE))
    where = f"as ${CACHE_VARIABLE} says" if is_named else f"${CACHE_VARIABLE} names another"
    print_line(f"{inventory.place} ({where})")
    rows = [
        (version, build[:12], f"{kind.entries:,}", f"{kind.with_series:,}", size(kind.size_bytes))
        for (version, build), kind in sorted(inventory.kinds.items())
    ]
    if rows:
        columns = ("engine", "build", "runs", "with series", "size")
        print_table(columns, rows)
    out().print(
        f"{pluralize(inventory.entries, 'run')}, {size(inventory.size_bytes)}"
        + (f"; {inventory.left:,} unfinished or unreadable: any `dumbbell cache prune` removes them"
           if inventory.left else ""),
        markup=False,
    )  # fmt: skip


def print_removed(removed: Removed) -> None:
    """Print what is gone and what is left."""
    out().print(
        f"removed {pluralize(removed.entries, 'run')}, {size(removed.size_bytes)}; "
        f"{removed.left:,} left, {size(removed.left_bytes)}",
        markup=False,
    )


def size(size_bytes: int) -> str:
    """Write a size for a person."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes} B"
