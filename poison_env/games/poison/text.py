"""Positions of Poison as text: tables for people, and positions set up from cards."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poison_env.core.errors import PositionError
from poison_env.games.poison.deck import CLASSES, COLOURS, LIMIT, POISON
from poison_env.games.poison.tables import CAULDRONS

if TYPE_CHECKING:  # the game imports this module
    from poison_env.core.protocol import IntArray
    from poison_env.games.poison.dealing import PoisonState
    from poison_env.games.poison.game import Poison


def colour_words(colours: "IntArray") -> str:
    """Return cauldron colours as words: `red, none, blue`."""
    return ", ".join("none" if colour == 0 else COLOURS[colour - 1] for colour in colours)


def cards(game: "Poison", counts: "IntArray") -> str:
    """Return cards as text, `R7 G4 G4`; `-` for none."""
    return " ".join(game.deck.label(kind) for kind, count in enumerate(counts) for _ in range(count)) or "-"


def table(game: "Poison", state: "PoisonState", row: int, seat: int | None) -> str:
    """Return a position as lines of text; with `seat`, only what that seat may see."""
    one = state[row]
    everything = game.full_layout
    view = game.observe_all(one)[0]
    hands, piles, totals = (everything.decode(view, name) for name in ("hands", "taken", "match_points"))
    played = int(one.round[0])
    lines = [
        f"{game.id}   " + (f"over after {played} rounds" if one.done[0] else f"round {played + 1} of {game.num_rounds}")
    ]
    contents, sums = everything.decode(view, "cauldrons"), everything.decode(view, "cauldron_totals")
    colours = game.cauldron_colours(one)[0]
    for index in range(CAULDRONS):
        colour = colour_words(colours[index : index + 1])
        lines.append(f"  cauldron {index + 1} {colour:>7} {sums[index]:>3} of {LIMIT}: {cards(game, contents[index])}")
    for player in range(game.num_seats):
        shown = seat is None or seat == player
        hand = cards(game, hands[player]) if shown else f"{int(hands[player].sum())} cards"
        if game.recall == "perfect" or seat is None:
            pile = (
                " ".join(f"{name} {count}" for name, count in zip(CLASSES, piles[player], strict=True) if count)
                or "nothing"
            )
        else:
            pile = f"{int(piles[player].sum())} cards"
        mark = ">" if not one.done[0] and int(one.to_move[0]) == player else " "
        lines.append(f"{mark} player_{player} {int(totals[player]):>4} points | took {pile} | hand {hand}")
    return "\n".join(lines)


def position(
    game: "Poison",
    hands: Sequence[str],
    cauldrons: Sequence[str],
    taken: Sequence[str],
    to_move: int,
    round_number: int,
    match_points: Sequence[int] | None,
    seed: int,
) -> "PoisonState":
    """Set up one match; see `Poison.position`."""
    seats, deck = game.num_seats, game.deck
    piles = list(taken) or [""] * seats
    totals = list(game.handicaps if match_points is None else match_points)
    if (len(hands), len(cauldrons), len(piles), len(totals)) != (seats, CAULDRONS, seats, seats):
        raise PositionError(f"expected {seats} hands, {CAULDRONS} cauldrons, {seats} piles and {seats} totals")
    if not 0 <= to_move < seats or not 0 <= round_number < game.num_rounds or min(totals) < 0:
        raise PositionError(
            f"expected a seat below {seats} to move, a round below {game.num_rounds}, and no total below 0"
        )
    held = np.array([deck.count(hand) for hand in hands])
    boiling = np.array([deck.count(content) for content in cauldrons])
    won = np.array([deck.count(pile) for pile in piles])
    excess = held.sum(axis=0) + boiling.sum(axis=0) + won.sum(axis=0) - deck.counts
    if (excess > 0).any():
        raise PositionError(f"more {deck.label(int(np.argmax(excess)))} than the deck has")
    left = int(held.sum())
    sizes = [int(held[(to_move + ahead) % seats].sum()) for ahead in range(seats)]
    if not 0 < left <= game.cards_dealt or sizes != [(left + seats - 1 - ahead) // seats for ahead in range(seats)]:
        raise PositionError(
            f"seats in turn hold {sizes} cards; expected equally many, or one more for the first ones, and one at least"
        )
    by_class = (deck.classes[:, None] == np.arange(len(CLASSES))).astype(np.int16)
    numbers = [game.content_number(content) for content in boiling]
    colours = [set(np.flatnonzero(content @ by_class)) - {CLASSES.index(POISON)} for content in boiling]
    if game.colour_rule == "fixed":
        if any(colour - {index} for index, colour in enumerate(colours)):
            raise PositionError("a cauldron holds a colour that is not its own")
    elif len(set.union(*colours)) < sum(map(len, colours)):
        raise PositionError("a colour is in several cauldrons")

    played = game.cards_dealt - left
    first = (to_move - played) % seats
    state = game.deal(np.array([seed], dtype=np.uint64))
    state.to_move[0] = to_move
    state.moves[0] = round_number * game.cards_dealt + played
    state.hands[0] = held
    state.cauldrons[0] = numbers
    state.taken[0] = won @ by_class
    state.unplayed[0] = deck.counts - boiling.sum(axis=0) - won.sum(axis=0)
    state.cards_left[0] = left
    state.round[0] = round_number
    state.dealer[0] = (first - 1 - round_number) % seats
    state.totals[0] = totals
    return state
