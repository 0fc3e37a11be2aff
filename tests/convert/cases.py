# SPDX-License-Identifier: GPL-2.0
"""Tests that are functions of a temporary directory: what the scripts of this folder share."""
import collections
import sys
import tempfile

CASES = []


class Skipped(Exception):
    """Of a case: why it cannot run here."""


def case(fn):
    CASES.append(fn)
    return fn


def equal(got, expected, what=''):
    if got != expected:
        raise AssertionError(f'{what}: got {str(got)[:900]}, expected {str(expected)[:900]}')


def equal_multisets(got, expected, what):
    got, expected = collections.Counter(got), collections.Counter(expected)
    if got != expected:
        raise AssertionError(f'{what}: too many {list((got - expected).items())[:4]}, '
                             f'missing {list((expected - got).items())[:4]}')


def run(suite):
    """All cases, or those that the command line names after the build directory; prints TAP and totals: the exit code."""
    names, counts = sys.argv[2:], collections.Counter()
    for fn in (fn for fn in CASES if not names or fn.__name__ in names):
        with tempfile.TemporaryDirectory() as tmp:
            try:
                fn(tmp)
                result, why = 'passed', ''
            except Skipped as reason:
                result, why = 'skipped', f' # SKIP {reason}'
            except Exception as error:  # noqa: BLE001: one must not end the others
                result, why = 'failed', f'\n# {type(error).__name__}: {error}'
        counts[result] += 1
        print(f'{"not ok" if result == "failed" else "ok"} - {fn.__name__}{why}')
    print(f'{suite}: {counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped')
    return 1 if counts['failed'] else 0
