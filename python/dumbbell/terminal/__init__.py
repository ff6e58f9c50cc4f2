"""What every command is made of: options, completion, and what it prints.

Names are loaded when they are first used: `dumbbell --help` needs few of them.
"""

from dumbbell.base.lazy_names import lazy_names

__getattr__ = lazy_names(__name__, __file__)
