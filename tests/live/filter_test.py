#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of filters: what a filtered recording has, against another of the same run that has all.

    filter_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import atexit
import bisect
import collections
import contextlib
import glob
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, SCALE, Instance, cgroup, children_of, equal, expect, helper, last_cpu, load, main,  # noqa: E402
                     note, record, run, scaled, start, test, until, verify)
from account import players  # noqa: E402
import fxtread  # noqa: E402, where trace.py found it

ROUNDS = scaled(5000)
LARGE = '-m', '32M'
CLOSE_NS = 1_000_000 / SCALE        # between two programs at one tracepoint, unless the CPU is taken away there

# Two threads hand a token back and forth once they are asked to; prints their ids before.
PLAY = r'''
import ctypes, os, sys, threading
def play(name, get, put):
    ctypes.CDLL(None).prctl(15, name.encode())
    tids.append(threading.get_native_id())
    ready.wait()
    for _ in range(int(sys.argv[1])):
        os.read(get, 1)
        os.write(put, b'x')
tids, ready, there, back = [], threading.Barrier(3), os.pipe(), os.pipe()
threads = [threading.Thread(target=play, args=args)
           for args in ((f'play{os.getpid()}-A', back[0], there[1]), (f'play{os.getpid()}-B', there[0], back[1]))]
for t in threads:
    t.start()
    while len(tids) < threads.index(t) + 1: pass
ready.wait()
print(*tids, flush=True)
sys.stdin.readline()
os.write(back[1], b'x')
for t in threads: t.join()
'''

# Sleeps and spins.
NOISE = r'''
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
while True:
    for _ in range(20): time.sleep(float(sys.argv[2]))
    end = time.monotonic() + 0.005
    while time.monotonic() < end: pass
'''


class Recording:
    """kfxt record until it is ended, and then what it recorded; its rings do not fill while it waits for a CPU."""

    def __init__(self, path, *args):
        self.path, self.may_lose = path, '-m' in args
        self.process = start(path, *(() if self.may_lose else LARGE), *args)
        atexit.register(self.process.kill)      # of a test that fails

    def end(self):
        self.process.send_signal(signal.SIGINT)
        err = self.process.communicate(timeout=3 * PATIENCE)[1].decode()
        equal(self.process.returncode, 0, err)
        verify(self.path)
        return load(self.path) if self.may_lose else load_whole(self.path, err)


def load_whole(path, err=''):
    """A trace of which nothing was lost but what the kernel kept to itself."""
    t = load(path)
    equal(t.ledger_sum('lost_switches', 'lost_wakeups', 'lost_calls'), 0,
          f'lost, rings of {t.events["start"][1]["ring_bytes"]} bytes, {t.ledger} {err}')
    return t


