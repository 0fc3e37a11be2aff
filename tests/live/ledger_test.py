#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of the ledger: loads of five shapes, in rings of three sizes, and whether all is accounted for;
and of kfxt estimate: whether the recording that follows is as large and as dear as it says.

    ledger_test.py BUILD_DIR [NAME...]

For each CPU the file, the ledger and a counter that shares nothing with kfxt must agree; for
the threads of the load what the kernel says of each. See account.py for the equation. Needs
root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import functools
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, SCALE, equal, expect, helper, last_cpu, load, main, note, run, scaled, start,  # noqa: E402
                     test, until, verify)
from account import (balance_against, every_switch_of, may_be_missing, players, switch_count,  # noqa: E402
                     told_as_in_file, unreported_switches)
from bpf_stats import bpf_stats_on, cpu_ns, empty_run_ns, programs_of  # noqa: E402
from paces import PACES, far, paced  # noqa: E402

RINGS = ('4K', '256K', '4M')
# For about a second each: what runs, and whether its threads print their counts (tests/live/programs/tally.h).
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
    expect(len(t.unnamed()) <= told.names, f'threads without a name: {t.unnamed()}, {told.names} lost')
    if not told.lost and counted:
        every_switch_of(t, players(p.stdout))
    if counted:
        all_ = sum(x.voluntary + x.involuntary for x in players(p.stdout))
        mine = sum(len(t.outs(x.tid, x.end)) for x in players(p.stdout))
        hidden = may_be_missing(unreported_switches(t))
        expect(mine <= all_ <= mine + lost + hidden, f'{all_} switches of the load, {mine} in the file, {lost} lost')
    note(f'{len(t.real())} switches, {lost} lost; {len(t.wakeups)} wakeups, {told.full[1]} lost')


for name in LOADS:
    for ring in RINGS:
        fn = functools.partial(account_of, name=name, ring=ring)
        fn.__name__ = f'{name} in {ring}'
        test(fn)


# ---- kfxt estimate -----------------------------------------------------------------------------

ROUNDS = 8          # at most, until the machine has been as busy with an estimate as with a recording
RECORDER = '% of a CPU in the recorder'


def look_at(p, trace):
    return time.monotonic(), os.path.getsize(trace), cpu_ns(p.pid), *programs_of(p.pid)


def recorded(tmp, options, empty_ns, is_asked=True):
    """
    What a recording takes in a second, as Linux counts it once all that was there before has a name. Compression
    is most of what a recorder takes: of one that is not @is_asked for that says nothing.
    """
    trace, stats = tmp + '/t.fxt', tmp + '/stats.json'
    p = start(trace, '-q', '--stats', 'json', '--stats-file', stats, *options)
    is_packed = any(o.startswith('-z') for o in options)
    time.sleep(0.8)
    before = look_at(p, trace)
    time.sleep(2)
    seconds, size, cpu, runs, ns, call_ns = (b - a for a, b in zip(before, look_at(p, trace)))
    p.terminate()
    equal(p.wait(), 0, p.stderr.read())
    with open(stats) as f:
        counts = json.load(f)
    os.unlink(trace)
    os.unlink(stats)
    return {**{name: counts['total'][name]['records'] / counts['duration_ns'] * 1e9
               for name in ('switches', 'wakeups', 'events')},
            'compressed' if is_packed else 'bytes': size / seconds,
            '% of a CPU in the kernel': (ns + call_ns - runs * empty_ns) / seconds / 1e7,
            **({RECORDER: cpu / seconds / 1e7} if is_asked else {})}


def of_estimate(tmp, options):
    r = run('estimate', '--json', *options, '-o', tmp + '/none.fxt')
    equal(r.returncode, 0, f'exit code of kfxt estimate: {r.stderr.decode()}')
    equal(os.listdir(tmp), [], 'files')
    e = json.loads(r.stdout)
    cost, rates = e['cost'], {s['name']: s['recorded_per_s'] for s in e['sources']}
    equal(cost['measured'], True, 'measured')
    equal(cost['output_in_total'], any(o.startswith('-z') for o in options), 'whether compression is part of it')
    equal([round(k['bytes'] / k['seconds'] / e['output_bytes_per_s'], 1) for k in e['keep']], [1] * 3, 'keep')
    return {'switches': rates['switches'], 'wakeups': rates['wakeups'],
            'events': rates.get('syscalls', 0) + rates.get('irq', 0), 'bytes': e['raw_bytes_per_s'],
            'compressed': e['output_bytes_per_s'], '% of a CPU in the kernel': cost['kernel_percent'],
            RECORDER: cost['total_percent'] - cost['kernel_percent']}


def estimate_of(tmp, name):
    """
    Between recordings, of which the second ones say whether the load is still the same. What else the machine does
    makes both dearer, and for a while only one of them: then there are more of both.
    """
    with bpf_stats_on(), paced(name) as path:
        options = ['--cgroup', path, *PACES[name][3]]
        # A recording's bytes are plain or compressed: every other one has the others.
        plain = [o for o in options if not o.startswith('-z')]
        other = [*plain, '-zzstd'] if plain == options else plain
        empty_ns = empty_run_ns()
        recordings, estimates, bad = [recorded(tmp, options, empty_ns)], [], True
        while bad and len(estimates) < ROUNDS:
            estimates.append(of_estimate(tmp, options))
            is_asked = len(estimates) % 2 == 0
            recordings.append(recorded(tmp, options if is_asked else other, empty_ns, is_asked))
            bad = far(estimates, recordings)
    for what in estimates[0]:
        note(f'{what}: {[f"{r[what]:.4g}" for r in recordings if what in r]}, estimated {[f"{e[what]:.4g}" for e in estimates]}')
    equal(bad, [], 'far from what the recordings take')


