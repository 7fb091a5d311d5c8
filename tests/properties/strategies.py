"""Games of Poison for Hypothesis: any options, seeds of 64 bits."""

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from poison_env.games.poison import Poison

properties = settings(deadline=None, derandomize=True, max_examples=60)
DECKS = ["published", "box58", "R1x2 R3 R5 B2x2 B4 B6", "R2x9", "R1x4 B1x4 P1x4 G1x4", "R7x3 P6x5 G2x4 G13"]


@st.composite
def games(draw: Callable[[Any], Any]) -> Poison:
    seats = draw(st.integers(2, 8))
    return Poison(
        num_seats=seats,
        deck=draw(st.sampled_from(DECKS)),
        deal=draw(st.sampled_from([None, "hands4", "equal", "all"])),
        colour_rule=draw(st.sampled_from(["exclusive", "fixed"])),
        num_rounds=draw(st.integers(1, 3)),
        first_dealer=draw(st.none() | st.integers(0, seats - 1)),
        recall=draw(st.sampled_from(["perfect", "none"])),
        handicaps=draw(st.none() | st.lists(st.integers(0, 9), min_size=seats, max_size=seats)),
        reward=draw(st.sampled_from(["points", "relative", "win"])),
    )


seeds_64 = st.integers(0, 2**64 - 1)
