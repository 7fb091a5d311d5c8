"""A conformance suite for environments of card and board games, ours or anyone's.

`check_aec` takes PettingZoo's agent environment cycle, `check_vector` Gymnasium's vector environments, `check_game` the
batched games of this package. Each returns a `Report`: `ok`, and `findings` that say what, where and how to see it
again. Knowledge of the game is given by hooks. On the command line: `python -m poison_env.testing package.module:env`;
in pytest: `-p poison_env.testing.plugin`.
"""

from poison_env.testing.aec import check_aec
from poison_env.testing.game import check_game
from poison_env.testing.report import Finding, Report
from poison_env.testing.vector import check_vector

__all__ = ["Finding", "Report", "check_aec", "check_game", "check_vector"]
