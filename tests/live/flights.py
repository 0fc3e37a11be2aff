# SPDX-License-Identifier: GPL-2.0
"""A recorder that keeps a window, what makes a thread wait, and what the files say of it."""
import contextlib
import glob
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import fxtread  # noqa: E402
from harness import KFXT, PATIENCE, equal, expect, last_cpu, load, running, status_of, until, verify  # noqa: E402

PATTERN = 'f-%Y%m%dT%H%M%SZ-%t.fxt'
MS = 1_000_000
# Sleeps for 1 ms at a time, and waits for no thread but the next one: takes a CPU at a higher priority.
PRELUDE = 'import mmap, os, signal, subprocess, sys, time\n'
NAMED = 'import ctypes\nctypes.CDLL(None).prctl(15, b"%s", 0, 0, 0)\n'
WAITER = PRELUDE + NAMED % 'waiter' + '''
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
while True:
    time.sleep(0.001)
'''
# Seconds in which it runs: those in which the machine is stopped do not count.
FOR = '''
def spin(seconds):
    last = time.monotonic()
    while seconds > 0:
        now = time.monotonic()
        seconds -= min(now - last, 0.001)
        last = now
'''
# Prints from when to when.
HOG = PRELUDE + FOR + '''
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
begin = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
spin(float(sys.argv[2]))
print(begin, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
'''


def files(tmp, suffix=''):
    return sorted(glob.glob(f'{tmp}/f-*.fxt{suffix}'), key=lambda p: (os.stat(p).st_mtime_ns, p))


class Flight:
    """A recorder that keeps a window, and what it made of it."""

    def __init__(self, tmp, *args, suffix='', wrap=()):
        self.tmp, self.suffix = tmp, suffix
        self.err = open(tmp + '/err', 'w+')
        self.stats = tmp + '/stats.json'
        self.p = subprocess.Popen([*wrap, KFXT, 'record', '-o', f'{tmp}/{PATTERN}{suffix}', '--stats', 'json', '--stats-file', self.stats, *args],
                                  stderr=self.err)
        try:
            self.status()
            expect(self.p.poll() is None, self.said())
        except BaseException:
            self.p.kill()
            raise

    def status(self):
        """Of one that runs: it may be late to answer."""
        return until(lambda: self.p.poll() is not None or status_of(self.p.pid), 'no recorder that answers')

    def fired(self):
        return {t['trigger'] for t in self.status()['triggers'] if t['fired']}

    def said(self):
        with open(self.tmp + '/err') as f:
            return f.read()

    def wait_for(self, cnt, seconds=PATIENCE):
        until(lambda: len(files(self.tmp, self.suffix)) >= cnt or self.p.poll() is not None, f'no {cnt} files', seconds)
        expect(self.p.poll() is None, self.said())
        return files(self.tmp, self.suffix)

    def end(self, code=0):
        self.p.send_signal(signal.SIGTERM)
        equal(self.p.wait(PATIENCE), code, self.said())
        equal(glob.glob(self.tmp + '/*.tmp'), [], 'files that are not complete')
        with open(self.stats) as f:
            self.counts = json.load(f)
        return files(self.tmp, self.suffix)


@contextlib.contextmanager
def flight(tmp, *args, code=0, suffix='', wrap=()):
    """@wrap: what kfxt is started by, with an exec."""
    f = Flight(tmp, *args, suffix=suffix, wrap=wrap)
    try:
        yield f
        f.files = f.end(code)
    finally:
        if f.p.poll() is None:
            f.p.kill()
            f.p.wait()


def python(text, *args):
    return [sys.executable, '-c', text, *map(str, args)]


@contextlib.contextmanager
def waiter():
    """Once it waits."""
    with running(*python(WAITER, last_cpu())) as p:
        until(lambda: os.sched_getscheduler(p.pid) == os.SCHED_FIFO, 'no waiter')
        yield p


def hog(seconds):
    """From when to when it ran."""
    r = subprocess.run(python(HOG, last_cpu(), seconds), check=True, stdout=subprocess.PIPE)
    return tuple(map(int, r.stdout.split()))


def whole(path):
    """The trace, which kfxt verify and another reader find no fault with."""
    verify(path)
    t = load(path)
    equal(dict(t.sense()), {}, f'contradictions in {path}')
    return t


def instants(path):
    """The triggers in a file, as {argument: value}: on the thread that each is about, and on the recorder's own. Not what was asked for."""
    records = list(fxtread.read(path))
    process_of = {r['koid']: dict((n, v) for n, _, v in r['arguments']).get('process')
                  for r in records if r['type'] == 'kernel_object' and r['kernel_object_type'] == 2}
    found = [r for r in records if r['type'] == 'event' and (r['category'], r['name']) == ('kfxt', 'trigger')]
    for process, tid in (r['thread'] for r in found):
        equal(process, process_of.get(tid, tid), f'the process of thread {tid}')
    args = [(r['thread'][1], {name: value for name, _, value in r['arguments']}) for r in found]
    args = [(tid, a) for tid, a in args if 'thread' in a]
    all_of_them = [a for tid, a in args if tid != a['thread']]
    equal([a for a in all_of_them if a['thread']], [a for tid, a in args if tid == a['thread']], "on the recorder's thread, and on theirs")
    return all_of_them


def session(t):
    return t.events['start'][0], t.events['stop'][0]


def span_s(t):
    start_ns, stop_ns = session(t)
    return (stop_ns - start_ns) / 1e9


def longest_pause(t):
    """Seconds between two switches of the recorder."""
    recorder = next(iter(t.event_threads))[1]
    times = [s.ts for s in t.switches if recorder in (s.out, s.into)]
    return max((b - a for a, b in zip(times, times[1:])), default=0) / 1e9


def waits(t, tid):
    """When thread @tid begins to wait for its CPU, and when it gets it."""
    return ({w.ts for w in t.wakeups if w.tid == tid} | {s.ts for s in t.switches if s.out == tid and s.state in ('R', 'R+')},
            {s.ts for s in t.switches if s.into == tid})


def expect_no_wait(t, tid, end_ns, longest_ns):
    """The wait of thread @tid that ended about @end_ns is not longer than @longest_ns."""
    begins, ends = waits(t, tid)
    to = min(ends, key=lambda ts: abs(ts - end_ns))
    since = max(ts for ts in begins if ts <= to)
    expect(to - since <= longest_ns, f'thread {tid} waited for {to - since} ns, from {since} to {to}; the other says until {end_ns}')


def expect_wait(t, tid, i):
    """
    From a wakeup or a preemption of thread @tid until it runs, or goes on; what is partial may be cut by a gap of any CPU, or have
    lasted before the recording: where that begins, or one of its CPUs.
    """
    gaps = {s.ts for s in (*t.switches, *t.states.values()) if s.mark in ('gap', 'start', 'state')} if i['partial'] else set()
    begins, ends = waits(t, tid)
    expect(i['from_ns'] in begins | gaps and (i['ongoing'] or i['to_ns'] in ends | gaps),
           f'{i}: not from a wakeup or a preemption to a switch of the file: '
           f'{[x for _, _, x in t.in_order if tid in x and i["from_ns"] - MS < x.ts <= i["to_ns"]]}, gaps: {t.gaps}')
