#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A long recording of as many switches as this machine makes: none is lost, and no memory is.

    soak_test.py BUILD_DIR [NAME...]

SOAK_S: for how many seconds (20); by hand rather 1200. Needs root and BPF. Prints TAP and,
last, how many passed, failed and were skipped.
"""
import atexit
import collections
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, Skip, equal, expect, helper, main, note, readable, test, until, verify,  # noqa: E402
                     wait_for_begin)
from account import KOID_STEP, lost_by, may_be_missing, players, summary  # noqa: E402

SECONDS = float(os.environ.get('SOAK_S', 20))
FILE_SECONDS = min(SECONDS, 10)
FILE_BYTES_PER_SECOND = 100 << 20       # more than any machine made so far
ROUNDS = 500_000            # of the token game: some seconds
GROWTH_KB = 1024            # of the recorder, which keeps some bytes of each new thread
MEMORY = '/dev/shm'
THREAD_KB = 0.25            # as much as that of each
RING = '16M'                # the recorder may be kept from running for a second


class Game:
    """The token game on one CPU, again and again until it is to end; what its threads said."""

    def __init__(self, cpu):
        self.cpu, self.told, self.ending = cpu, [], False
        self.thread = threading.Thread(target=self.play)
        self.thread.start()

    def play(self):
        while not self.ending:
            p = subprocess.run([helper('pingpong'), str(ROUNDS), str(self.cpu)], capture_output=True, text=True)
            self.told += players(p.stdout) if p.returncode == 0 else [None]

    def end(self):
        self.ending = True
        self.thread.join()


def resident_kb(pid):
    with open(f'/proc/{pid}/status') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('VmRSS:'))


def play_on_all_cpus(recorder, seconds):
    """What the threads said, and the recorder's memory, second by second."""
    memory, games = [], [Game(cpu) for cpu in os.sched_getaffinity(0)]
    try:
        end = time.time() + seconds
        while time.time() < end and recorder.poll() is None:
            time.sleep(1)
            memory.append(resident_kb(recorder.pid))
    finally:
        for game in games:
            game.end()
    told = [p for game in games for p in game.told]
    expect(told and None not in told, 'the token game failed')
    return told, memory


@contextlib.contextmanager
def recording(output, **kwargs):
    """kfxt record; ended, whatever happens."""
    p = subprocess.Popen([KFXT, 'record', '-m', RING, '-o', output], stderr=subprocess.PIPE, text=True, **kwargs)
    try:
        if p.stdout:
            until(lambda: p.poll() is not None or readable(p.stdout) > 4096, 'recording does not start')
            equal(p.poll(), None, 'exit code, at once')
        else:
            wait_for_begin(p, output)
        yield p
    finally:
        p.send_signal(signal.SIGINT)
        try:
            p.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


def counted(text):
    """{tid: [(switches, times of the last, latest first)]} and the totals, from what outs prints."""
    threads, lines = collections.defaultdict(list), [list(map(int, line.split()[1:])) for line in text.splitlines()]
    for line, numbers in zip(text.splitlines()[:-1], lines):
        threads[int(line.split()[0]) % KOID_STEP].append((numbers[0], numbers[1:]))
    return threads, lines[-1]


def all_is_there(told, out, err):
    """Each thread's switches as it says itself, and the totals as the recorder's summary has them."""
    threads, (switches, wakeups, _, _) = counted(out)
    unreported = lost_by(err, 'not reported by the kernel')['switch']
    for p in told:
        mine = [n - sum(ns > p.end for ns in last) for n, last in threads[p.tid] if p.start < last[0] < p.end + 10**10]
        all_of_it = p.voluntary + p.involuntary
        expect(len(mine) == 1 and 0 <= all_of_it - mine[0] <= may_be_missing(unreported), f'switches of {p.tid}: {mine} of {all_of_it}')
    s = summary(err)
    equal((s.switches, s.wakeups), (switches, wakeups), 'what the summary says is in the trace')
    equal(s.lost, 0, f'lost: {err}')
    return switches, len(threads)


def flat(memory, threads):
    begin = memory[len(memory) // 10]
    expect(abs(memory[-1] - begin) < GROWTH_KB + threads * THREAD_KB, f'{threads} threads, resident: {begin} kB after a tenth, {memory[-1]} kB at the end')
    note(f'resident: {begin} kB after a tenth, {max(memory)} kB at most, {memory[-1]} kB at the end')


@test
def into_a_pipe(tmp):
    """Its reader checks and counts, as fast as it comes; nobody could keep so much."""
    with open(tmp + '/out', 'w') as out, recording('-', stdout=subprocess.PIPE) as p:
        # The reader is urgent, as the recorder is: else it gets no time among those who play.
        reader = subprocess.Popen([helper('outs')], stdin=p.stdout, stdout=out, preexec_fn=lambda: os.nice(-20))
        p.stdout.close()
        told, memory = play_on_all_cpus(p, SECONDS)
    err = p.stderr.read()
    equal(reader.wait(PATIENCE), 0, f'exit code of the reader: {open(tmp + "/out").read()[-200:]}')
    equal(p.returncode, 0, err)
    switches, threads = all_is_there(told, open(tmp + '/out').read(), err)
    flat(memory, threads)
    note(f'{err.strip()}: {switches / len(memory):.0f} switches a second')


@test
def into_a_file(tmp):
    """One in memory, where there is enough: otherwise it is the disk's speed that is tested."""
    needed = FILE_SECONDS * FILE_BYTES_PER_SECOND
    if os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free > 2 * needed:
        tmp = tempfile.mkdtemp(prefix='kfxt-soak.', dir=MEMORY)
        atexit.register(shutil.rmtree, tmp)
    if shutil.disk_usage(tmp).free <= 2 * needed:
        raise Skip(f'{tmp} has no room for {2 * needed / 2**30:.1f} GiB')
    with recording(tmp + '/t.fxt') as p:
        told, _ = play_on_all_cpus(p, FILE_SECONDS)
    err = p.stderr.read()
    equal(p.returncode, 0, err)
    with open(tmp + '/t.fxt', 'rb') as f:
        r = subprocess.run([helper('outs')], stdin=f, capture_output=True, text=True)
    equal(r.returncode, 0, f'exit code of the reader: {r.stderr}')
    all_is_there(told, r.stdout, err)
    verify(tmp + '/t.fxt')
    note(err.strip())


if __name__ == '__main__':
    sys.exit(main('soak'))