for name in PACES:
    fn = functools.partial(estimate_of, name=name)
    fn.__name__ = f'estimate of {name}'
    test(fn)


def has_lines(text, *patterns):
    for pattern in patterns:
        expect(re.search(f'^{pattern}$', text, re.M), f'no line {pattern!r} in:\n{text}')


@test
def estimate_makes_no_files(tmp):
    """Nor a process to make them, where the recording would."""
    before = set(os.listdir('/dev'))
    r = run('estimate', '-q', '-d', '0.2', '--rotate', '1s', '--max-files', '1', '-o', tmp + '/%Y%m%dT%H%M%SZ.fxt')
    equal((r.returncode, r.stderr), (0, b''), 'kfxt estimate')
    equal(os.listdir(tmp), [], 'files')
    equal([name for name in set(os.listdir('/dev')) - before if name.startswith('null')], [], 'files beside the output')


@test
def estimate_in_words(tmp):
    number, size = r' +[\d.]+', r'[\d.]+ \w+'
    r = run('estimate', '-d', '0.5', '--keep', '30s,256M', '--trigger', 'offcpu>1ms', '--trigger', 'runq>1h', '--', 'sleep', '60')
    equal(r.returncode, 0, r.stderr.decode())
    has_lines(r.stdout.decode(), f'switches{number * 4}', f'wakeups{number * 4}',
              f'trace    {size}/s as FXT, {size}/s with zstd:\\d',
              r'cost     [\d.]+ % of one CPU: kernel [\d.]+, recorder [\d.]+, output [\d.]+',
              f'memory   {size} in rings and maps', r'keep     256.0 MiB: .*', f'keep     30 s: {size}',
              r'trigger  offcpu>1ms: [1-9]\d* times', 'trigger  runq>1h: 0 times')
    r = run('estimate', '-d', '0.5', '-o', tmp + '/t.pftrace', '-z3')
    equal(r.returncode, 0, r.stderr.decode())
    has_lines(r.stdout.decode(), f'trace    {size}/s as FXT, {size}/s with gzip:3',
              r'cost     [\d.]+ % of one CPU: kernel [\d.]+, recorder [\d.]+, output [\d.]+', 'keep     64.0 MiB: .*',
              'keep     1.0 GiB: .*')
    r = run('estimate', '-d', '0.5', '-o', tmp + '/t.pftrace')
    has_lines(r.stdout.decode(), f'trace    {size}/s as FXT, {size}/s as it is written')
    equal(os.listdir(tmp), [], 'files')
    # It may be kept from ending at once.
    r = until(lambda: (r := run('estimate', '--', 'true')).returncode and r, 'a command that ends at once is counted')
    equal((r.returncode, r.stdout), (1, b''), 'of a command that ends at once')
    expect(b'kfxt: estimate: ended after less than 1.2 s: nothing was counted\n' in r.stderr, r.stderr)


@test
def estimate_of_triggers(tmp):
    """Of the time that all else is counted in, which is not the first second."""
    os.symlink('/bin/sh', tmp + '/kfxt-brief')
    children = 'while [ $i -lt {} ]; do (:); i=$((i + 1)); done'
    work = f'i=0; {children.format(20)}; sleep {2 / SCALE}; {children.format(23)}; sleep 60'
    r = run('estimate', '--json', '-d', str(2.5 / SCALE), '--keep', '30s', '--trigger', 'exit:comm=kfxt-brief', '--',
            tmp + '/kfxt-brief', '-c', work)
    equal(r.returncode, 0, r.stderr.decode())
    equal([t['times'] for t in json.loads(r.stdout)['triggers']], [3], 'how often it was true')


@test
def estimate_without_statistics(tmp):
    """CAP_BPF and CAP_PERFMON are enough to record, but not for statistics of programs."""
    p = subprocess.run(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups',
                        '--inh-caps', '+bpf,+perfmon', '--ambient-caps', '+bpf,+perfmon',
                        KFXT, 'estimate', '-d', '0.5', '-e', '!log', '-e', '!marker', '--json', '-o', '/tmp/t.fxt'],
                       capture_output=True, text=True)
    equal(p.returncode, 0, p.stderr)
    expect('statistics of BPF programs: Operation not permitted (CAP_SYS_ADMIN is needed)' in p.stderr, p.stderr)
    e = json.loads(p.stdout)
    equal(e['cost']['measured'], False, 'measured')
    for s in e['sources']:
        if s['name'] == 'switches':
            wanted = s['events_per_s'] * 33e-9 * 100
            expect(abs(s['cpu_percent'] - wanted) < 0.01, f'cost of a switch: {s}, wanted {wanted}')


if __name__ == '__main__':
    sys.exit(main('ledger'))
