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
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, SCALE, Skip, equal, expect, helper, last_cpu, load, main, note,  # noqa: E402
                     record, run, scaled, test, until, verify)
import fxtread  # noqa: E402, where trace.py found it

ROUNDS = scaled(5000)
CLOSE_NS = 1_000_000 / SCALE        # between two programs at one tracepoint
CGROUPS = '/sys/fs/cgroup/unified', '/sys/fs/cgroup'

# Two threads hand a token back and forth once they are told to; tells their ids before.
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
           for args in (('play-A', back[0], there[1]), ('play-B', there[0], back[1]))]
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
    """kfxt record until it is ended, and then what it recorded."""

    def __init__(self, path, *args):
        self.path = path
        self.process = subprocess.Popen([KFXT, 'record', '-o', path, *args], stderr=subprocess.PIPE)
        atexit.register(self.process.kill)      # of a test that fails
        until(lambda: os.path.exists(path) and os.path.getsize(path) > 4096 or self.process.poll() is not None,
              'recording does not start')

    def end(self):
        self.process.send_signal(signal.SIGINT)
        err = self.process.communicate(timeout=PATIENCE)[1].decode()
        equal(self.process.returncode, 0, err)
        verify(self.path)
        return load(self.path)


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


@contextlib.contextmanager
def cgroup():
    """A new cgroup of the v2 hierarchy with another one below."""
    top = [path for path in CGROUPS if os.path.exists(path + '/cgroup.procs')]
    own = None
    if not top:
        own = f'/tmp/kfxt-cgroup-{os.getpid()}'
        os.mkdir(own)
        if subprocess.run(['mount', '-t', 'cgroup2', 'none', own], capture_output=True).returncode:
            os.rmdir(own)
            raise Skip('no cgroup v2 hierarchy')
    path = f'{(top or [own])[0]}/kfxt-test-{os.getpid()}'
    os.makedirs(path + '/below')
    try:
        yield path
    finally:
        until(lambda: not open(path + '/below/cgroup.procs').read() + open(path + '/cgroup.procs').read(), 'in use')
        os.rmdir(path + '/below')
        os.rmdir(path)
        if own:
            subprocess.run(['umount', own], check=True)
            os.rmdir(own)


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


