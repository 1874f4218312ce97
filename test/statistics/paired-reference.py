"""Writes paired-reference.json: 200 random paired tables, 60 sets of paired scores, 50 families of p-values and 60 sets of differences
whose signs are flipped, with what SciPy and statsmodels say of them. `pip install scipy statsmodels`, then `python paired-reference.py`."""
import json
import pathlib

import numpy
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

chance = numpy.random.default_rng(20260101)


def newcombe(a, b, c, d):
    """Method 10 of Newcombe (1998), out of statsmodels' Wilson intervals; second share less first share."""
    n = a + b + c + d
    first, second = (a + b) / n, (a + c) / n
    l1, u1 = proportion_confint(a + b, n, method="wilson")
    l2, u2 = proportion_confint(a + c, n, method="wilson")
    product = a * d - b * c
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    phi = 0 if margins == 0 else (max(product - n / 2, 0) if product > 0 else product) / margins**0.5
    down, up, left, right = second - l2, u2 - second, first - l1, u1 - first
    low = (second - first) - max(0, down**2 - 2 * phi * down * right + right**2) ** 0.5
    high = (second - first) + max(0, up**2 - 2 * phi * up * left + left**2) ** 0.5
    return [max(-1, low), min(1, high)]


def table():
    n = int(chance.integers(1, 400))
    a, b, c, d = (int(x) for x in chance.multinomial(n, chance.dirichlet([1.5, 0.5, 0.5, 1])))
    exact = mcnemar([[a, b], [c, d]], exact=True).pvalue
    # Twice the one-sided mid-p of the rarer direction.
    coin = stats.binom(b + c, 0.5)
    mid = min(1, 2 * (coin.cdf(min(b, c)) - coin.pmf(min(b, c)) / 2))
    return {"cells": [a, b, c, d], "exact": float(exact), "midP": float(mid), "newcombe": newcombe(a, b, c, d)}


def scores():
    n = int(chance.integers(20, 120))
    first = chance.beta(4, 2, n)
    second = numpy.clip(first + chance.normal(chance.normal(0, 0.05), 0.15, n) - chance.exponential(0.05, n), 0, 1)
    first, second = first.round(4), second.round(4)
    test = stats.ttest_rel(second, first)
    t = test.confidence_interval(0.95)
    return {
        "first": first.tolist(),
        "second": second.tolist(),
        "p": float(test.pvalue),
        "t": [float(t.low), float(t.high)],
    }


def family():
    p = (chance.random(int(chance.integers(1, 12))) ** 3).round(6)
    return {"p": p.tolist(), "holm": multipletests(p, method="holm")[1].tolist()}


def flips(n, resamples):
    """Shares of 1 to 5 runs, half of them without a difference, or scores. SciPy visits all choices of signs where `resamples` allows it."""
    runs = int(chance.integers(1, 7))
    if runs < 6:
        differences = chance.integers(-runs, runs + 1, n) / runs * (chance.random(n) < 0.5)
    else:
        differences = (chance.standard_t(3, n) / 10 + 0.02).clip(-1, 1).round(4)
    test = stats.permutation_test(
        (differences, numpy.zeros(n)),
        lambda one, other, axis: numpy.mean(one - other, axis=axis),
        permutation_type="samples",
        n_resamples=resamples,
        vectorized=True,
        rng=numpy.random.default_rng(7),
    )
    return {"differences": differences.tolist(), "p": float(test.pvalue)}


pathlib.Path(__file__).with_suffix(".json").write_text(
    json.dumps(
        {
            "tables": [table() for _ in range(200)],
            "scores": [scores() for _ in range(60)],
            "families": [family() for _ in range(50)],
            "flips": [flips(int(chance.integers(2, 13)), numpy.inf) for _ in range(40)] + [flips(100, 99_999) for _ in range(20)],
        }
    )
    + "\n"
)
