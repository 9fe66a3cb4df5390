#!/usr/bin/env python3
"""Known cases of the statistics, the bars and the order of runs: python3 bench/lib/test_stats.py"""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lib import bars, measure, stats  # noqa: E402


class Interval(unittest.TestCase):
    def test_order_statistics(self):
        # Which of n samples end the interval, from the tables of the sign test.
        for n, first in ((6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (20, 6), (25, 8), (30, 10)):
            with self.subTest(n=n):
                samples = list(range(n, 0, -1))
                self.assertEqual(stats.interval(samples), (first, n + 1 - first))

    def test_few_samples(self):
        for n in range(1, 6):
            self.assertEqual(stats.interval(list(range(1, n + 1))), (1, n))

    def test_pairs(self):
        self.assertEqual(stats.paired({0: 2.0, 1: 9.0, 4: 6.0}, {0: 1.0, 2: 5.0, 4: 2.0}), [2.0, 3.0])
        self.assertEqual(stats.summary([3.0, 1.0, 2.0]), (2.0, 1.0, 3.0))
        self.assertIsNone(stats.summary([]))


class Bars(unittest.TestCase):
    def test_reaches(self):
        for kind, number, low, high, holds in (
                (bars.AT_MOST, 1.3, 1.3, 1.5, True), (bars.AT_MOST, 1.3, 1.31, 1.5, False),
                (bars.AT_LEAST, 0.85, 0.7, 0.85, True), (bars.AT_LEAST, 0.85, 0.7, 0.84, False),
                (bars.BELOW, 2048, 2048, 2048, False), (bars.BELOW, 2048, 2047, 3000, True)):
            self.assertEqual(bars.reaches(kind, number, low, high), holds)

    def case(self, *values, failures=(), **more):
        runs = [{"round": at, "value": value, "fields": {"before_kib": 1000, "full_kib": value}}
                for at, value in enumerate(values)]
        return {"runs": runs, "failures": list(failures), **more}

    def judge(self, bar, **cases):
        return bars.judge(bar, {"workloads": {"W2": {"cases": cases}}})

    def test_ratio(self):
        bar = bars.Bar("W2", "duplex", bars.AT_LEAST, 0.85, "plain")
        verdict = self.judge(bar, duplex=self.case(80, 180, 240), plain=self.case(100, 200, 300))
        self.assertEqual((verdict.measured, verdict.holds), ((0.8, 0.8, 0.9), True))
        self.assertIsNone(self.judge(bar, duplex=self.case(80)).holds)
        failed = self.case(100, failures=[{"round": 1, "why": "code 1"}])
        self.assertIs(self.judge(bar, duplex=failed, plain=self.case(100)).holds, False)

    def test_growth(self):
        bar = bars.Bar("W2", "duplex", bars.AT_MOST, 2, growth="time")
        falls_then_grows = {"1": self.case(80, 80), "10": self.case(2, 4), "100": self.case(5, 8)}
        self.assertEqual(self.judge(bar, **falls_then_grows).measured, (2.25, 2, 2.5))

    def test_memory(self):
        bar = bars.Bar("W2", "duplex", bars.BELOW, 256, growth="memory")
        cases = {"1": self.case(1001, x=1), "1024": self.case(1200, x=1024)}
        self.assertEqual(self.judge(bar, **cases).measured, (200, 200, 200))


class Rounds(unittest.TestCase):
    def test_fewer_rounds(self):
        for own, rounds in ((4, 15), (3, 15), (15, 15), (20, 15), (1, 5), (4, 3)):
            taken = [r for r in range(rounds) if measure.takes_part(own, rounds, r)]
            self.assertEqual(len(taken), min(own, rounds))
            self.assertEqual(taken[0], 0)

    def test_order(self):
        orders = [measure.order(["a", "b", "c"], r) for r in range(6)]
        for at in range(3):
            self.assertEqual({run[at] for run in orders}, {"a", "b", "c"})
        before = [run.index("a") < run.index("b") for run in orders]
        self.assertEqual(sum(before), 3)


if __name__ == "__main__":
    unittest.main()
