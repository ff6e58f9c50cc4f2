"""What `dumbbell --help` says of the studies' commands: their entry point `dumbbell.commands`."""

from dumbbell.terminal import InstalledCommand

__all__ = ["COMMANDS"]

COMMANDS = {
    name: InstalledCommand(help_line, "dumbbell_studies.cli", after)
    for name, after, help_line in (
        (
            "reproduce", "export",
            "Repeat the papers' experiments: tables, figures, and the findings one by one.",
        ),
        (
            "search", "reproduce",
            "Search for the scenario in which an algorithm does worst; make it small.",
        ),
        (
            "tune", "search",
            "Search for the parameters with which an algorithm does best.",
        ),
        (
            "ablate", "tune",
            "Measure an algorithm with each parameter off or at its ends, in one table.",
        ),
        (
            "score", "gate",
            "Score algorithms on a board: how far from the ideal one each is, and where.",
        ),
    )
}  # fmt: skip
