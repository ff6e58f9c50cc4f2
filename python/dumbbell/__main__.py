"""`python -m dumbbell` is `dumbbell`."""

from dumbbell.cli import main

main()
