"""Results in other formats."""

from dumbbell.export.csv_files import export_csv
from dumbbell.export.latex import export_latex
from dumbbell.export.qlog import export_qlog

__all__ = ["export_csv", "export_latex", "export_qlog"]
