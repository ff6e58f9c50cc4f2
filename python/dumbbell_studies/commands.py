"""What `dumbbell --help` says of the studies' commands: their entry point `dumbbell.commands`."""

from dumbbell.terminal import InstalledCommand

__all__ = ["COMMANDS"]

COMMANDS = {
    name: InstalledCommand(help_line, "dumbbell_studies.cli", after)
    for name, after, help_line in (
        (
            "reproduce", "analyze",
            "Repeat papers' experiments, and check their findings.",
        ),
        (
            "score", "model",
            "Score algorithms: how far each is from the ideal one, and where.",
        ),
        (
            "search", "score",
            "Search for the scenario in which an algorithm does worst.",
        ),
        (
            "conform", "search",
            "Test whether an implementation behaves as its reference does.",
        ),
        (
            "tune", "conform",
            "Search for the parameters with which an algorithm does best.",
        ),
        (
            "tune ablate", "tune",
            "Measure an algorithm with each parameter off or at its ends.",
        ),
    )
}  # fmt: skip
