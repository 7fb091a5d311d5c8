"""Card games with hidden information for three to six seats: rules, environments, reference opponents.

Loads numpy, gymnasium and pettingzoo, nothing else.
"""

from poison_env.adapters.registration import register_with_gymnasium, register_with_pettingzoo
from poison_env.core.errors import PoisonEnvError
from poison_env.play import MatchRecord, play
from poison_env.registry import make

__version__ = "0.1.0"
__all__ = ["MatchRecord", "PoisonEnvError", "__version__", "make", "play"]

register_with_pettingzoo()
register_with_gymnasium()
