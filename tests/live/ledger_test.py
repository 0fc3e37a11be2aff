#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of the ledger: loads of five shapes, in rings of three sizes, and whether all is accounted for.

    ledger_test.py BUILD_DIR [NAME...]

For each CPU the file, the ledger and a counter that shares nothing with kfxt must agree; for
the threads of the load what the kernel says of each. See account.py for the equation. Needs
root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import functools
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from harness import KFXT, PATIENCE, equal, expect, helper, last_cpu, load, main, note, scaled, test, verify  # noqa: E402
from account import balance_against, every_switch_of, players, switch_count, told_as_in_file  # noqa: E402

RINGS = ('4K', '256K', '4M')
# For about a second each: what runs, and whether its threads tell of themselves (tests/live/tally.h).
LOADS = {
    'pingpong': ([helper('pingpong'), str(scaled(100_000)), str(last_cpu())], True),
    'forks': ([helper('storm'), 'quick', str(scaled(2000))], False),
    'timers': ([helper('load'), 'timers', '8', str(scaled(5000))], True),
    'messages': ([helper('load'), 'messages', '10', str(scaled(50_000))], True),
    'idle': (['sleep', '1'], False),
}


def account_of(tmp, name, ring):
    command, counted = LOADS[name]
    with switch_count(tmp) as times:
        p = subprocess.run([KFXT, 'record', '-m', ring, '-o', tmp + '/t.fxt', '--', *command],
                           capture_output=True, text=True, timeout=6 * PATIENCE)
    equal(p.returncode, 0, p.stderr)
    verify(tmp + '/t.fxt')
    t = load(tmp + '/t.fxt')
    lost = balance_against(t, times)
    told = told_as_in_file(t, p.stderr)
    equal(dict(t.sense()), {}, 'contradictions')
    equal(t.unnamed(), [], 'threads without a name')
    if not told.lost and counted:
        every_switch_of(t, players(p.stdout))
    if counted:
        all_ = sum(x.voluntary + x.involuntary for x in players(p.stdout))
        mine = sum(len(t.outs(x.tid, x.end)) for x in players(p.stdout))
        expect(mine <= all_ <= mine + lost, f'{all_} switches of the load, {mine} in the file, {lost} lost')
    note(f'{len(t.real())} switches, {lost} lost; {len(t.wakeups)} wakeups, {told.full[1]} lost')


for name in LOADS:
    for ring in RINGS:
        fn = functools.partial(account_of, name=name, ring=ring)
        fn.__name__ = f'{name} in {ring}'
        test(fn)


if __name__ == '__main__':
    sys.exit(main('ledger'))