@contextlib.contextmanager
def noise():
    """Threads that nobody asks for, on every CPU."""
    others = [subprocess.Popen([sys.executable, '-c', NOISE, str(cpu), str(0.0001 / SCALE**2)]) for cpu in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for p in others:
            p.kill()
            p.wait()


@contextlib.contextmanager
def script(code, *args):
    """A Python program that says one line and waits for one; ended if it does not end."""
    p = subprocess.Popen([sys.executable, '-c', code, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        p.told = [int(word) for word in p.stdout.readline().split()]
        yield p
    finally:
        p.kill()
        p.communicate()


def move(pid, path):
    with open(path + '/cgroup.procs', 'w') as f:
        f.write(str(pid))


# ---- one against the other ---------------------------------------------------------------

def tid_of(koid):
    """Recordings of different length count an id's lives differently."""
    return koid % 10_000_000


def ends(trace):
    """By CPU, from when to when it was recorded."""
    marks = {(s.cpu, s.mark): s.ts for s in trace.switches if s.mark in ('start', 'stop')}
    return {cpu: (marks[cpu, 'start'], marks[cpu, 'stop']) for cpu, _ in marks}


def wanted_of(trace, touches):
    """By CPU, (time, switch) of the real ones in order that @touches says yes to."""
    found = collections.defaultdict(list)
    for s in trace.real():
        if touches(s):      # between the two, a dead thread may be buried
            found[s.cpu].append((s.ts, (tid_of(s.out), tid_of(s.into), s.state.replace('Z', 'X'), s.prios)))
    return found


def untold(*traces):
    """What the kernel did not report, as far as it is known."""
    return sum(t.ledger_sum('prog_skipped', 'unreported_wakeups', 'unreported_switches') for t in traces)


def absent(t):
    """As many more where no gap shows it: by the kernel's own count."""
    return untold(t) + t.ledger_sum('procstat_excess_switches')


def agree(part, whole, got, wanted, what):
    """Where the kernel skipped programs or did not tell something (7.x), it may have done so to one of the two."""
    missed = untold(part, whole)
    got_, wanted_ = collections.Counter(got), collections.Counter(wanted)
    if missed and sum((got_ - wanted_).values()) + sum((wanted_ - got_).values()) <= 2 * missed:
        return
    at = next((i for i, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
    equal(got[at:at + 3], wanted[at:at + 3], f'{what}, the {at}th of {len(got)} ({missed} untold)')


class Moments:
    """When the CPUs switched, by the recording that has all. Its program runs first, and reads its clock first."""

    def __init__(self, whole):
        self.of_cpu = collections.defaultdict(list)
        for s in whole.switches:
            self.of_cpu[s.cpu].append(s.ts)

    def same(self, cpu, first, then):
        """Whether these are of one switch: close, or nothing else happened in between, in which the CPU was away."""
        times = self.of_cpu[cpu]
        return abs(then - first) < CLOSE_NS or \
            first <= then and bisect.bisect(times, first) == bisect.bisect(times, then)

    def any_same(self, cpu, firsts, then):
        at = bisect.bisect(firsts, then)
        return any(self.same(cpu, first, then) for first in firsts[max(at - 1, 0):at + 1])

    def has_same(self, cpu, first, thens):
        at = bisect.bisect(thens, first)
        return any(self.same(cpu, first, then) for then in thens[max(at - 1, 0):at + 1])


def check_tracks(whole, part, wanted):
    """Each thread not selected is there once before or after a selected one, from its switch-in or to its switch-out."""
    came, left = collections.defaultdict(list), collections.defaultdict(list)
    for s in whole.switches:
        came[s.cpu, tid_of(s.into)].append(s.ts)
        left[s.cpu, tid_of(s.out)].append(s.ts)
    for cpu, (begin, _) in ends(part).items():      # running there already
        for who in {tid_of(s.into) for s in part.switches if s.cpu == cpu and s.ts == begin}:
            bisect.insort(came[cpu, who], begin)
    since, opened, wrong, moments = {}, 0, [], Moments(whole)
    for s in part.switches:
        out, into = tid_of(s.out), tid_of(s.into)
        if s.mark == 'filter':
            opened += 1
            if out and not moments.any_same(s.cpu, left[s.cpu, out], s.ts):
                wrong.append(f'{out} does not leave at {s.ts}')
            if into and not moments.any_same(s.cpu, came[s.cpu, into], s.ts):
                wrong.append(f'{into} does not come at {s.ts}')
        before = since.get(s.cpu)
        if out and out not in wanted and 'gap' not in (s.mark, before and before.mark):
            expect(before and not (before.mark and s.mark), f'{out} is on CPU {s.cpu} for no reason until {s.ts}')
            equal(s.filtered, not s.mark, f'what is told of {out}, which leaves at {s.ts}')
        since[s.cpu] = s
    expect(len(wrong) <= 2 * untold(whole, part), f'{len(wrong)} moments, such as {wrong[:3]}')
    return opened


def same(whole, part, tids):
    """@part has of the threads @tids all that @whole has, and nothing else but the threads before and after them."""
    wanted = set(tids)
    theirs = wanted_of(whole, lambda s: {tid_of(s.out), tid_of(s.into)} & wanted)
    ours = wanted_of(part, lambda s: True)
    missed = untold(part, whole)
    for cpu, (begin, end) in ends(part).items():
        got = [s for _, s in ours[cpu]]
        all_ = [(ts, s) for ts, s in theirs[cpu] if ts > begin]
        if ours[cpu] and ours[cpu][0][0] == begin:      # it began with a switch
            all_ = [(ts, s) for ts, s in theirs[cpu] if ts <= begin][-1:] + all_
        agree(part, whole, got, [s for _, s in all_[:len(got)]], f'switches of CPU {cpu}')
        # In the last one the recorder may end between the two programs.
        last = max((s.ts for s in whole.real() if s.cpu == cpu and s.ts <= end), default=0)
        more = [ts for ts, _ in all_[len(got):] if ts < end - CLOSE_NS and ts != last]
        expect(len(more) <= missed, f'switches of CPU {cpu} that are not there ({missed} untold): {more[:5]}')
        equal(part.ledger[cpu]['switches'], len(got), f'switches of CPU {cpu}, ledger')
        seen = sum(begin < s.ts <= end for s in whole.real() if s.cpu == cpu)
        told = sum(part.ledger[cpu][name] for name in ('switches', 'lost_switches', 'filtered_switches'))
        expect(abs(seen - told) <= 2 + missed, f'CPU {cpu}: {seen} switches, of which {told} are told of')
    for tid in wanted:
        got, all_ = (sorted((w.ts, tid_of(w.waker), w.cpu, w.prio) for w in t.wakeups if tid_of(w.tid) == tid)
                     for t in (part, whole))
        all_ = [w for w in all_ if w[0] > part.events['start'][0]]
        agree(part, whole, [w[1:] for w in got], [w[1:] for w in all_[:len(got)]], f'wakeups of {tid}')
        more = [w for w in all_[len(got):] if w[0] < part.events['stop'][0] - CLOSE_NS]
        expect(len(more) <= missed, f'wakeups of {tid} not there ({missed} untold): {more[:3]} beside {got[-2:]}')
    equal({tid_of(w.tid) for w in part.wakeups} - wanted, set(), 'who else is woken')
    equal(dict(part.sense()), {}, 'contradictions')
    equal(part.unnamed(), [], 'threads without a name')
    opened = check_tracks(whole, part, wanted)
    note(f'{sum(map(len, ours.values()))} of {len(whole.real())} switches, {len(part.wakeups)} of {len(whole.wakeups)} '
         f'wakeups, {opened} marks')


def compare(tmp, choose, setup=lambda play: None):
    """@choose: from the program to (options, ids that these stand for)."""
    with noise(), script(PLAY, str(ROUNDS)) as play:
        setup(play)
        options, tids = choose(play)
        whole = Recording(tmp + '/whole.fxt')
        part = Recording(tmp + '/part.fxt', *options)
        play.communicate('go\n', timeout=3 * PATIENCE)
        part, whole = part.end(), whole.end()
    same(whole, part, tids)
    for tid in tids:
        # They need not alternate: a token may be there before it is waited for.
        expect(play.pid == tid or len(part.outs(tid)) > ROUNDS / 10, f'{tid} ran {len(part.outs(tid))} times')


# ---- each selector -----------------------------------------------------------------------

@test
def threads_of_a_process(tmp):
    compare(tmp, lambda p: (['-p', f'{p.pid},{p.pid}'], [p.pid, *p.told]))


@test
def one_thread(tmp):
    compare(tmp, lambda p: (['-t', str(p.told[1])], [p.told[1]]))


@test
def threads_by_name(tmp):
    compare(tmp, lambda p: (['--comm', f'pl?y{p.pid}*[!B]'], [p.told[0]]))


@test
def any_of_several(tmp):
    compare(tmp, lambda p: (['-t', str(p.told[0]), '--comm', 'none', '--comm', f'*{p.pid}-B'], p.told))


@test
def threads_of_a_cgroup(tmp):
    with cgroup() as path:
        compare(tmp, lambda p: (['--cgroup', path], [p.pid, *p.told]), lambda p: move(p.pid, path + '/below'))


@test
def threads_of_a_container(tmp):
    """By its id, and by the unit that it is in; another container in another unit is not recorded."""
    container = '0123456789ab' + 'cdef' * 13
    with cgroup() as path:
        inside, other = f'{path}/kfxt-test.service/libpod-payload-{container}', f'{path}/kfxt-other.service/libpod-{"f" * 64}'
        os.makedirs(inside)
        os.makedirs(other)
        by_id, by_unit = f'container={container[:12]}', 'unit=kfxt-t*.service'
        for place, word, tids in (inside, by_id, 1), (other, by_id, 0), (inside, by_unit, 1):
            sub = tempfile.mkdtemp(dir=tmp)
            compare(sub, lambda p: (['--cgroup', word], [p.pid, *p.told] * tids), lambda p: move(p.pid, place))
        for word, why in (('container=0123', 'first 12 digits'), ('container=eeeeeeeeeeee', 'there is none'),
                          ('unit=kfxt-none.service', 'there is none')):
            r = run('record', '-o', tmp + '/none.fxt', '--cgroup', word, '--', 'true')
            expect(r.returncode == 2 and why in r.stderr.decode(), f'{word}: {r.returncode} {r.stderr.decode()}')


# Enters a cgroup, and once the recorder has had time to see it, sleeps some times.
ENTER = 'echo $$ >"$0/cgroup.procs"; sleep "$1"; for i in 1 2 3 4 5; do sleep 0.01; done; echo $$ >"$2/cgroup.procs"'


def made_later(tmp, how):
    """One that is made anew, more in turn than there is place for; and one that there is not at the beginning."""
    later = 0.05 * PATIENCE / 30
    for name, options in ('all.fxt', []), ('%Y%m%dT%H%M%SZ-%t.fxt', ['--keep', '10m']):
        with cgroup() as path:
            unit, other, below = (f'{path}/kfxt-{name}' for name in ('test.service', 'other.service', 'test.service/inner'))
            os.mkdir(other)
            if not options:
                os.mkdir(unit)
            word = unit if how == 'directory' else 'unit=kfxt-t*.service'
            p = start(f'{tmp}/{name}', *LARGE, '--cgroup', word, *options)
            mine, others = [], []
            for turn in range(12):
                if os.path.exists(unit):
                    os.rmdir(unit)
                os.makedirs(below if turn % 2 else unit)
                for place, pids in (below if turn % 2 else unit, mine), (other, others):
                    child = subprocess.Popen(['sh', '-c', ENTER, place, str(later), path])
                    pids.append(child.pid)
                    child.wait()
                if turn % 2:
                    os.rmdir(below)
            p.send_signal(signal.SIGINT)
            err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        equal(p.returncode, 0, err)
        equal(f'{word}: there is none yet' in err, bool(options), err)
        path, = glob.glob(tmp + '/*.fxt')
        verify(path)
        part = load_whole(path)
        os.unlink(path)
        ran = collections.Counter(tid_of(s.out) for s in part.real())
        equal([ran[pid] for pid in others], [0] * 12, 'switches out of those in another unit')
        expect(all(ran[pid] >= 5 for pid in mine), f'switches out of those in the unit: {[ran[pid] for pid in mine]}')
        expect('late' not in part.events, f'it says: {part.events.get("late")}')


@test
def units_made_later(tmp):
    made_later(tmp, 'unit')


@test
def directories_made_later(tmp):
    made_later(tmp, 'directory')


@test
def more_cgroups_than_places(tmp):
    """That is said, and that not all are recorded is no complete recording."""
    with cgroup() as path:
        units = [f'{path}/kfxt-t{i}.service' for i in range(10)]
        os.mkdir(units[0])
        r = run('record', '-o', tmp + '/none.fxt', '--cgroup', 'unit=kfxt-n*.service', '--', 'true')
        expect(r.returncode == 2 and 'there is none' in r.stderr.decode(), f'{r.returncode} {r.stderr.decode()}')
        p = start(tmp + '/t.fxt', '--strict', '--cgroup', 'unit=kfxt-t*.service', '--stats-file', tmp + '/stats')
        for unit in units[1:]:
            os.mkdir(unit)
        time.sleep(0.05 * PATIENCE / 30)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
    expect(p.returncode in (3, 4), f'exit code {p.returncode}: {err}')
    expect('kfxt-t8.service first: at most 8 at once' in err, err)
    with open(tmp + '/stats', encoding='utf-8') as f:
        equal([late['source'] for late in json.load(f)['late']], ['cgroups'], 'late, in the statistics')
    verify(tmp + '/t.fxt')


@test
def nobody(tmp):
    compare(tmp, lambda p: (['--comm', 'kfxt-nobody'], []))


@test
def of_one_cpu(tmp):
    cpu = last_cpu()
    with script(PLAY, str(ROUNDS)) as play:
        part = Recording(tmp + '/t.fxt', '-p', str(play.pid), '-C', str(cpu))
        play.communicate('go\n', timeout=3 * PATIENCE)
        part = part.end()
    equal({s.cpu for s in part.switches}, {cpu}, 'CPUs')
    mine = {play.pid, *play.told}
    equal([s for s in part.real() if not {s.out, s.into} & mine], [], 'switches of others')


def record_storm(tmp):
    """All, those that follow, and their ids; again where one had not run by the end of the storm: it tells none then."""
    end = time.monotonic() + PATIENCE
    while True:
        whole = Recording(tmp + '/whole.fxt')
        out = record(tmp + '/part.fxt', *LARGE, '--follow', '--', helper('storm'), 'quick', str(scaled(1000)))
        whole, part = whole.end(), load_whole(tmp + '/part.fxt')
        verify(tmp + '/part.fxt')
        pids = {int(line) for line in out.split()}
        if 0 not in pids:
            return whole, part, pids
        expect(time.monotonic() < end, f'{out.split().count("0")} have not run each time')


def ended_before(trace, ts):
    return {tid_of(s.out) for s in trace.real() if s.state in ('X', 'Z') and s.ts < ts}


@test
def descendants(tmp):
    """Each of them lives for microseconds."""
    whole, part, pids = record_storm(tmp)
    # And the storm itself, whose last switch may come after the end; a child's command line is the same.
    storm = {tid_of(koid) for koid, text in part.cmdlines.items() if text.startswith(helper('storm') + ' quick')} - pids
    equal(len(storm), 1, 'storms')
    # Nobody waits for the last ones, which may outlive the recording.
    stop = min(end for _, end in ends(part).values())
    dead, missed = ended_before(whole, stop) & pids, absent(part) + untold(whole)
    missing = dead - ended_before(part, float('inf'))
    expect(len(missing) <= absent(part), f'who has no end: {sorted(missing)[:5]} ({absent(part)} untold)')
    expect(len(dead) >= scaled(1000) - missed, f'{len(dead)} of {len(pids)} have an end ({missed} untold)')
    same(whole, part, pids | storm)


@test
def helpers_of_the_recorder(tmp):
    """They are its children, too, but not what is followed; also when they run while it records."""
    recording = Recording(tmp + '/t.fxt', '--follow', '--', 'sleep', '600')
    child = {name: pid for pid, name in children_of(recording.process.pid).items()}
    for sent in (signal.SIGSTOP, signal.SIGCONT) * 5:
        os.kill(child['kfxt-markers'], sent)
        time.sleep(0.01)
    t = recording.end()
    equal([s for s in t.real() if tid_of(s.out) == child['kfxt-markers'] and not s.filtered], [], 'switches of kfxt-markers')
    expect([s for s in t.real() if tid_of(s.out) == child['sleep']], 'no switch of the command')


@test
def descendants_of_a_thread_that_executes(tmp):
    out = record(tmp + '/t.fxt', *LARGE, '--follow', '--', 'sh', '-c',
                 f'(echo $$; {helper("storm")} 40 {tmp}) & wait; {sys.executable} -c "import os; print(os.getpid())"')
    t = load_whole(tmp + '/t.fxt')
    verify(tmp + '/t.fxt')
    missing = {int(line.split()[0]) for line in out.splitlines()} - {tid_of(s.out) for s in t.real() if not s.filtered}
    expect(len(missing) <= absent(t), f'who is not there: {sorted(missing)[:5]} ({absent(t)} untold)')


# ---- what changes ------------------------------------------------------------------------

# On and off by turns, with switches in each; tells from when to when it was on at least, and at most.
TURNS = r'''
import ctypes, os, sys, time
now = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME)
def rename(on): ctypes.CDLL(None).prctl(15, b'kfxt-on' if on else b'kfxt-off')
def moved(on):
    print(int(on), flush=True)
    sys.stdin.readline()
turn = globals()[sys.argv[1]]
print(os.getpid(), flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    begun = now()
    turn(True)
    on = now()
    for _ in range(20): time.sleep(0)
    for _ in range(3): time.sleep(float(sys.argv[3]))
    off = now()
    turn(False)
    ended = now()
    for _ in range(20): time.sleep(0)
    for _ in range(3): time.sleep(float(sys.argv[3]))
    print('turn', begun, on, off, ended, flush=True)
print('end', flush=True)
'''


def by_turns(tmp, how, turn, options):
    """Of one thread that is selected by turns: what is there, and nothing from between."""
    with noise(), script(TURNS, how, str(scaled(100)), str(0.0005 / SCALE)) as p:
        whole, part = Recording(tmp + '/whole.fxt'), Recording(tmp + '/part.fxt', *options)
        p.stdin.write('go\n')
        p.stdin.flush()
        turns = []
        for line in iter(p.stdout.readline, 'end\n'):
            if line.startswith('turn'):
                turns.append([int(word) for word in line.split()[1:]])
            else:
                turn(p.pid, int(line))
                p.stdin.write('done\n')
                p.stdin.flush()
        p.communicate(timeout=3 * PATIENCE)
        part, whole = part.end(), whole.end()
    equal(dict(part.sense()), {}, 'contradictions')
    got, all_ = ([s.ts for s in t.real() if tid_of(s.out) == p.pid and not s.filtered] for t in (part, whole))
    of_cpu = {s.ts: s.cpu for s in whole.real() if tid_of(s.out) == p.pid}
    missed, moments, missing = untold(part, whole), Moments(whole), []
    for begun, on, off, ended in turns:
        inside = [ts for ts in all_ if on < ts < off]
        expect(inside or missed, 'it did not sleep')
        missing += [ts for ts in inside if not moments.has_same(of_cpu[ts], ts, got)]
    expect(len(missing) <= missed, f'switches while it was wanted ({missed} untold): {missing[:5]}')
    bounds = sorted((begun, ended) for begun, _, _, ended in turns)
    for ts in got:
        at = bisect.bisect(bounds, (ts, 0)) - 1
        expect(at >= 0 and ts <= bounds[at][1] + CLOSE_NS, f'it leaves at {ts}, when it is not wanted')
    expect(sum(s.filtered for s in part.switches) or part.switches, 'nothing')
    note(f'{len(got)} of {len(all_)} switches of {p.pid}')


@test
def names_that_change(tmp):
    by_turns(tmp, 'rename', None, ['--comm', 'kfxt-on'])


@test
def cgroups_that_change(tmp):
    with cgroup() as path:
        by_turns(tmp, 'moved', lambda pid, on: move(pid, path if on else os.path.dirname(path)), ['--cgroup', path])


@test
def programs_by_name(tmp):
    """A name that comes with exec, of processes that may run but once."""
    loop = f'i=0; while [ $i -lt {scaled(300)} ]; do /bin/true; i=$((i+1)); done'
    whole = Recording(tmp + '/whole.fxt')
    record(tmp + '/part.fxt', *LARGE, '--comm', 'true', '--', 'sh', '-c', loop)
    whole, part = whole.end(), load_whole(tmp + '/part.fxt')
    verify(tmp + '/part.fxt')
    equal(dict(part.sense()), {}, 'contradictions')
    true = {koid for koid, (name, _) in part.threads.items() if name == 'true'}
    missed = absent(part) + untold(whole)
    expect(len(true) >= scaled(300) - missed, f'only {len(true)} processes ({missed} untold)')
    equal([s for s in part.real() if not {s.out, s.into} & true], [], 'switches of others')
    stop, moments = part.events['stop'][0], Moments(whole)
    last = {tid_of(s.out): s for s in whole.real() if s.ts < stop}
    ours = {s.out: s.ts for s in part.real() if s.ts < stop}
    wrong = [koid for koid in true if tid_of(koid) not in last or
             not moments.same(last[tid_of(koid)].cpu, last[tid_of(koid)].ts, ours.get(koid, 0))]
    expect(len(wrong) <= missed, f'last switches ({missed} untold): {wrong[:5]}')


# ---- when rings are full, other sources, bad choices -------------------------------------

@test
def losses_beside_filters(tmp):
    """Rings that are too small, so that what is left out, what is lost and what is there take turns."""
    def switches():
        with open(f'/proc/{play.pid}/task/{play.told[0]}/status') as f:
            return sum(int(line.split()[1]) for line in f if 'ctxt_switches' in line)

    def wait_for_switches():
        before = switches()
        until(lambda: switches() > before + 200, f'it does not play, {switches()} switches')     # three times a ring
    with noise(), script(PLAY, str(1000 * ROUNDS)) as play:     # without an end
        recorder = Recording(tmp + '/t.fxt', '-m', '4K', '-t', str(play.told[0]))
        play.stdin.write('go\n')
        play.stdin.flush()
        for _ in range(5):
            recorder.process.send_signal(signal.SIGSTOP)
            wait_for_switches()
            recorder.process.send_signal(signal.SIGCONT)
            wait_for_switches()
        t = recorder.end()
    equal(dict(t.sense()), {}, 'contradictions')
    expect(any(s.mark == 'gap' for s in t.switches) and t.ledger_sum('lost_switches'), f'nothing was lost: {t.ledger}')
    note(f'{t.ledger_sum("switches")} switches, {t.ledger_sum("lost_switches")} lost, '
         f'{t.ledger_sum("filtered_switches")} filtered')


@test
def calls_of_wanted_threads(tmp):
    code = 'import os, subprocess, sys\nprint(os.getpid(), flush=True)\nsys.stdin.readline()\n' \
        f'os.execv({helper("calls")!r}, ["calls", "chain=300", "threads=3"])\n'
    with script(code) as mine, script(code) as other:
        part = Recording(tmp + '/t.fxt', '-p', str(mine.pid), '-u', helper('calls') + ':inner')
        out = mine.communicate('go\n', timeout=3 * PATIENCE)[0]
        others = other.communicate('go\n', timeout=3 * PATIENCE)[0]
        equal(*([line.split()[1:] for line in text.splitlines()] for text in (others, out)), 'calls of the other')
        part = part.end()
    wanted = {int(line.split()[0]): int(line.split()[2]) for line in out.splitlines() if ' inner ' in line}
    equal(collections.Counter(c.tid for c in part.calls), wanted, 'calls by thread')
    expect(len(wanted) == 3, out)


@test
def returns_of_wanted_threads(tmp):
    record(tmp + '/t.fxt', *LARGE, '--follow', '-u', helper('calls') + ':inner', '--returns', '--',
           helper('calls'), 'chain=200', 'threads=2')
    t = load_whole(tmp + '/t.fxt')
    verify(tmp + '/t.fxt')
    equal(sorted(collections.Counter(c.tid for c in t.calls).values()), [200, 200], 'calls by thread')


@test
def lines_of_wanted_threads(tmp):
    with open('/dev/kmsg', 'wb', buffering=0) as other:
        whole = Recording(tmp + '/whole.fxt')
        tag = f'kfxt-filter-{os.getpid()}'
        part = Recording(tmp + '/part.fxt', '--comm', f'prn-{os.getpid()}*')
        other.write(f'{tag} of another\n'.encode())
        subprocess.run(['sh', '-c', f'echo "<3>{tag} mine" >/dev/kmsg'], executable=link(tmp, f'prn-{os.getpid()}'),
                       check=True)
        part, whole = part.end(), whole.end()
    lines = [[rec['log_message'] for rec in fxtread.read(path) if rec['type'] == 'log' and tag in rec['log_message']]
             for path in (tmp + '/whole.fxt', tmp + '/part.fxt')]
    equal(lines, [[f'{tag} of another', f'{tag} mine'], [f'{tag} mine']], 'lines of the log')
    equal(part.ledger_sum('logs'), 1, 'lines, ledger')


@test
def markers_of_wanted_threads(tmp):
    """By the kernel's copies, of which user space chooses, or by the program."""
    marker = '/sys/kernel/tracing/trace_marker'
    Instance()      # mounts tracefs
    whole = Recording(tmp + '/whole.fxt', '-e', 'marker')
    part = Recording(tmp + '/part.fxt', '-e', 'marker', '--comm', f'mrk-{os.getpid()}*')
    tag = f'kfxt-filter-{os.getpid()}'
    subprocess.run(['sh', '-c', f'echo "{tag} of another" >{marker}'], check=True)
    subprocess.run(['sh', '-c', f'echo "{tag} mine" >{marker}'], executable=link(tmp, f'mrk-{os.getpid()}'), check=True)
    part.end(), whole.end()
    texts = [[dict((n, v) for n, _, v in rec['arguments']).get('text', '') for rec in fxtread.read(path)
              if rec['type'] == 'event' and rec['name'] == 'print'] for path in (tmp + '/whole.fxt', tmp + '/part.fxt')]
    equal([[t for t in each if tag in t] for each in texts], [[f'{tag} of another', f'{tag} mine'], [f'{tag} mine']],
          'markers')


def link(tmp, name):
    """The shell under another name."""
    os.symlink(os.path.realpath('/bin/sh'), f'{tmp}/{name}')
    return f'{tmp}/{name}'


BY_THE_KERNEL = (b'not reported by the kernel', b'recorded where the thread ran', b'the kernel did not run a program')


@test
def options_of_a_file(tmp):
    """They hold as those of the command line do, which replace single values and add to lists."""
    with open(tmp + '/conf', 'w') as f:
        f.write(f'# one of each\noutput {tmp}/t.fxt\nduration 1ms\ncompress gzip:9\nevent irq\n'
                'event !log\ncomm no such name\nring-size 32M\nstrict\n')
    r = run('record', '--config', tmp + '/conf', '-d', str(3 * PATIENCE), '--comm', 'pingpong', '--',
            helper('pingpong'), str(ROUNDS), str(last_cpu()))
    # What the kernel does not report is lost, and the file says --strict.
    by_the_kernel = any(text in r.stderr for text in BY_THE_KERNEL)
    equal(r.returncode, 3 if by_the_kernel else 0, r.stderr.decode())
    verify(tmp + '/t.fxt')
    with gzip.open(tmp + '/t.fxt') as packed, open(tmp + '/plain.fxt', 'wb') as plain:
        plain.write(packed.read())
    t, mine = load(tmp + '/plain.fxt'), players(r.stdout.decode())
    missed = absent(t)
    for player in mine:
        got, wanted = len(t.outs(player.tid, player.end)), player.voluntary + player.involuntary
        expect(wanted - missed <= got <= wanted, f'{got} of {wanted} switches of {player.tid} ({missed} untold)')
    found = {rec['category'] for rec in fxtread.read(tmp + '/plain.fxt') if rec['type'] == 'event'}
    # In so short a time there may be no interrupts but those of timers.
    expect(found & {'irq', 'irq_vectors'} and 'log' not in found, f'categories of events: {found}')


@test
def bad_choices(tmp):
    thread = next(int(t) for t in os.listdir('/proc/self/task'))
    for text, *args in (
            ('no process 4194303', '-p', '4194303'), ('no thread 4194303', '-t', f'{thread},4194303'),
            ('-p 12x', '-p', '12x'), ('-t ', '-t', '1,'), ('--follow needs a command', '--follow'),
            ('--comm 0123456789abcdef: matches nothing', '--comm', '0123456789abcdef'),
            ('--comm: is empty', '--comm', ''),
            ('--cgroup /no/such: No such file', '--cgroup', '/no/such'),
            ('--cgroup /proc: not a directory of the cgroup v2', '--cgroup', '/proc')):
        r = run('record', '-o', tmp + '/t.fxt', '-d', '1', *args)
        equal((r.returncode, os.path.exists(tmp + '/t.fxt')), (2, False), f'{args}: {r.stderr.decode()}')
        expect(text in r.stderr.decode(), f'{args}: {r.stderr.decode()}')
        equal(len(r.stderr.decode().splitlines()), 1, 'sentences')


if __name__ == '__main__':
    sys.exit(main('filter'))
