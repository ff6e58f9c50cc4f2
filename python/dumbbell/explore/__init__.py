"""The interactive page: a scenario whose fields are dragged, and what follows from them at once.

`controls.py` makes sliders and pickers of the scenario's declarations, `changes.py` applies what
they set, `pictures.py` runs the result and draws it, `server.py` answers the page, and `export.py`
writes a page that needs no server. `templates/` has the page.
"""

from dumbbell.explore.export import write_export
from dumbbell.explore.server import ExploreServer

__all__ = ["ExploreServer", "write_export"]
