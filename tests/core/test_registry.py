"""Games by name."""

import pytest

import poison_env
from poison_env import make
from poison_env.core import errors
from poison_env.core.errors import OptionError, PoisonEnvError, UnknownNameError
from poison_env.games.poison import Poison
from poison_env.registry import GAMES


def test_a_game_is_made_by_its_name() -> None:
    assert make("poison-v0") == Poison()
    assert make("poison-v0", num_seats=3, recall="none") == Poison(num_seats=3, recall="none")


@pytest.mark.parametrize("name", GAMES)
def test_a_made_game_says_its_name(name: str) -> None:
    assert make(name).id == name


def test_an_unknown_game_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match=r"no game 'chess-v0'; the games are .*poison-v0"):
        make("chess-v0")


@pytest.mark.parametrize("name", ["poison-v1", "poison"])
def test_an_unknown_version_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"no game '{name}'; there is poison-v0$"):
        make(name)


def test_bad_options_are_refused_as_by_the_game() -> None:
    with pytest.raises(OptionError, match="num_seats"):
        make("poison-v0", num_seats=1)


@pytest.mark.parametrize("name", GAMES)
def test_an_option_that_the_game_lacks_is_refused_with_those_it_has(name: str) -> None:
    with pytest.raises(OptionError, match=f"^options: {name} has no option 'colours'; it has num_seats, .*reward"):
        make(name, colours=3)


def test_every_error_is_one_of_the_kits() -> None:
    found = [error for error in vars(errors).values() if isinstance(error, type)]
    assert len(found) > 8
    assert all(issubclass(error, PoisonEnvError) for error in found)


def test_the_package_hands_out_its_names() -> None:
    assert all(hasattr(poison_env, name) for name in poison_env.__all__)
