#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of stack samples, against the switches of the same trace and against programs whose stacks are known.

    stack_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import bisect
import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from account import may_be_missing, unreported_switches  # noqa: E402
from harness import (KFXT, PATIENCE, Skip, cgroup, equal, expect, helper, last_cpu, load, main, note, readable, record, run,  # noqa: E402
                     running, scaled, start, stat_of, stop_while, test, until, verify)
import fxtread  # noqa: E402, where trace.py found it
import fxtsamples  # noqa: E402

MS = 1_000_000
AWAKE = ('R', 'R+', 'X', 'Z')
LOST = ('lost', 'unsampled', 'write_failed')


def read_samples(path):
    """All samples; of the BLOBs of others a packet may be in several."""
    found = fxtsamples.Samples()
    for rec in fxtread.read(path):
        if rec['type'] == 'blob' and rec['blob_type'] == 3:
            try:
                found.feed(rec['payload'])
            except fxtsamples.Damage:
                pass
    equal(found.problems, [], 'problems of samples')
    return found.samples


def ledger(t, what):
    return t.ledger_sum(f'{what}_samples' if what else 'samples')


def not_taken(t):
    """At most so many of a thread's sleeps: those of which the kernel does not report the end are among them."""
    return ledger(t, 'lost') + ledger(t, 'unsampled') + may_be_missing(unreported_switches(t))


def balance(t):
    """On each CPU what was seen is what was taken, idle, filtered or lost."""
    for cpu, counts in t.ledger.items():
        if cpu is None:
            continue
        fates = [counts.get(f'{fate}_samples', 0) for fate in ('drained', 'idle', 'filtered', 'lost')]
        equal(sum(fates), counts['seen_samples'], f'samples of CPU {cpu}: {counts}')
        equal(counts.get('unaccounted_samples', 0), 0, f'samples of CPU {cpu} without a fate')


def load_all(trace):
    """A trace and its samples, which the ledger must have counted and verify finds nothing wrong with."""
    verify(trace)
    t, samples = load(trace), read_samples(trace)
    balance(t)
    equal(len(samples), ledger(t, ''), 'samples, ledger against file')
    return t, samples


def of(samples, source):
    return [s for s in samples if s.source == source]


def split_sleeps(t, least):
    """
    (thread, from, length) of each sleep: from a switch-out that sleeps to the switch-in that is the next record of it.
    And {thread: from} of those that had no switch-in when the trace ended.
    """
    found, asleep = [], {}
    for s in t.switches:
        asleep_since = asleep.pop(s.into, None)
        if asleep_since is not None and not s.mark and s.ts - asleep_since >= least:
            found.append((s.into, asleep_since, s.ts - asleep_since))
        asleep.pop(s.out, None)
        if s.out and s.state not in AWAKE and not s.mark:
            asleep[s.out] = s.ts
    return found, asleep


def sleeps(t, least):
    return split_sleeps(t, least)[0]


def in_sleeps(t, samples):
    """Samples of sleeps that ended."""
    stop = max(s.end for s in t.still.values())
    return [s for s in of(samples, 'off-cpu') if s.ts + s.weight != stop]


def lines(out):
    """{what: (tid, count, ns)} of the program."""
    return {what: (int(tid), int(count), int(ns)) for what, tid, count, ns in map(str.split, out.splitlines())}


def names(sample):
    return [f.name for f in sample.frames]


def in_rounds(samples, thread, function):
    """Of a thread of the program, from the first in @function to the last: it sleeps elsewhere at both ends."""
    mine = sorted((s for s in samples if s.thread == thread[0]), key=lambda s: s.ts)
    inside = [i for i, s in enumerate(mine) if function in names(s)]
    return mine[inside[0]:inside[-1] + 1] if inside else []


def expect_long_sleeps(t, thread, mine):
    """Of in_rounds(). Who is late to fall asleep, or is woken before, as on a busy machine, sleeps too briefly."""
    tid, count, _ = thread
    expect(len(mine) >= count / 10, f'{len(mine)} samples of {count} sleeps')
    long = sum(koid == tid and mine[0].ts <= ts <= mine[-1].ts for koid, ts, _ in sleeps(t, MS))
    expect(len(mine) <= long <= len(mine) + not_taken(t),
           f'{len(mine)} samples of {long} long ones of {count} sleeps: {t.ledger}')


def is_whole(chain):
    """Functions of libraries have names only where their debug files are: what begins a thread need not."""
    return chain[0] != '[cut]'


def record_sleepers(tmp, *options, rounds=scaled(200)):
    out = record(tmp + '/t.fxt', *options, '--', helper('stacks'), 'sleep', str(rounds))
    return (*load_all(tmp + '/t.fxt'), lines(out))


@test
def threads_that_begin_at_the_end(tmp):
    """Those that begin after the last switch is recorded have not slept throughout."""
    with running(helper('load'), 'births', '100000'):
        for _ in range(scaled(20)):
            record(tmp + '/t.fxt', '--off-cpu', '-d', '100ms')
            load_all(tmp + '/t.fxt')


@test
def every_long_sleep(tmp):
    """Of all threads of the machine: as the switches have them to the nanosecond, none missing, none too short."""
    t, samples, threads = record_sleepers(tmp, '--off-cpu')
    expected = collections.Counter(sleeps(t, MS))
    found = collections.Counter((s.thread, s.ts, s.weight) for s in in_sleeps(t, samples))
    equal(sorted((found - expected).elements()), [], 'samples that are no sleep of the switches')
    missing = sum((expected - found).values())
    expect(missing <= not_taken(t), f'{missing} sleeps without a sample, '
           f'{sorted((expected - found).elements())[:5]}; in the ledger: {t.ledger}')
    for what in ('wait_poll', 'nap', 'wait_cond'):
        mine, ns = in_rounds(in_sleeps(t, samples), threads[what], what), threads[what][2]
        expect_long_sleeps(t, threads[what], mine)
        slept = sum(s.weight for s in mine)
        expect(slept <= ns, f'{what}: {slept} ns in samples, {ns} by its own clock')
    short = ledger(t, 'short')
    expect(short > 0, 'no sleep was too short')
    note(f'{sum(found.values())} sleeps of {len({s.thread for s in samples})} threads, {missing} not taken, {short} too short')


