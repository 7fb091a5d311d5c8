"""ObservationLayout: sections in their places, encoded and decoded, bounded, scaled, documented."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from poison_env import make
from poison_env.core.errors import UnknownNameError
from poison_env.core.layout import ObservationLayout, Section
from poison_env.games.poison import Poison
from tests.games import every_case, on_the_way
from tests.support import many_keys

LAYOUT = ObservationLayout(
    (
        Section(name="cards", shape=(2, 3), high=(1, 2, 3, 4, 5, 6), text="counts", along_seats=True),
        Section(name="round", shape=(1,), high=20, text="rounds"),
        Section(name="totals", shape=(3,), high=0, text="never anything"),
    )
)


def values(size: int) -> dict[str, npt.NDArray[np.int64]]:
    """Return sections whose numbers are all different, in an order that is not the layout's."""
    return {
        "round": np.arange(size)[:, None],
        "totals": 1_000 + np.arange(3 * size).reshape(size, 3),
        "cards": 10_000 + np.arange(6 * size).reshape(size, 2, 3),
    }


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65, 1000])
def test_decoding_is_the_inverse_of_encoding(size: int) -> None:
    given = values(size)
    observation = LAYOUT.encode(given)
    assert observation.shape == (size, 10)
    assert observation.dtype == np.int16
    for name, expected in given.items():
        np.testing.assert_array_equal(expected, LAYOUT.decode(observation, name))


def test_large_and_small_batches_are_encoded_alike() -> None:
    large = LAYOUT.encode(values(200))
    small = LAYOUT.encode({name: array[:5] for name, array in values(200).items()})
    np.testing.assert_array_equal(small, large[:5])


@pytest.mark.parametrize("size", [3, 300])
def test_sections_of_any_integer_type_and_memory_order_are_encoded(size: int) -> None:
    given = values(size)
    expected = LAYOUT.encode(given)
    mixed = {
        "cards": np.asfortranarray(given["cards"].astype(np.int32)),
        "round": given["round"].astype(np.int16)[:, 0],
        "totals": np.repeat(given["totals"], 2, axis=1)[:, ::2],
    }
    np.testing.assert_array_equal(expected, LAYOUT.encode(mixed))


@pytest.mark.parametrize("size", [3, 300])
def test_encoded_observations_share_no_memory_with_their_sections(size: int) -> None:
    given = {name: array.astype(np.int16) for name, array in values(size).items()}
    observation = LAYOUT.encode(given)
    assert not any(np.shares_memory(observation, array) for array in given.values())


def test_one_observation_is_decoded_without_a_batch() -> None:
    assert LAYOUT.decode(np.arange(10), "cards").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert LAYOUT.decode(np.arange(10), "round").tolist() == [6]


def test_observations_of_any_leading_shape_are_decoded() -> None:
    many = np.arange(4 * 5 * 10).reshape(4, 5, 10)
    assert LAYOUT.decode(many, "cards").shape == (4, 5, 2, 3)
    np.testing.assert_array_equal(LAYOUT.decode(many[2, 3], "cards"), LAYOUT.decode(many, "cards")[2, 3])


def test_sections_stand_one_behind_the_other() -> None:
    assert LAYOUT.slices == {"cards": slice(0, 6), "round": slice(6, 7), "totals": slice(7, 10)}
    assert LAYOUT.size == 10


def test_bounds_are_one_for_each_number() -> None:
    assert LAYOUT.high.tolist() == [1, 2, 3, 4, 5, 6, 20, 0, 0, 0]


def test_bounds_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        LAYOUT.high[0] = 3


def test_the_box_has_the_bounds() -> None:
    box = LAYOUT.box()
    assert (box.dtype, box.shape) == (np.dtype(np.int16), (10,))
    np.testing.assert_array_equal(LAYOUT.high, box.high)
    assert not box.low.any()
    assert not np.shares_memory(box.high, LAYOUT.high)


def test_the_scaled_box_is_the_unit_cube() -> None:
    box = LAYOUT.box(scaled=True)
    assert (box.dtype, box.shape) == (np.dtype(np.float32), (10,))
    assert (box.low.max(), box.high.min()) == (0.0, 1.0)


def test_scaling_divides_by_the_bounds() -> None:
    scaled = LAYOUT.scale(np.array([[1, 1, 3, 1, 5, 3, 5, 0, 0, 0]], np.int16))
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled, [[1, 0.5, 1, 0.25, 1, 0.5, 0.25, 0, 0, 0]])


def test_a_section_is_found_by_its_name() -> None:
    section = LAYOUT.section("cards")
    assert (section.shape, section.size, section.along_seats) == ((2, 3), 6, True)
    assert not LAYOUT.section("round").along_seats


def test_an_unknown_section_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="no section 'hands'; this layout has cards, round, totals"):
        LAYOUT.decode(np.arange(10), "hands")


@pytest.mark.parametrize("names", [["cards", "round"], ["cards", "round", "totals", "more"], []])
def test_encoding_needs_exactly_the_sections(names: list[str]) -> None:
    with pytest.raises(UnknownNameError, match="expected exactly the sections cards, round, totals"):
        LAYOUT.encode({name: np.zeros((1, 1)) for name in names})


def test_the_table_documents_every_section() -> None:
    lines = LAYOUT.table().splitlines()
    assert len(lines) == 2 + 3
    assert lines[2] == "| 0–5 | `cards` | 2 × 3 | 6 | counts |"
    assert lines[3] == "| 6–6 | `round` | 1 | 20 | rounds |"


def test_equal_layouts_are_equal() -> None:
    assert Poison().layout == Poison(num_rounds=1).layout
    assert Poison().layout != Poison(num_seats=5).layout
    assert Poison().layout != Poison(recall="none").layout


@every_case
def test_observations_lie_in_their_boxes(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = on_the_way(game, many_keys(20))
    box, full_box, scaled = game.layout.box(), game.full_layout.box(), game.layout.box(scaled=True)
    for observation in game.observe(state, state.to_move):
        assert box.contains(observation)
        assert scaled.contains(game.layout.scale(observation))
    for observation in game.observe_all(state):
        assert full_box.contains(observation)


def test_poison_has_the_documented_sections() -> None:
    assert {s.name: s.shape for s in Poison().layout.sections} == {
        "own_hand": (16,),
        "cauldrons": (3, 16),
        "cauldron_totals": (3,),
        "cauldron_colours": (3,),
        "taken": (4, 4),
        "hand_sizes": (4,),
        "match_points": (4,),
        "round": (1,),
        "unseen": (16,),
    }


def test_poison_without_recall_has_the_sizes_of_piles() -> None:
    layout = Poison(recall="none", num_seats=3).layout
    assert layout.section("pile_sizes").shape == (3,)
    with pytest.raises(UnknownNameError):
        layout.section("taken")


def test_sections_along_seats_say_so() -> None:
    along = {section.name for section in Poison().layout.sections if section.along_seats}
    assert along == {"taken", "hand_sizes", "match_points"}