def agree(part, whole, got, wanted, what):
    """Where the kernel skipped programs or did not tell something (7.x), it may have done so to one of the two."""
    untold = sum(t.ledger_sum('skipped', 'unseen_wakeups', 'unseen_switches') for t in (part, whole))
    got_, wanted_ = collections.Counter(got), collections.Counter(wanted)
    if untold and sum((got_ - wanted_).values()) + sum((wanted_ - got_).values()) <= 2 * untold:
        return
    at = next((i for i, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
    equal(got[at:at + 3], wanted[at:at + 3], f'{what}, the {at}th of {len(got)} ({untold} untold)')


def close(times, ts):
    at = bisect.bisect(times, ts)
    return any(abs(t - ts) < CLOSE_NS for t in times[max(at - 1, 0):at + 1])


def check_tracks(whole, part, wanted):
    """Each thread that nobody wants is there once before or behind a wanted one, from when it came or until it left."""
    came, left = collections.defaultdict(list), collections.defaultdict(list)
    for s in whole.switches:
        came[s.cpu, tid_of(s.into)].append(s.ts)
        left[s.cpu, tid_of(s.out)].append(s.ts)
    for cpu, (begin, _) in ends(part).items():      # who ran there already
        for who in {tid_of(s.into) for s in part.switches if s.cpu == cpu and s.ts == begin}:
            bisect.insort(came[cpu, who], begin)
    since, opened = {}, 0
    for s in part.switches:
        out, into = tid_of(s.out), tid_of(s.into)
        if s.mark == 'filter':
            opened += 1
            expect(not out or close(left[s.cpu, out], s.ts), f'{out} does not leave at {s.ts}')
            expect(not into or close(came[s.cpu, into], s.ts), f'{into} does not come at {s.ts}')
        before = since.get(s.cpu)
        if out and out not in wanted and 'gap' not in (s.mark, before and before.mark):
            expect(before and not (before.mark and s.mark), f'{out} is on CPU {s.cpu} for no reason until {s.ts}')
            equal(s.filtered, not s.mark, f'what is told of {out}, which leaves at {s.ts}')
        since[s.cpu] = s
    return opened


def same(whole, part, tids):
    """@part has of the threads @tids all that @whole has, and nothing else but who was before and behind them."""
    wanted = set(tids)
    theirs = wanted_of(whole, lambda s: {tid_of(s.out), tid_of(s.into)} & wanted)
    ours = wanted_of(part, lambda s: True)
    for cpu, (begin, end) in ends(part).items():
        got = [s for _, s in ours[cpu]]
        all_ = [(ts, s) for ts, s in theirs[cpu] if ts > begin]
        if ours[cpu] and ours[cpu][0][0] == begin:      # it began with a switch
            all_ = [(ts, s) for ts, s in theirs[cpu] if ts <= begin][-1:] + all_
        agree(part, whole, got, [s for _, s in all_[:len(got)]], f'switches of CPU {cpu}')
        equal([ts for ts, _ in all_[len(got):] if ts < end - CLOSE_NS], [], f'switches of CPU {cpu} that are not there')
        equal(part.ledger[cpu]['switches'], len(got), f'switches of CPU {cpu}, ledger')
        seen = sum(begin < s.ts <= end for s in whole.real() if s.cpu == cpu)
        told = sum(part.ledger[cpu][name] for name in ('switches', 'lost_switches', 'filtered_switches'))
        expect(abs(seen - told) <= 2, f'CPU {cpu}: {seen} switches, of which {told} are told of')
    for tid in wanted:
        got, all_ = (sorted((w.ts, tid_of(w.waker), w.cpu, w.prio) for w in t.wakeups if tid_of(w.tid) == tid)
                     for t in (part, whole))
        all_ = [w for w in all_ if w[0] > part.events['start'][0]]
        agree(part, whole, [w[1:] for w in got], [w[1:] for w in all_[:len(got)]], f'wakeups of {tid}')
        equal([w for w in all_[len(got):] if w[0] < part.events['stop'][0] - CLOSE_NS], [],
              f'wakeups of {tid} not there beside {got[-2:]}')
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
        expect(play.pid == tid or len(part.outs(tid)) > ROUNDS / 2, f'{tid} hardly ran')


# ---- each selector -----------------------------------------------------------------------

@test
def threads_of_a_process(tmp):
    compare(tmp, lambda p: (['-p', f'{p.pid},{p.pid}'], [p.pid, *p.told]))


@test
def one_thread(tmp):
    compare(tmp, lambda p: (['-t', str(p.told[1])], [p.told[1]]))


@test
def threads_by_name(tmp):
    compare(tmp, lambda p: (['--comm', 'pl?y*[!B]'], [p.told[0]]))


@test
def any_of_several(tmp):
    compare(tmp, lambda p: (['-t', str(p.told[0]), '--comm', 'none', '--comm', '*-B'], p.told))


@test
def threads_of_a_cgroup(tmp):
    with cgroup() as path:
        compare(tmp, lambda p: (['--cgroup', path], [p.pid, *p.told]), lambda p: move(p.pid, path + '/below'))


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


@test
def descendants(tmp):
    """Each of them lives for microseconds."""
    whole = Recording(tmp + '/whole.fxt')
    out = record(tmp + '/part.fxt', '--follow', '--', helper('storm'), 'quick', str(scaled(1000)))
    whole, part = whole.end(), load(tmp + '/part.fxt')
    verify(tmp + '/part.fxt')
    pids = {int(line) for line in out.split()}
    # And the storm itself, whose last switch may come after the end; a child's command line is the same.
    storm = {tid_of(koid) for koid, text in part.cmdlines.items() if text.startswith(helper('storm') + ' quick')} - pids
    equal(len(storm), 1, 'storms')
    dead = {s.out for s in part.real() if s.state in ('X', 'Z')}
    equal(pids - {tid_of(koid) for koid in dead}, set(), 'who has no end')
    same(whole, part, pids | storm)


@test
def descendants_of_a_thread_that_executes(tmp):
    out = record(tmp + '/t.fxt', '--follow', '--', 'sh', '-c',
                 f'(echo $$; {helper("storm")} 40 {tmp}) & wait; {sys.executable} -c "import os; print(os.getpid())"')
    t = load(tmp + '/t.fxt')
    verify(tmp + '/t.fxt')
    ran = {s.out for s in t.real() if not s.filtered}
    for tid in {int(line.split()[0]) for line in out.splitlines()}:
        expect(tid in ran, f'{tid} is not there')


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
    """Of one thread that is wanted by turns: what is there, and nothing from between."""
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
        p.communicate(timeout=PATIENCE)
        part, whole = part.end(), whole.end()
    equal(dict(part.sense()), {}, 'contradictions')
    got, all_ = ([s.ts for s in t.real() if tid_of(s.out) == p.pid and not s.filtered] for t in (part, whole))
    for begun, on, off, ended in turns:
        inside = [ts for ts in all_ if on < ts < off]
        expect(inside, 'it did not sleep')
        equal([ts for ts in inside if not close(got, ts)], [], 'switches while it was wanted')
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
    record(tmp + '/part.fxt', '--comm', 'true', '--', 'sh', '-c', loop)
    whole, part = whole.end(), load(tmp + '/part.fxt')
    verify(tmp + '/part.fxt')
    equal(dict(part.sense()), {}, 'contradictions')
    true = {koid for koid, (name, _) in part.threads.items() if name == 'true'}
    expect(len(true) >= scaled(300), f'only {len(true)} processes')
    equal([s for s in part.real() if not {s.out, s.into} & true], [], 'switches of others')
    last = {tid_of(s.out): s.ts for s in whole.real()}
    ours = {s.out: s.ts for s in part.real()}
    equal([koid for koid in true if abs(ours.get(koid, 0) - last[tid_of(koid)]) > CLOSE_NS], [], 'last switches')


# ---- when rings are full, other sources, bad choices -------------------------------------

@test
def losses_beside_filters(tmp):
    """Rings that are too small, so that what is left out, what is lost and what is there take turns."""
    with noise(), script(PLAY, str(4 * ROUNDS)) as play:
        p = subprocess.Popen([KFXT, 'record', '-m', '4K', '-o', tmp + '/t.fxt', '-t', str(play.told[0]), '-d',
                              str(1 / SCALE)], stderr=subprocess.PIPE)
        until(lambda: os.path.exists(tmp + '/t.fxt') and os.path.getsize(tmp + '/t.fxt') > 4096, 'does not start')
        play.stdin.write('go\n')
        play.stdin.flush()
        for _ in range(5):
            p.send_signal(signal.SIGSTOP)
            time.sleep(0.05 / SCALE)
            p.send_signal(signal.SIGCONT)
            time.sleep(0.05 / SCALE)
        err = p.communicate(timeout=3 * PATIENCE)[1].decode()
        equal(p.returncode, 0, err)
    verify(tmp + '/t.fxt')
    t = load(tmp + '/t.fxt')
    equal(dict(t.sense()), {}, 'contradictions')
    expect(any(s.mark == 'gap' for s in t.switches) and t.ledger_sum('lost_switches'), 'nothing was lost')
    note(f'{t.ledger_sum("switches")} switches, {t.ledger_sum("lost_switches")} lost, '
         f'{t.ledger_sum("filtered_switches")} filtered')


@test
def calls_of_wanted_threads(tmp):
    code = 'import os, subprocess, sys\nprint(os.getpid(), flush=True)\nsys.stdin.readline()\n' \
        f'os.execv({helper("calls")!r}, ["calls", "chain=300", "threads=3"])\n'
    with script(code) as mine, script(code) as other:
        part = Recording(tmp + '/t.fxt', '-p', str(mine.pid), '-u', helper('calls') + ':inner')
        out = mine.communicate('go\n', timeout=PATIENCE)[0]
        equal(len(other.communicate('go\n', timeout=PATIENCE)[0]), len(out), 'calls of the other')
        part = part.end()
    wanted = {int(line.split()[0]): int(line.split()[2]) for line in out.splitlines() if ' inner ' in line}
    equal(collections.Counter(c.tid for c in part.calls), wanted, 'calls by thread')
    expect(len(wanted) == 3, out)


@test
def returns_of_wanted_threads(tmp):
    record(tmp + '/t.fxt', '--follow', '-u', helper('calls') + ':inner', '--exit', '--',
           helper('calls'), 'chain=200', 'threads=2')
    t = load(tmp + '/t.fxt')
    verify(tmp + '/t.fxt')
    equal(sorted(collections.Counter(c.tid for c in t.calls).values()), [200, 200], 'calls by thread')


@test
def lines_of_wanted_threads(tmp):
    with open('/dev/kmsg', 'wb', buffering=0) as other:
        whole = Recording(tmp + '/whole.fxt')
        part = Recording(tmp + '/part.fxt', '--comm', 'kfxt-print*')
        tag = f'kfxt-filter-{os.getpid()}'
        other.write(f'{tag} of another\n'.encode())
        subprocess.run(['sh', '-c', f'echo "<3>{tag} mine" >/dev/kmsg'], executable=link(tmp, 'kfxt-printer'), check=True)
        part, whole = part.end(), whole.end()
    lines = [[rec['log_message'] for rec in fxtread.read(path) if rec['type'] == 'log' and tag in rec['log_message']]
             for path in (tmp + '/whole.fxt', tmp + '/part.fxt')]
    equal(lines, [[f'{tag} of another', f'{tag} mine'], [f'{tag} mine']], 'lines of the log')
    equal(part.ledger_sum('logs'), 1, 'lines, ledger')


@test
def markers_of_wanted_threads(tmp):
    """By the kernel's copies, of which user space chooses, or by the program."""
    marker = '/sys/kernel/tracing/trace_marker'
    whole = Recording(tmp + '/whole.fxt', '-e', 'marker')
    part = Recording(tmp + '/part.fxt', '-e', 'marker', '--comm', 'kfxt-mark*')
    tag = f'kfxt-filter-{os.getpid()}'
    subprocess.run(['sh', '-c', f'echo "{tag} of another" >{marker}'], check=True)
    subprocess.run(['sh', '-c', f'echo "{tag} mine" >{marker}'], executable=link(tmp, 'kfxt-marker'), check=True)
    part.end(), whole.end()
    texts = [[dict((n, v) for n, _, v in rec['arguments']).get('text', '') for rec in fxtread.read(path)
              if rec['type'] == 'event' and rec['name'] == 'print'] for path in (tmp + '/whole.fxt', tmp + '/part.fxt')]
    equal([[t for t in each if tag in t] for each in texts], [[f'{tag} of another', f'{tag} mine'], [f'{tag} mine']],
          'markers')


def link(tmp, name):
    """The shell under another name."""
    os.symlink(os.path.realpath('/bin/sh'), f'{tmp}/{name}')
    return f'{tmp}/{name}'


@test
def bad_choices(tmp):
    thread = next(int(t) for t in os.listdir('/proc/self/task'))
    for text, *args in (
            ('no process 4194303', '-p', '4194303'), ('no thread 4194303', '-t', f'{thread},4194303'),
            ('-p 12x', '-p', '12x'), ('-t ', '-t', '1,'), ('--follow needs a command', '--follow'),
            ('--comm 0123456789abcdef: matches nothing', '--comm', '0123456789abcdef'),
            ('--cgroup /no/such: No such file', '--cgroup', '/no/such'),
            ('--cgroup /proc: is no directory of the cgroup v2', '--cgroup', '/proc')):
        r = run('record', '-o', tmp + '/t.fxt', '-d', '1', *args)
        equal((r.returncode, os.path.exists(tmp + '/t.fxt')), (2, False), f'{args}: {r.stderr.decode()}')
        expect(text in r.stderr.decode(), f'{args}: {r.stderr.decode()}')
        equal(len(r.stderr.decode().splitlines()), 1, 'sentences')


if __name__ == '__main__':
    sys.exit(main('filter'))