@test
def asleep_at_the_stop(tmp):
    """Who sleeps then has a sample up to the stop; who has slept all the time is said to have."""
    begin = """for i in $(seq 20); do
        sleep 1000 >/dev/null 2>&1 & echo $!
        until read -r _ comm state _ </proc/$!/stat && [ "$comm$state" = "(sleep)S" ]; do sleep 0.01; done
    done; sleep 0.1"""
    before = set(map(int, subprocess.run(['sh', '-c', begin], capture_output=True, check=True).stdout.split()))
    during = set()
    try:
        during = set(map(int, record(tmp + '/t.fxt', '--off-cpu', '--', 'sh', '-c', begin).split()))
        t, samples = load_all(tmp + '/t.fxt')
    finally:
        for pid in before | during:
            os.kill(pid, signal.SIGKILL)
    stop = max(s.end for s in t.still.values())
    open_ = [s for s in of(samples, 'off-cpu') if s.ts + s.weight == stop]
    found = {s.thread: s for s in open_}
    equal(len(found), len(open_), 'one sample each')
    still = {koid for koid, s in t.still.items() if not s.woken and s.state not in AWAKE}
    begun = {koid: since for koid, since in split_sleeps(t, MS)[1].items() if stop - since >= MS}
    equal(before - still, set(), 'those that have slept all the time')
    # Of a switch that the kernel did not report nobody knows that a thread fell asleep in it.
    asleep = during & begun.keys()
    expect(len(during - asleep) <= t.ledger_sum('unreported_switches') and asleep, f'only {asleep} of {during}: {t.ledger}')
    equal({koid for koid, s in found.items() if names(s)[0] == '[asleep throughout]'} - still, set(), 'slept throughout, but ran')
    equal({koid: s.ts for koid, s in found.items() if koid not in still}.items() - begun.items(), set(), 'no such sleep')
    # One that is woken between the stop and when the recorder looks is asleep no more, but nobody wakes ours.
    equal((before | asleep) - found.keys(), set(), 'asleep without a sample')
    missing = (still | begun.keys()) - found.keys()
    expect(len(missing) <= len(found), f'{len(missing)} of {len(still)} and {len(begun)} without a sample: {missing}')
    for koid in before | asleep:
        expect('hrtimer_nanosleep' in names(found[koid]), f'{names(found[koid])}')


@test
def without_its_tracepoint(tmp):
    """As before 6.15: by a kprobe or, where there are none, in the switch, with kernel frames only, and it says so."""
    r = subprocess.run([helper('fallback'), 'record', '-v', '--strict', '-o', tmp + '/t.fxt', '--off-cpu', '--', helper('stacks'), 'sleep',
                        str(scaled(100))], capture_output=True, text=True, timeout=PATIENCE * 6)
    via = re.search('sleeps are sampled by (.*)', r.stderr)
    in_switch = via and via[1] == 'sched_switch, kernel frames only'
    expect(via and (in_switch or via[1] == 'kprobe on finish_task_switch'), r.stderr)
    equal('samples of --off-cpu have no user stacks' in r.stderr, in_switch, f'that it says so: {r.stderr}')
    expect(r.returncode in ((3, 4) if in_switch else (0, 3)), f'exit code {r.returncode}: {r.stderr}')
    t, samples = load_all(tmp + '/t.fxt')
    threads, samples = lines(r.stdout), in_sleeps(t, samples)
    found = collections.Counter((s.thread, s.ts, s.weight) for s in samples)
    expected = collections.Counter(sleeps(t, MS))
    equal(sorted((found - expected).elements()), [], 'samples that are no sleep of the switches')
    missing = sum((expected - found).values())
    expect(missing <= not_taken(t), f'{missing} sleeps without a sample: {t.ledger}')
    for what, call in (('wait_poll', 'do_sys_poll'), ('nap', 'hrtimer_nanosleep')):
        mine = [s for s in samples if s.thread == threads[what][0]]
        inside = [s for s in mine if call in names(s)]
        expect(len(inside) >= len(mine) - 3 > 0, f'{what}: {collections.Counter(map(tuple, map(names, mine))).most_common(3)}')
        equal(any(f.kind == 'native' for s in inside for f in s.frames), not in_switch, f'{what}: user frames')
    note(f'{via[1]}: {sum(found.values())} sleeps, {missing} not taken')


@test
def a_higher_threshold(tmp):
    t, samples, _ = record_sleepers(tmp, '--off-cpu=4500us')
    shortest = min(s.weight for s in of(samples, 'off-cpu'))
    expect(shortest >= 4_500_000, f'a sleep of {shortest} ns')
    expect(len(sleeps(t, MS)) > len(sleeps(t, 4_500_000)), 'all sleeps were that long: the test tests nothing')


def periods(t):
    """Of sampling at 999 Hz, for each CPU: how many the ledger has, and how many its recording took."""
    for cpu, counts in t.ledger.items():
        if cpu is None:
            continue
        marks = [s.ts for s in t.switches if s.cpu == cpu]
        yield cpu, counts['seen_samples'] + counts.get('unsampled_samples', 0), (marks[-1] - marks[0]) * 999 / 1e9


@test
def what_runs(tmp):
    """Each sample of a CPU lies in a slice of its thread on that CPU; and so many were due."""
    record(tmp + '/t.fxt', '--sample=999', '--', helper('stacks'), 'spin', str(scaled(2000)))
    t, samples = load_all(tmp + '/t.fxt')
    slices = {}
    for cpu in set(t.ledger) - {None}:
        slices[cpu], bad = t.timeline(cpu)
        equal(dict(bad), {}, f'contradictions of CPU {cpu}')
    in_gaps = 0
    for s in samples:
        begin, end, tid = slices[s.cpu][bisect.bisect_right(slices[s.cpu], (s.ts, 2**64, 0)) - 1]
        expect(begin <= s.ts <= end, f'outside of the recording: {s[:5]}')
        in_gaps += tid is None
        expect(tid is None or tid == s.thread, f'{s[:5]}, but {tid} ran from {begin} to {end}')
    unknown = [end - begin for cpu in slices for begin, end, tid in slices[cpu] if tid is None]
    # Each may have one at its very begin.
    expect(in_gaps <= len(unknown) + 1.02 * 999 / 1e9 * sum(unknown),
           f'{in_gaps} of {len(samples)} in gaps of {unknown} ns')
    for cpu, counted, due in periods(t):
        idle, gaps = (999 / 1e9 * sum(end - begin for begin, end, tid in slices[cpu] if tid == what) for what in (0, None))
        # What is not sampled of idle time is not counted. What is, may be of when a host took the CPU away as it began. In a gap
        # it may have been idle.
        expect(due - idle - gaps - 3 - due / 50 <= counted <= due + 2 + due / 10,
               f'CPU {cpu}: {counted} counted, {due:.1f} due, {idle:.1f} idle, {gaps:.1f} in gaps')
    note(f'{len(samples)} samples, {in_gaps} in gaps, {ledger(t, "unsampled")} not taken')


@test
def idle_is_no_loss(tmp):
    """The timer of some idle CPUs does not run: what is not sampled there is no loss."""
    r = run('record', '-o', tmp + '/t.fxt', '--sample=99', '--', 'sleep', str(2 if scaled(10) == 10 else 5))
    equal(r.returncode, 0, r.stderr.decode())
    t, samples = load_all(tmp + '/t.fxt')
    due = 99 * (t.switches[-1].ts - t.switches[0].ts) / 1e9
    for cpu, counts in t.ledger.items():
        if cpu is None:
            continue
        slices, _ = t.timeline(cpu)
        # What a CPU did in a gap is not known.
        busy = sum(end - begin for begin, end, tid in slices if tid != 0) / 1e9
        lost = counts.get('unsampled_samples', 0)
        expect(lost <= 3 + due / 10 + 99 * busy, f'CPU {cpu}: {lost} of {due:.0f} lost, {busy:.3f} s busy')


