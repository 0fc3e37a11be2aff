#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests: a recording begins and ends in bounded time, whatever the machine is doing.

    begin_test.py BUILD_DIR [NAME...]

Beside each load a recorder is started and ended by Ctrl-C, BEGIN_ROUNDS times (40): how long after its exec the first
event is in the trace, and how long after the signal it is gone. Needs root and BPF, and takes the machine for itself.
Prints TAP and, last, how many passed, failed and were skipped. KFXT_TEST_SCALE: see harness.py.
"""
import contextlib
import functools
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, SCALE, TRACEFS, equal, expect, helper, load, main, note, running, start,  # noqa: E402
                     test, until, verify)

ROUNDS = int(os.environ.get('BEGIN_ROUNDS', 40))
LIMIT = 2 if SCALE == 1 else 10         # seconds
CPUS = sorted(os.sched_getaffinity(0))
SPIN = '''import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
if sys.argv[2] != '0':
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(sys.argv[2])))
print(flush=True)
while True: pass
'''


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@contextlib.contextmanager
def all_of(commands):
    with contextlib.ExitStack() as stack:
        for command in commands:
            stack.enter_context(running(*command))
        yield


@contextlib.contextmanager
def spinners(cpus, priority, each=1):
    """Once all spin."""
    with contextlib.ExitStack() as stack:
        commands = [[sys.executable, '-c', SPIN, str(cpu), str(priority)] for cpu in cpus for _ in range(each)]
        for p in [stack.enter_context(running(*command, stdout=subprocess.PIPE)) for command in commands]:
            p.stdout.readline()
        yield


@contextlib.contextmanager
def second_recorder(tmp):
    other = start(tmp + '/other.fxt')
    try:
        yield
    finally:
        other.send_signal(signal.SIGINT)
        other.communicate(timeout=PATIENCE)


LOADS = {
    'nothing': lambda tmp: contextlib.nullcontext(),
    'pingpong': lambda tmp: all_of([helper('pingpong'), '1000000000', str(cpu)] for cpu in CPUS),
    'four busy loops a CPU': lambda tmp: spinners(CPUS, 0, 4),
    'a real-time hog on all CPUs but one': lambda tmp: spinners(CPUS[1:], 50),
    'a real-time hog on all CPUs': lambda tmp: spinners(CPUS, 50),
    'forks': lambda tmp: all_of([helper('storm'), 'crowds'] for _ in CPUS),
    'a second recorder': second_recorder,
}


@contextlib.contextmanager
def urgent():
    """Above the hogs, what is started is not."""
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(60))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def one(trace):
    """Seconds from the exec of a recorder to its first event, and from the signal to its exit; what it said."""
    p = subprocess.Popen([KFXT, 'record', '-m', '16M', '-o', trace], stderr=subprocess.PIPE)
    begin = now()
    until(lambda: os.path.exists(trace) or p.poll() is not None, 'no trace')
    expect(p.poll() is None, 'it ended')
    time.sleep(0.3)
    end = now()
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=PATIENCE)[1].decode()
    ended = now()
    equal(p.returncode, 0, err)
    until(lambda: not os.path.exists(f'{TRACEFS}/instances/kfxt-{p.pid}'), 'its instance is there')
    return begin, end, ended, err


def bounded(tmp, name):
    begins, ends, late = [], [], 0
    with LOADS[name](tmp), urgent():
        for _ in range(ROUNDS):
            begin, end, ended, err = one(tmp + '/t.fxt')
            first = min(s.ts for s in load(tmp + '/t.fxt').switches if s.mark == 'start')
            verify(tmp + '/t.fxt')
            os.unlink(tmp + '/t.fxt')
            begins.append((first - begin) / 1e9)
            ends.append((ended - end) / 1e9)
            late += 'marker: ' in err
    middle = [sorted(times)[len(times) // 2] for times in (begins, ends)]
    note(f'{name}: begins after {middle[0]:.3f} s in the median, {max(begins):.3f} s at most; ends after {middle[1]:.3f} s, '
         f'{max(ends):.3f} s at most; markers late {late} times of {ROUNDS}')
    expect(max(begins) <= LIMIT and max(ends) <= LIMIT, f'begins after {max(begins):.3f} s, ends after {max(ends):.3f} s')


for each in LOADS:
    fn = functools.partial(bounded, name=each)
    fn.__name__ = each
    test(fn)


if __name__ == '__main__':
    sys.exit(main('begin'))
