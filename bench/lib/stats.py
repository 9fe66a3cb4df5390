"""Medians, and how far to trust them: no assumption is made about how the noise is distributed."""

from math import comb
from statistics import median


def interval(samples, confidence=0.95):
    """The interval that holds the true median, from the order statistics of the samples.

    Each sample lies below the true median with probability 1/2, so the number of those that do is
    binomial. Fewer than six samples cannot give 95 %; then it is all that was seen.
    """
    ordered = sorted(samples)
    n = len(ordered)
    cut, tail = 0, 0.0
    while cut < n // 2:
        tail += comb(n, cut) / 2**n
        if tail > (1 - confidence) / 2:
            break
        cut += 1
    cut = max(cut, 1)
    return ordered[cut - 1], ordered[n - cut]


def paired(ours, other):
    """The ratios ours/other of the rounds that have both; each argument maps a round to a value."""
    return [ours[r] / other[r] for r in sorted(ours.keys() & other.keys())]


def summary(samples):
    """(median, low, high), or None without a sample."""
    if not samples:
        return None
    return (median(samples), *interval(samples))
