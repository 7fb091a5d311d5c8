"""Arsenic keeps the contract of the games, and its environments theirs: the public suite finds nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pettingzoo.test import api_test

from poison_env import arsenic_v0
from poison_env.adapters.aec import MatchEnv
from poison_env.core import chance
from poison_env.games.arsenic import Arsenic, ArsenicState
from poison_env.testing import check_aec, check_game
from tests.arsenic_support import OPTION_SETS, box_of, move_of, referee_for

QUICK = ("alone", "two seats, specials", "by flavour")  # the others are slow
SETS = [
    pytest.param(options, id=name, marks=() if name in QUICK else pytest.mark.slow)
    for name, options in OPTION_SETS.items()
]


class Judge:
    """The referee as the suite asks for it; a match beside it tells what chance does."""

    def __init__(self, game: Arsenic, state: ArsenicState) -> None:
        self.game, self.state = game, state.copy()
        self.referee = referee_for(game, state)
        self.numbers = {move_of(game, number): number for number in range(game.num_actions)}
        self.moves = {number: move for move, number in self.numbers.items()}

    def to_move(self) -> int | None:
        return None if self.referee.phase == "over" else self.referee.to_move

    def legal(self) -> set[int]:
        return {self.numbers[move] for move in self.referee.legal_moves()}

    def step(self, action: int) -> Sequence[float]:
        self.game.step(self.state, np.array([action]))
        told: dict[str, Any] = {}
        if self.moves[action][0] == "shuffle":
            told["now_lie"] = box_of(self.state, 0)
        if self.moves[action][0] == "draw" and self.game.rule_draw == "flavour":
            told["picked"] = int(self.state.drawn[0])

        def last_draws() -> list[int]:
            return [slot for slot in self.game.last_draws(self.state)[0].tolist() if slot in self.referee.box]

        return [float(paid) for paid in self.referee.play(self.moves[action], last_draws=last_draws, **told)]


def scones(state: ArsenicState) -> npt.NDArray[np.int64]:
    """Count the scones of each sort in box and cups, (B, 30)."""
    in_box = (state.box.reshape(-1, 6, 7, 1) == np.arange(1, 6)).sum(axis=2).reshape(-1, 30)
    counts: npt.NDArray[np.int64] = in_box + state.cup_scones.sum(axis=1)
    return counts


@pytest.mark.parametrize("options", SETS)
def test_the_rules_keep_their_contract(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    report = check_game(game, referee=lambda state: Judge(game, state), conserved=scones)
    assert report.findings == (), str(report)


def redeal(env: MatchEnv, agent: str, seed: int) -> None:
    state = env._state
    assert state is not None
    seat = env.possible_agents.index(agent)
    env._state = env.game.resample(state, np.array([seat]), chance.fold(seed))


@pytest.mark.parametrize("options", SETS)
def test_the_environment_keeps_its_contract(options: dict[str, Any]) -> None:
    report = check_aec(lambda: arsenic_v0.env(**options), redeal=redeal, episodes=1, name="arsenic_v0.env")
    assert report.findings == (), str(report)


@pytest.mark.filterwarnings("ignore::UserWarning")  # the checker's remarks on the form of observations and masks
@pytest.mark.parametrize("options", [{}, {"num_seats": 1}, {"num_seats": 6, "draw": "flavour"}])
def test_pettingzoos_checker_passes(options: dict[str, Any]) -> None:
    api_test(arsenic_v0.raw_env(**options), num_cycles=300)