@test
def who_wakes(tmp):
    """A sample of the waker for each sleep that it ended, on the thread that was woken."""
    t, samples, threads = record_sleepers(tmp, '--wakers', '--off-cpu')
    tid, waker = threads['wait_cond'][0], threads['wake_it'][0]
    woken = sorted(w.ts for w in t.wakeups if w.tid == tid and w.waker == waker)
    mine = [s for s in of(samples, 'waker') if s.thread == tid]
    ours = [s for s in mine if names(s)[0] == f'woken by stacks {waker}']
    expect(len(ours) >= len(mine) * 0.8, f'{len(ours)} of {len(mine)} by the right waker: {collections.Counter(names(s)[0] for s in mine)}')
    far = []
    for s in ours:
        at = bisect.bisect(woken, s.ts)
        near = min((abs(s.ts - ts) for ts in woken[max(0, at - 1):at + 1]), default=MS)
        far += [(s.ts, near)] * (near >= MS / 2)
        expect(s.weight >= MS, f'it ended a sleep of {s.weight} ns')
    # A host may take the CPU away between the two.
    expect(len(far) <= 2 + len(ours) / 20, f'wakers away from any wakeup: {len(far)} of {len(ours)}, {far[:5]}')
    # The sleeps that it ended are sampled, too, but for those whose end was not reported: each contains its wakeup.
    slept = {s.ts: s.ts + s.weight for s in of(samples, 'off-cpu') if s.thread == tid}
    alone = [(s.ts, s.weight) for s in ours if not s.ts < slept.get(s.ts - s.weight, 0)]
    expect(len(alone) <= not_taken(t) and len(alone) <= len(ours) / 2,
           f'{len(alone)} of {len(ours)} without their sleep: {alone[:5]}; {t.ledger}')
    # And each that was that long when it was woken has one.
    sampled = sorted(s.ts for s in ours)
    due, missing = 0, []
    for koid, begin, length in sleeps(t, MS):
        wakeups = woken[bisect.bisect(woken, begin + MS + MS // 20):bisect.bisect(woken, begin + length)] if koid == tid else []
        due += bool(wakeups)
        if wakeups and bisect.bisect(sampled, begin) == bisect.bisect(sampled, begin + length):
            missing.append((begin, length, wakeups[0]))
    expect(len(missing) <= not_taken(t) and due, f'{len(missing)} of {due} sleeps without a sample of the waker: {missing[:5]}; {t.ledger}')
    napped = [names(s)[0] for s in of(samples, 'waker') if s.thread == threads['nap'][0]]
    by_interrupt = sum(name == 'woken by an interrupt' for name in napped)
    expect(by_interrupt >= len(napped) * 0.9, f'{by_interrupt} of {len(napped)} timers are interrupts')
    note(f'{len(ours)} wakeups by the waker, {len(mine) - len(ours)} by others')


def expect_shares(chains):
    """Of the functions of spin(): 70, 20 and 10 %."""
    hot = collections.Counter(name for c in chains for name in c if name.startswith('hot_'))
    cnt = sum(hot.values())
    for name, share in (('hot_70', 0.7), ('hot_20', 0.2), ('hot_10', 0.1)):
        sigma = (share * (1 - share) * cnt) ** 0.5
        # Beyond three, where nothing is wrong, would be one run in 120.
        expect(abs(hot[name] - share * cnt) <= 4 * sigma + 1, f'{name}: {hot[name]} of {cnt}, sigma {sigma:.1f}')
    return hot


@test
def where_it_runs(tmp):
    """Functions that take 70, 20 and 10 % of the time, whole stacks."""
    out = record(tmp + '/t.fxt', '--sample=999', '--comm', 'stacks', '--', helper('stacks'), 'spin', str(scaled(4000)))
    t, samples = load_all(tmp + '/t.fxt')
    # Before and after it is the dynamic linker, which takes long in a machine that is emulated.
    chains = [names(s) for s in in_rounds(samples, lines(out)['spin'], 'spin')]
    expect(chains, f'none of {len(samples)} is known to be in spin()')
    inside = [c for c in chains if 'spin' in c]
    expect(len(inside) >= len(chains) * 0.95, f'{len(inside)} of {len(chains)} are known to be in spin(): '
           f'{collections.Counter(map(tuple, (c for c in chains if "spin" not in c))).most_common(3)}')
    for c in inside:
        expect('main' in c[:c.index('spin')], f'main() is missing: {c}')
    hot = expect_shares(inside)
    note(f'{len(chains)} samples, {len(inside)} whole, {dict(hot)}')


def perf_chains(path):
    """Of each sample of `stacks` in what perf has recorded: functions, outermost first."""
    out = subprocess.run(['perf', 'script', '-i', path, '--comm', 'stacks', '-F', 'ip,sym'], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return [[line.split(None, 1)[1] for line in reversed(chain.splitlines()) if len(line.split(None, 1)) == 2]
            for chain in out.split('\n\n') if chain.strip()]


@test
def same_as_perf(tmp):
    """The same program by perf, unwound by libdw: shares of functions, and the ways to them."""
    out = record(tmp + '/t.fxt', '--sample=999', '--', helper('stacks'), 'spin', '2000')
    subprocess.run(['perf', 'record', '-q', '-B', '-e', 'cpu-clock', '-F', '999', '--call-graph', 'dwarf,8192', '-o',
                    tmp + '/perf.data', helper('stacks'), 'spin', '2000'], stdout=subprocess.DEVNULL, check=True)
    _, samples = load_all(tmp + '/t.fxt')
    mine = [names(s) for s in samples if s.thread == lines(out)['spin'][0]]
    theirs = perf_chains(tmp + '/perf.data')
    hot, ways = [], []
    for chains in mine, theirs:
        inside = [c for c in chains if {'main', 'spin'} <= set(c)]
        expect(len(inside) > 300, f'{len(inside)} of {len(chains)} samples are in spin()')
        hot.append(collections.Counter(name for c in inside for name in c if name.startswith('hot_')))
        # What interrupts them is not in both.
        ways.append({tuple(c[c.index('main'):i + 1]) for c in inside for i, name in enumerate(c) if name.startswith('hot_')})
    equal(ways[0], ways[1], 'ways from main()')
    cnts = [sum(h.values()) for h in hot]
    for name in hot[1]:
        share = sum(h[name] for h in hot) / sum(cnts)
        sigma = (share * (1 - share) * sum(1 / cnt for cnt in cnts)) ** 0.5
        found = [h[name] / cnt for h, cnt in zip(hot, cnts)]
        expect(abs(found[0] - found[1]) <= 4 * sigma, f'{name}: {found[0]:.3f} and {found[1]:.3f}, sigma {sigma:.4f}')
    note(f'{cnts[0]} samples by kfxt, {cnts[1]} by perf: {dict(hot[0])}, {dict(hot[1])}')


# A compiler, an interpreter, a shell, and sleeps; $0 is a folder for what they leave.
WORK = '''cd "$0"; for i in $(seq 400); do echo "int f$i(int a) { for (int i = 0; i < a; i++) a += i % $i; return a; }"; done >many.c
    ! command -v cc >/dev/null || cc -O2 -c many.c
    python3 -c "import json, time; e = time.time() + 1
while time.time() < e: json.dumps([[[i]] for i in range(1000)])"
    for i in $(seq 20); do x=$(ls / | head -n 3); done; "$1" sleep "$2" >/dev/null'''


@test
def same_as_libdwfl(tmp):
    """Each user stack of these programs, unwound by both from the same registers and bytes: never another caller."""
    if os.uname().machine != 'x86_64':
        raise Skip('libdwfl is no judge here')
    r = subprocess.run([helper('judged'), 'record', '--no-sandbox', '-o', tmp + '/t.fxt', '--follow', '--stacks', '--sample=999', '--',
                        'sh', '-c', WORK, tmp, helper('stacks'), str(scaled(50))], capture_output=True, text=True, timeout=PATIENCE * 6)
    m = re.search(r'^judged (\d+) equal (\d+) longer (\d+) shorter (\d+) other (\d+) gone (\d+)$', r.stderr, re.M)
    expect(r.returncode == 0 and m, r.stderr)
    judged, same, longer, shorter, other, gone = map(int, m.groups())
    equal(other, 0, f'stacks with other frames: {r.stderr}')
    # Frame pointers may lead further, and one stack may be deeper than what is kept of it.
    expect(same >= scaled(500) and longer + shorter <= (same + 99) / 100, f'{m[0]}: {r.stderr}')
    load_all(tmp + '/t.fxt')
    note(f'{same} of {judged} stacks equal, {longer} longer, {shorter} shorter, {gone} of processes that were gone')


@test
def what_is_not_whole_is_counted(tmp):
    """Copies of 1 KiB: as many samples have the frame "[cut]" as were counted."""
    r = run('record', '-o', tmp + '/t.fxt', '--stats=json', '--stacks', '--sample=999', '--user-stack=unwind:1K', '--follow', '--',
            'sh', '-c', WORK, tmp, helper('stacks'), str(scaled(20)))
    equal(r.returncode, 0, r.stderr.decode())
    _, samples = load_all(tmp + '/t.fxt')
    counts = json.loads(r.stdout)['user_stacks']
    parts = [names(s)[1:] if s.source == 'waker' else names(s) for s in samples]
    cut = sum(part[:1] == ['[cut]'] for part in parts)
    reasons = [counts[reason] for reason in ('cut', 'unmapped', 'no_rule', 'unreadable')]
    equal(sum(reasons), cut, f'stacks that are not whole: {counts}')
    expect(counts['cut'] > scaled(20) and counts['unreadable'] > 0, f'the test tests nothing: {counts}')
    users = sum(any(f.kind not in ('kernel', None) and f.name != '[cut]' for f in s.frames) for s in samples)
    expect(abs(counts['whole'] + cut - users) <= cut, f'{users} samples with user frames, {counts}')
    note(f'{counts} of {len(samples)} samples')


# All of a program's environment, which is at the end of its stack; within what is copied, as nothing random is before it.
SECRET = {'KFXT_TEST_SECRET': 'kept on the stack only'}


@test
def bytes_of_stacks_are_in_no_file(tmp):
    work, secret = ['setarch', '-R', helper('stacks'), 'spin', str(scaled(1000))], SECRET['KFXT_TEST_SECRET'].encode()
    r = run('record', '-o', tmp + '/t.fxt', '--sample=999', '--', *work, env=SECRET)
    equal(r.returncode, 0, r.stderr.decode())
    _, samples = load_all(tmp + '/t.fxt')
    expect(sum('spin' in names(s) for s in samples) > scaled(20), 'it was not sampled')
    with open(tmp + '/t.fxt', 'rb') as f:
        expect(secret not in f.read(), 'bytes of a stack are in the trace')
    perf = shutil.which('perf')
    if perf:        # to which the same stacks are bytes to be kept
        subprocess.run([perf, 'record', '-q', '-B', '-e', 'cpu-clock', '-F', '999', '--call-graph', 'dwarf,16384', '-o',
                        tmp + '/perf.data', *work], stdout=subprocess.DEVNULL, check=True, env=SECRET)
        with open(tmp + '/perf.data', 'rb') as f:
            expect(secret in f.read(), 'no stack has had it: the test tests nothing')


@test
def where_it_waits(tmp):
    """Each sleep in the function that waits, whole; all together as long as the program's own clock says."""
    t, samples, threads = record_sleepers(tmp, '--off-cpu')
    for what, library in (('wait_poll', 'poll'), ('nap', 'usleep'), ('wait_cond', 'pthread_cond_wait')):
        tid, _, ns = threads[what]
        mine = in_rounds(in_sleeps(t, samples), threads[what], what)
        expect_long_sleeps(t, threads[what], mine)
        inside = [s for s in mine if what in names(s)]
        whole = [s for s in inside if is_whole(names(s)) and library in names(s)[names(s).index(what):]]
        expect(len(whole) >= len(inside) * 0.98 - 1 and len(inside) >= len(mine) - 2,
               f'{what}: {len(whole)} of {len(mine)} whole: '
               f'{collections.Counter(tuple(names(s)) for s in mine).most_common(3)}')
        slept = sum(s.weight for s in mine)
        # Around its sleeps its clock has what it ran and waited for a CPU, too: all of its time that is no sleep.
        times = [s.ts for s in t.switches if tid in (s.out, s.into)]
        awake = times[-1] - times[0] - sum(length for thread, _, length in sleeps(t, MS) if thread == tid)
        expect(ns - awake - ns // 100 <= slept <= ns, f'{what}: {slept} ns in samples, {ns} by its own clock, {awake} awake')


@test
def who_wakes_from_where(tmp):
    t, samples, threads = record_sleepers(tmp, '--wakers')
    tid, waker = threads['wait_cond'][0], threads['wake_it'][0]
    mine = [names(s) for s in of(samples, 'waker') if s.thread == tid and names(s)[0] == f'woken by stacks {waker}']
    whole = [c for c in mine if 'wake_rounds' in c and 'wake_it' in c[c.index('wake_rounds'):]]
    # It may also wake it as both end.
    expect(len(whole) >= len(mine) - max(1, len(mine) // 50) > 0, f'{len(whole)} of {len(mine)}: '
           f'{collections.Counter(map(tuple, mine)).most_common(3)}')
    # Innermost; further out a program of the recorder may itself have woken the recorder.
    tracer = [names(s)[-1] for s in samples if names(s)[-1].startswith(('bpf_prog_', 'bpf_trace_', '__traceiter_', '__bpf_trace_'))]
    equal(collections.Counter(tracer), {}, 'frames of the tracer itself')


@test
def of_another_user(tmp):
    """A program and its file that only another user may look at, by a recorder that has given up what it does not need."""
    os.chmod(tmp, 0o711)
    shutil.copy(helper('stacks'), tmp + '/mine')
    os.chown(tmp + '/mine', 65534, 65534)
    os.chmod(tmp + '/mine', 0o500)
    out = record(tmp + '/t.fxt', '--off-cpu', '--', 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                 tmp + '/mine', 'sleep', str(scaled(50)))
    _, samples = load_all(tmp + '/t.fxt')
    mine = [names(s) for s in in_rounds(samples, lines(out)['nap'], 'nap')]
    whole = [c for c in mine if 'nap' in c and is_whole(c)]
    expect(len(whole) >= len(mine) * 0.9 > 0, f'{len(whole)} of {len(mine)}: {collections.Counter(map(tuple, mine)).most_common(2)}')


@test
def only_selected_threads(tmp):
    for options in (['--follow'], ['--comm', 'stacks']):
        t, samples, threads = record_sleepers(tmp, '--stacks', '--sample=999', *options, rounds=scaled(100))
        mine = {tid for tid, _, _ in threads.values()}
        main_thread = {koid for koid, (name, _) in t.threads.items() if name == 'stacks'}
        others = {s.thread for s in samples} - mine - main_thread
        equal(others, set(), f'threads that are not selected, {options}')
        expect(of(samples, 'off-cpu') and of(samples, 'waker'), 'no samples')
        expect(ledger(t, 'filtered') > 0, f'nothing was filtered: {t.ledger}')


@test
def only_a_process(tmp):
    """One that runs already, by its id."""
    with subprocess.Popen([helper('stacks'), 'sleep', '1000000']) as p:
        def slept():
            return sum(int(re.search(r'^voluntary_ctxt_switches:\s*(\d+)', open(path).read(), re.M)[1])
                       for path in glob.glob(f'/proc/{p.pid}/task/*/status'))
        try:
            recorder = start(tmp + '/t.fxt', '-p', str(p.pid), '--stacks', '--sample=999')
            enough = slept() + 1000     # most of them short
            until(lambda: slept() > enough, 'it does not sleep')
            recorder.send_signal(signal.SIGINT)
            err = recorder.communicate(timeout=PATIENCE * 6)[1].decode()
            threads = set(map(int, os.listdir(f'/proc/{p.pid}/task')))
        finally:
            p.kill()
    equal(recorder.returncode, 0, err)
    _, samples = load_all(tmp + '/t.fxt')
    equal({s.thread for s in samples} - threads, set(), 'threads of others')
    mine = [names(s) for s in of(samples, 'off-cpu') if 'nap' in names(s)]
    expect(sum(map(is_whole, mine)) >= len(mine) * 0.95 > 0, f'{len(mine)} naps: {collections.Counter(map(tuple, mine)).most_common(2)}')


@test
def only_a_cgroup(tmp):
    with cgroup() as path:
        out = record(tmp + '/t.fxt', '--cgroup', path, '--stacks', '--sample=999', '--', 'sh', '-c',
                     f'echo $$ >{path}/cgroup.procs; exec {helper("stacks")} sleep {scaled(100)}')
    t, samples = load_all(tmp + '/t.fxt')
    mine = {tid for tid, _, _ in lines(out).values()}
    main_thread = {koid for koid, (name, _) in t.threads.items() if name in ('stacks', 'sh')}
    equal({s.thread for s in samples} - mine - main_thread, set(), 'threads outside')
    expect({s.thread for s in of(samples, 'off-cpu')} & mine, 'no samples')
    report = json.loads(run('report', '--stacks=off-cpu', '--by', 'cgroup', '--json', tmp + '/t.fxt').stdout)
    roots = [n for n in report['stacks'][0]['nodes'] if n['parent'] is None]
    equal([n['cgroup'] for n in roots], ['/' + os.path.basename(path)], 'cgroups of the report')


@test
def beside_return_probes(tmp):
    """The return address of a traced function is that of the kernel's trampoline: its caller is found all the same."""
    t, samples, threads = record_sleepers(tmp, '--off-cpu', '-u', helper('stacks') + ':nap', '-u', helper('stacks') + ':sleep_rounds',
                                          '--returns', rounds=scaled(100))
    mine = in_rounds(in_sleeps(t, samples), threads['nap'], 'nap')
    expect_long_sleeps(t, threads['nap'], mine)
    mine = [names(s) for s in mine]
    whole = [c for c in mine if is_whole(c) and 'nap' in c and 'sleep_rounds' in c[:c.index('nap')]]
    expect(len(whole) >= len(mine) * 0.95, f'{len(whole)} of {len(mine)} whole: {collections.Counter(map(tuple, mine)).most_common(3)}')
    calls = [c for c in t.calls if c.name == 'nap']
    lost = t.ledger_sum('lost_calls', 'missed_calls', 'prog_skipped')
    expect(len(calls) <= threads['nap'][1] <= len(calls) + lost, f'{len(calls)} calls of nap, {lost} lost')
    for s in in_sleeps(t, samples) if not lost else ():
        # Not in the probe of its first instruction, before the call begins.
        if s.thread == threads['nap'][0] and 'nap' in names(s) and 'usleep' in names(s)[names(s).index('nap'):]:
            expect(any(c.tid == s.thread and c.ts <= s.ts and s.ts + s.weight <= c.end for c in calls), 'a sleep outside of its call')


def frames_of_naps(tmp, *options):
    """How often the kernel's frames of a nap() of usleep() are those."""
    t, samples, threads = record_sleepers(tmp, '--off-cpu', *options, rounds=scaled(100))
    mine = in_rounds(in_sleeps(t, samples), threads['nap'], 'nap')
    expect_long_sleeps(t, threads['nap'], mine)
    return t, collections.Counter(tuple(f.name for f in s.frames if f.kind == 'kernel') for s in mine if 'usleep' in names(s))


@test
def beside_return_probes_of_the_kernel(tmp):
    """The return address of a function of the kernel is that of a trampoline, too: the frames are those without."""
    import functions    # which asks what there is here
    ways, inner = functions.here(*functions.KERNEL, but=functions.NOT_RETURN), 'do_nanosleep'
    if not ways:
        raise Skip('no return probes of the kernel here')
    usual, cnt = frames_of_naps(tmp)[1].most_common(1)[0]
    expect(inner in usual, f'frames without probes: {usual}')
    for how in ways:
        t, probed = frames_of_naps(tmp, '-f', inner, '--returns', '--func-via', how)
        expect([c for c in t.calls if c.name == inner], f'{how}: no calls of {inner}')
        # A few sleeps are in the probe, or before the call.
        expect(probed[usual] >= sum(probed.values()) * 0.9, f'{how}: {usual}, with probes {probed.most_common(3)}')
        note(f'{how}: {probed[usual]} of {sum(probed.values())} have the {len(usual)} frames that {cnt} have without')


@test
def beside_system_calls(tmp):
    """And compressed: each sleep in poll() is one in a slice of poll."""
    t, samples, threads = record_sleepers(tmp, '--off-cpu', '-e', 'syscalls:poll', '-z', rounds=scaled(100))
    tid, count, _ = threads['wait_poll']
    mine = in_rounds(in_sleeps(t, samples), threads['wait_poll'], 'wait_poll')
    calls = [r for r in fxtread.read(tmp + '/t.fxt') if r['type'] == 'event' and r['name'] == 'poll' and r['thread'][1] == tid]
    lost = t.ledger_sum('lost_events', 'prog_skipped')
    expect(len(calls) <= count <= len(calls) + lost, f'{len(calls)} calls of poll, {lost} events lost')
    expect_long_sleeps(t, threads['wait_poll'], mine)
    for s in mine if not lost else ():
        expect(any(c['timestamp'] <= s.ts and s.ts + s.weight <= c['end_time'] for c in calls), 'a sleep outside of its call')


@test
def only_some_cpus(tmp):
    cpu = last_cpu()
    if not cpu:
        raise Skip('there is one CPU only')
    t, samples, _ = record_sleepers(tmp, '--stacks', '--sample=999', '-C', str(cpu), rounds=scaled(100))
    equal({s.cpu for s in samples}, {cpu}, 'CPUs of samples')
    expected = collections.Counter(sleeps(t, MS))
    found = collections.Counter((s.thread, s.ts, s.weight) for s in in_sleeps(t, samples))
    equal(sorted((found - expected).elements()), [], 'samples that are no sleep on this CPU')


@test
def kernel_threads(tmp):
    t, samples, threads = record_sleepers(tmp, '--off-cpu')
    samples = in_sleeps(t, samples)
    kernel = {koid for koid, (_, process) in t.threads.items() if not process}
    theirs = [s for s in samples if s.thread in kernel]
    expect(theirs, 'no kernel thread slept')
    for s in theirs:
        equal((s.process, {f.kind for f in s.frames} - {'kernel'}), (0, set()), f'a kernel thread: {s}')
    mine = in_rounds(samples, threads['nap'], 'nap')
    expect(mine and all({'kernel', 'native'} <= {f.kind for f in s.frames} for s in mine),
           'a sleep without kernel or user frames')


@test
def in_a_pid_namespace(tmp):
    """There /proc has other processes by those ids: no user stacks rather than those of others, and it says so."""
    r = subprocess.run(['unshare', '--pid', '--fork', '--mount-proc', KFXT, 'record', '-o', tmp + '/t.fxt', '--off-cpu', '--',
                        helper('stacks'), 'sleep', str(scaled(50))], capture_output=True, text=True, timeout=PATIENCE * 6)
    equal(r.returncode, 0, r.stderr)
    expect('in a PID namespace: samples have no user stacks' in r.stderr, r.stderr)
    t, samples = load(tmp + '/t.fxt'), read_samples(tmp + '/t.fxt')      # not all threads have names, which verify reports
    mine = [s for s in in_sleeps(t, samples) if t.threads.get(s.thread, ('',))[0] == 'stacks']
    expect(len(mine) > scaled(50), f'{len(mine)} samples')
    equal({f.kind for s in mine for f in s.frames}, {'kernel'}, 'frames')


@test
def parts_of_a_stack(tmp):
    for options, kinds in ((['--no-kernel-stack'], {'native'}), (['--user-stack=none'], {'kernel'}),
                           (['--user-stack=fp'], {'kernel', 'native'})):
        _, samples, threads = record_sleepers(tmp, '--off-cpu', *options, rounds=scaled(50))
        mine = [s for s in samples if s.thread == threads['nap'][0]]
        expect(mine, 'no samples')
        equal({f.kind for s in mine for f in s.frames}, kinds, f'frames with {options}')


@test
def a_full_ring(tmp):
    """The recorder is stopped: what its rings have no space for is counted, and no sleep is without a sample or a count."""
    p = start(tmp + '/t.fxt', '-m', '64K', '--stacks', '--sample=999')
    p.send_signal(signal.SIGSTOP)
    subprocess.run([helper('stacks'), 'sleep', str(scaled(400))], stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE * 6)
    p.send_signal(signal.SIGCONT)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=PATIENCE * 6)[1].decode()
    equal(p.returncode, 0, err)
    t, samples = load_all(tmp + '/t.fxt')
    lost = ledger(t, 'lost')
    expect(lost > 0, f'nothing was lost: {t.ledger}')
    expect(f'stack sample' in err and 'rings full' in err, f'the summary does not report it: {err}')
    note(f'{len(samples)} samples, {lost} lost, {ledger(t, "unsampled")} not taken')


@test
def a_pipe_that_nobody_reads(tmp):
    """The recorder cannot write: its rings get full, and what has no space is counted."""
    with running(helper('stacks'), 'sleep', '1000000'), open(tmp + '/t.fxt', 'wb') as f:
        p = subprocess.Popen([KFXT, 'record', '-o', '-', '-m', '64K', '--stacks', '--sample=999'], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        f.write(p.stdout.read(1))
        until(lambda: readable(p.stdout) >= 4096, 'it does not record')
        time.sleep(1.5)
        p.send_signal(signal.SIGINT)
        shutil.copyfileobj(p.stdout, f)
        err = p.communicate(timeout=PATIENCE * 6)[1].decode()
    equal(p.returncode, 0, err)
    t, samples = load_all(tmp + '/t.fxt')
    expect(samples and ledger(t, 'lost') > 0, f'nothing was lost: {t.ledger}')
    note(f'{len(samples)} samples, {ledger(t, "lost")} lost, {ledger(t, "unsampled")} not taken')


@test
def no_time_without_a_count(tmp):
    """No CPU is idle, and the recorder is stopped: each period of each is a sample, or counted."""
    with contextlib.ExitStack() as busy:
        for cpu in os.sched_getaffinity(0):
            busy.enter_context(running('taskset', '-c', str(cpu), helper('stacks'), 'spin', '1000000'))
        p = start(tmp + '/t.fxt', '-m', '64K', '--sample=999')
        p.send_signal(signal.SIGSTOP)
        time.sleep(1)
        p.send_signal(signal.SIGCONT)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=PATIENCE * 6)[1].decode()
    equal(p.returncode, 0, err)
    t, samples = load_all(tmp + '/t.fxt')
    for cpu, counted, due in periods(t):
        expect(due - 3 - due / 50 <= counted <= due + 2 + due / 10, f'CPU {cpu}: {counted} counted, {due:.1f} due: {t.ledger[cpu]}')
    lost = ledger(t, 'lost')
    expect(lost > 0, f'nothing was lost: {t.ledger}')
    note(f'{len(samples)} samples, {lost} lost, {ledger(t, "unsampled")} not taken')


# By vfork(2), as shells do.
SPAWN = '''import os, sys
for _ in range(int(sys.argv[1])):
    os.waitpid(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)'''


@test
def of_short_lives(tmp):
    """Programs of 5 ms: when their samples are looked at there is nobody to ask what was mapped where."""
    out = record(tmp + '/t.fxt', '--sample=999', '--', sys.executable, '-c', SPAWN, str(scaled(100)), helper('stacks'), 'spin', '5')
    _, samples = load_all(tmp + '/t.fxt')
    tids = {int(line.split()[1]) for line in out.splitlines()}
    equal(len(tids), scaled(100), 'programs')
    mine = [names(s) for s in samples if s.thread in tids and any(f.kind == 'native' for f in s.frames)]
    inside = [c for c in mine if 'spin' in c]
    expect(len(inside) >= len(tids) / 4, f'only {len(inside)} samples of {len(tids)} programs')
    whole = [c for c in inside if is_whole(c) and 'main' in c[:c.index('spin')]]
    expect(len(whole) >= len(inside) * 0.98, f'{len(whole)} of {len(inside)} whole: {collections.Counter(map(tuple, inside)).most_common(3)}')
    note(f'{len(mine)} samples of {len(tids)} programs, {len(whole)} of {len(inside)} in spin() whole')


@test
def after_the_first_thread(tmp):
    """A process whose first thread has ended: its directory in /proc shows nothing of it."""
    program = shutil.copy(helper('stacks'), tmp + '/mine')
    with running(program, 'heir', '1000000') as p:
        until(lambda: stat_of(p.pid)[0] == 'Z', 'its first thread does not end')
        thread, = set(map(int, os.listdir(f'/proc/{p.pid}/task'))) - {p.pid}
        os.unlink(program)
        record(tmp + '/t.fxt', '--sample=999', '--', 'sleep', '1')
    _, samples = load_all(tmp + '/t.fxt')
    mine = [names(s) for s in samples if s.thread == thread]
    expect(len(mine) >= scaled(200), f'{len(mine)} samples')
    whole = [c for c in mine if is_whole(c) and 'spin' in c and 'spin_on' in c[:c.index('spin')]]
    expect(len(whole) >= len(mine) * 0.98 - 1, f'whole: {len(whole)} of {len(mine)}, {collections.Counter(map(tuple, mine)).most_common(3)}')
    note(f'{len(whole)} of {len(mine)} whole')
    expect_shares(whole)


# $0 is the program, $1 a path at which there is nothing, $2 how often it sleeps.
RUN_COPY = 'cp "$0" "$1"; "$1" sleep "$2" & until [ "$(readlink "/proc/$!/exe")" = "$1" ]; do :; done;'
PLACES = {
    'deleted': f'{RUN_COPY} rm "$1"; wait',
    'replaced': f'{RUN_COPY} cp /bin/true "$1.new"; mv "$1.new" "$1"; wait',
    'its library replaced': '''cp "$(ldd "$0" | sed -n 's/.*=> \\(.*libc\\.so\\.6\\) .*/\\1/p')" "${1%/*}/libc.so.6"
        LD_LIBRARY_PATH=${1%/*} "$0" sleep "$2" & until grep -q "x.*${1%/*}/libc.so.6" "/proc/$!/maps"; do :; done
        cp /bin/true "$1"; mv "$1" "${1%/*}/libc.so.6"; wait''',
    'another mount namespace': '''exec unshare --mount sh -c 'mount -t tmpfs none "${1%/*}"; cp "$0" "$1"
        exec "$1" sleep "$2"' "$0" "$1" "$2"''',
    'entered by setns': '''unshare --mount sh -c 'mount -t tmpfs none "${1%/*}"; cp "$0" "$1"; : >"${1%/*}/there"
        exec sleep 1000' "$0" "$1" >/dev/null 2>&1 & pid=$!
        until [ -e "/proc/$pid/root${1%/*}/there" ]; do sleep 0.01; done
        nsenter --mount --target $pid "$1" sleep "$2"; kill $pid''',
}


@test
def wherever_the_program_is(tmp):
    """Its path, or that of its library, leads to nothing or to another file by the time its first sample is looked at."""
    for place, script in PLACES.items():
        os.mkdir(tmp + '/place')
        out = record(tmp + '/t.fxt', '--off-cpu', '--', 'sh', '-c', script, helper('stacks'), tmp + '/place/mine', str(scaled(100)))
        shutil.rmtree(tmp + '/place')
        t, samples = load_all(tmp + '/t.fxt')
        thread = lines(out)['nap']
        mine = in_rounds(in_sleeps(t, samples), thread, 'nap')
        expect(mine, f'{place}: none of {sum(s.thread == thread[0] for s in samples)} samples is in nap()')
        expect_long_sleeps(t, thread, mine)
        whole = [c for c in map(names, mine) if is_whole(c) and 'nap' in c and 'sleep_rounds' in c[:c.index('nap')] and 'usleep' in c]
        expect(len(whole) >= len(mine) * 0.98 - 1, f'{place}: {len(whole)} of {len(mine)} whole: '
               f'{collections.Counter(tuple(names(s)) for s in mine).most_common(3)}')
        note(f'{place}: {len(whole)} of {len(mine)} whole')


def functions_of(program):
    """{name: where it begins in the file}."""
    out = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, name in re.findall(r'^([0-9a-f]+) [Tt] (\S+)$', out, re.M)}


@test
def however_it_is_built(tmp):
    """Without frame pointers and with, static, at its own addresses, without symbols: there its functions are known by their begin."""
    if not shutil.which('nm'):
        raise Skip('no nm')
    own = functions_of(helper('stacks-nofp'))
    for build in 'nofp', 'fp', 'static', 'nopie', 'stripped':
        program = helper(f'stacks-{build}')
        of_place = {f'{os.path.basename(program)}+{address:#x}': name for name, address in own.items()}
        threads = lines(record(tmp + '/t.fxt', '--sample=999', '--off-cpu', '--comm', os.path.basename(program), '--',
                               'sh', '-c', '"$0" spin "$1" & "$0" sleep "$2"; wait', program, str(scaled(800)), str(scaled(60))))
        t, samples = load_all(tmp + '/t.fxt')
        chains = {what: [[of_place.get(name, name) for name in names(s)] for s in samples if s.thread == threads[what][0]]
                  for what in ('spin', 'nap', 'wait_poll', 'wait_cond')}
        running = [c for c in chains['spin'] if 'spin' in c]
        expect(len(running) >= threads['spin'][2] * 999e-9 / 2, f'{build}: {len(running)} samples of spin()')
        for c in running:
            equal((is_whole(c), [name for name in c if name in own][:3]), (True, ['_start', 'main', 'spin']), f'{build}: {c}')
        expect_shares(running)
        for what, library in (('nap', 'usleep'), ('wait_poll', 'poll'), ('wait_cond', 'pthread_cond_wait')):
            tid, count, _ = threads[what]
            whole = [c for c in chains[what] if is_whole(c) and
                     [name for name in c if name in own or name == library][:3] == ['sleep_rounds', what, library]]
            long = sum(koid == tid for koid, _, _ in sleeps(t, MS))
            expect(len(whole) >= min(long, count) - not_taken(t) - 2, f'{build}: {len(whole)} of {long} sleeps in {what}()')
        note(f'{build}: {len(running)} of spin(), {sum(map(len, chains.values())) - len(chains["spin"])} of sleeps')
        os.unlink(tmp + '/t.fxt')


SCRIPT = '''function hotOne(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s }
function callsIt() { let t = 0; for (let i = 0; i < 50; i++) t += hotOne(10000 + i); return t }
const end = Date.now() + 2000; let x = 0; while (Date.now() < end) x += callsIt(); console.log(process.pid)'''


@test
def code_made_as_it_runs(tmp):
    """Of node: functions of the script by its map, below those of the program, and soon after they were compiled."""
    if not shutil.which('node'):
        raise Skip('no node')
    pid = int(record(tmp + '/t.fxt', '--sample=999', '--comm', 'node', '--',      # which leaves a log where it is
                     'sh', '-c', 'cd "$0" && exec node --perf-basic-prof -e "$1"', tmp, SCRIPT))
    os.unlink(f'/tmp/perf-{pid}.map')
    _, samples = load_all(tmp + '/t.fxt')
    mine = [s for s in samples if s.thread == pid]
    at_work = [[f for f in s.frames if 'callsIt' in f.name or 'hotOne' in f.name] for s in mine]
    unknown = [s for s in mine if s.frames[-1].name == '[unknown]']
    expect(len(unknown) <= 300 + len(mine) / 20 and sum(map(bool, at_work)) >= len(mine) / 2,
           f'{sum(map(bool, at_work))} of {len(mine)} in functions of the script, {len(unknown)} in none')
    equal({f.kind for frames in at_work for f in frames} - {'jit', 'interpreted'}, set(), 'what they are')
    whole = [s for s, frames in zip(mine, at_work) if frames and is_whole(names(s)) and any('node::Start' in name for name in names(s))]
    expect(len(whole) >= sum(map(bool, at_work)) * 0.98, f'{len(whole)} of {sum(map(bool, at_work))} whole: '
           f'{collections.Counter(tuple(names(s)[:3]) for s in mine).most_common(3)}')
    note(f'{sum(map(bool, at_work))} of {len(mine)} in functions of the script, {len(unknown)} in none')


@test
def beside_gaps(tmp):
    """The recorder is stopped again and again: a sample begins and ends with switches of the trace, or in its gaps."""
    with running(helper('stacks'), 'sleep', '1000000') as load_:
        p = start(tmp + '/t.fxt', '-m', '4K', '--off-cpu')
        for _ in range(5):
            stop_while(p, load_.pid, scaled(200))
            time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=PATIENCE * 6)[1].decode()
    equal(p.returncode, 0, err)
    t, samples = load_all(tmp + '/t.fxt')

    def in_gap(begin, end):
        return any(g.begin <= end and begin <= g.end for g in t.gaps)
    outs = {(s.out, s.ts) for s in t.real() if s.state not in AWAKE}
    ins = {(s.into, s.ts) for s in t.real()}
    known, partly = collections.Counter(), 0
    for s in in_sleeps(t, samples):
        end = s.ts + s.weight
        ends = ((s.thread, s.ts) in outs, (s.thread, end) in ins)
        expect(ends[0] or in_gap(s.ts, s.ts), f'it begins with no switch and in no gap: {s[:5]}')
        expect(ends[1] or in_gap(end, end), f'it ends with no switch and in no gap: {s[:5]}')
        known[s.thread, s.ts, s.weight] += all(ends)
        partly += not all(ends)
    between = collections.Counter(sleep for sleep in sleeps(t, MS) if not in_gap(sleep[1], sleep[1] + sleep[2]))
    missing = sum((between - known).values())
    expect(missing <= not_taken(t), f'{missing} sleeps between gaps without a sample: {t.ledger}')
    expect(partly and between and len(t.gaps) >= 5, f'the test tests nothing: {partly}, {len(between)}, {len(t.gaps)} gaps')
    note(f'{len(t.gaps)} gaps, {sum(known.values())} samples between, {partly} with an end in one, '
         f'{missing} of {sum(between.values())} missing')


@test
def as_perfetto_packets(tmp):
    """Written as a Perfetto trace, and read again: still the sleeps of the switches, with the same functions."""
    out = record(tmp + '/t.pftrace', '--stacks', '--sample=999', '--', helper('stacks'), 'sleep', str(scaled(100)))
    r = run('convert', '--strict', '-o', tmp + '/t.fxt', tmp + '/t.pftrace')
    equal(r.returncode, 0, r.stderr.decode())
    verify(tmp + '/t.fxt')
    t, samples = load(tmp + '/t.fxt'), read_samples(tmp + '/t.fxt')
    expect(all(of(samples, source) for source in ('cpu', 'off-cpu', 'waker')), f'{collections.Counter(s.source for s in samples)}')
    threads = {koid % 10_000_000: koid for koid, (name, _) in t.threads.items() if name == 'stacks'}
    for what in ('wait_poll', 'nap', 'wait_cond'):
        koid = threads[lines(out)[what][0]]
        expected = {(ts, weight) for thread, ts, weight in sleeps(t, MS) if thread == koid}
        mine = in_rounds(of(samples, 'off-cpu'), (koid,), what)
        others = [s for s in mine if (s.ts, s.weight) not in expected]
        equal([(s[:5], s.weight) for s in others], [], f'samples that are no sleep of the switches: '
              f'{[w for s in others for w in [*t.switches, *t.wakeups] if koid in w and s.ts - MS < w.ts < s.ts + s.weight + MS]}')
        expect(sum(what in names(s) for s in mine) >= scaled(10), f'{what}: {len(mine)} samples')


@test
def two_recorders(tmp):
    """Each takes its own samples; what one misses while the other's program runs is counted."""
    p = start(tmp + '/other.fxt', '--stacks', '--sample=999')
    try:
        t, samples, _ = record_sleepers(tmp, '--stacks', '--sample=999')
    finally:
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=PATIENCE * 6)[1].decode()
    equal(p.returncode, 0, err)
    load_all(tmp + '/other.fxt')
    expect(of(samples, 'cpu') and of(samples, 'off-cpu') and of(samples, 'waker'), 'samples are missing')


@test
def wrong_words(tmp):
    for option in ('--sample=0', '--sample=x', '--sample=cycles:', '--sample=30000', '--off-cpu=0', '--off-cpu=-1',
                   '--user-stack=x', '--user-stack=unwind:100', '--user-stack=unwind:1M'):
        r = run('record', '-d', '0.1', '-o', tmp + '/t.fxt', '--stacks', option)
        equal(r.returncode, 2, f'{option}: {r.stderr.decode()}')
        expect(option[2:].partition('=')[0] in r.stderr.decode(), f'{option}: {r.stderr.decode()}')
    for options in (['--user-stack=fp'], ['--no-kernel-stack'], ['--stacks', '--no-kernel-stack', '--user-stack=none'],
                    ['--stacks', '--kernel-stack', '--no-kernel-stack']):
        equal(run('record', '-d', '0.1', '-o', tmp + '/t.fxt', *options).returncode, 2, f'{options}')


if __name__ == '__main__':
    sys.exit(main('stacks'))
