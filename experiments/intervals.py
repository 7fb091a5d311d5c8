"""Means and ratios of results with intervals by bootstrap over deals, and how many deals a comparison needs."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from poison_env.core.protocol import FloatArray

CONFIDENCE = 0.95
RESAMPLES = 2000
_BATCH = (
    1 << 17
)  # resampled deals of a row held at a time; it decides how random numbers are drawn, so it depends on D alone


@dataclass(frozen=True)
class Estimate:
    """A number measured on deals, with its interval. NaN where nothing was there to measure."""

    value: float
    low: float
    high: float
    deal_sd: float = math.nan  # standard deviation over deals of a mean; a ratio has none

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    def json(self) -> dict[str, float | None]:
        """Return it as JSON values; null for NaN."""
        return {name: None if math.isnan(number) else number for name, number in vars(self).items()}


def mean_estimates(
    samples: npt.ArrayLike, *, seed: int, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> list[Estimate]:
    """Estimate the mean of each row of samples (M, D) over its D deals. All rows are resampled alike.

    The intervals are percentile intervals of scipy's bootstrap; a row without spread has one of width 0.

    Raises:
        ValueError: fewer than two deals.
    """
    rows = np.atleast_2d(np.asarray(samples, dtype=np.float64))
    low, high = _bootstrap((rows,), _mean, seed, resamples, confidence)
    spread = rows.std(axis=1, ddof=1)
    return [Estimate(*map(float, numbers)) for numbers in zip(rows.mean(axis=1), low, high, spread, strict=True)]


def ratio_estimates(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """Estimate for each row the sum of numerators (M, D) over the sum of denominators (M, D), deals resampled as pairs.

    Raises:
        ValueError: fewer than two deals.
    """
    above, below = (np.atleast_2d(np.asarray(array, dtype=np.float64)) for array in (numerators, denominators))
    low, high = _bootstrap((above, below), _ratio, seed, resamples, confidence)
    return [Estimate(*map(float, numbers)) for numbers in zip(_ratio(above, below), low, high, strict=True)]


def deals_needed(difference: float, deal_sd: float, *, level: float = 0.05, power: float = 0.8) -> int:
    """Return how many deals it takes to show a true difference at a two-sided level with this power.

    Args:
        difference: of the means, in the unit of `deal_sd`.
        deal_sd: the standard deviation over deals, as an `Estimate` has it.

    Raises:
        ValueError: the difference is 0, or the standard deviation negative.
    """
    if not difference or deal_sd < 0:
        raise ValueError(
            f"expected a difference other than 0 and a standard deviation of 0 or more, got {difference} and {deal_sd}"
        )
    quantiles = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(power)
    return max(2, math.ceil((quantiles * deal_sd / difference) ** 2))


def _mean(samples: FloatArray, axis: int = -1) -> Any:
    return samples.mean(axis=axis)


def _ratio(numerators: FloatArray, denominators: FloatArray, axis: int = -1) -> Any:
    above, below = numerators.sum(axis=axis), denominators.sum(axis=axis)
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)


def _bootstrap(
    data: Sequence[FloatArray], statistic: Any, seed: int, resamples: int, confidence: float
) -> tuple[Any, Any]:
    if data[0].shape[1] < 2:
        raise ValueError(f"expected at least two deals to tell how much deals differ, got {data[0].shape[1]}")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", stats.DegenerateDataWarning
        )  # NaN says it: some resample had nothing to measure
        result = stats.bootstrap(
            data,
            statistic,
            paired=True,
            vectorized=True,
            axis=-1,
            method="percentile",
            n_resamples=resamples,
            confidence_level=confidence,
            batch=max(1, _BATCH // data[0].shape[1]),
            rng=np.random.default_rng(seed),
        )
    low, high = result.confidence_interval
    return low, high
