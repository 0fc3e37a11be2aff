#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A long recording of as many switches as this machine makes: none is lost, and no memory is.
The same of what is kept in memory, and triggers that fire under load if and only if there is a cause.

    soak_test.py BUILD_DIR [NAME...]

SOAK_S: for how many seconds each (20); by hand rather 1800 kept_in_memory, and 3600 hogs_under_load: a hog a
minute. Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
"""
import atexit
import collections
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (KFXT, PATIENCE, Skip, equal, expect, helper, main, note, readable, run, running, test, until,  # noqa: E402
                     verify, wait_for_begin)
import harness  # noqa: E402
from account import KOID_STEP, lost_by, may_be_missing, players, summary  # noqa: E402
from flights import MS, expect_wait, files, flight, hog, instants, session, waiter, whole  # noqa: E402

SECONDS = float(os.environ.get('SOAK_S', 20))
harness.LIMIT += 3 * SECONDS
FILE_SECONDS = min(SECONDS, 10)
FILE_BYTES_PER_SECOND = 100 << 20       # more than any machine made so far
ROUNDS = 500_000            # of the token game: some seconds
GROWTH_KB = 1024            # of the recorder, which keeps some bytes of each new thread
MEMORY = '/dev/shm'
THREAD_KB = 0.25            # as much as that of each
RING = '16M'                # the recorder may be kept from running for a second


class Game:
    """The token game on one CPU, again and again until it is to end; what its threads said."""

    def __init__(self, cpu, rounds):
        self.cpu, self.rounds, self.played, self.ending = cpu, rounds, [], False
        self.thread = threading.Thread(target=self.play)
        self.thread.start()

    def play(self):
        while not self.ending:
            p = subprocess.run([helper('pingpong'), str(self.rounds), str(self.cpu)], capture_output=True, text=True)
            self.played += players(p.stdout) if p.returncode == 0 else [None]

    def end(self):
        self.ending = True
        self.thread.join()


def resident_kb(pid, what='VmRSS'):
    with open(f'/proc/{pid}/status') as f:
        return next(int(line.split()[1]) for line in f if line.startswith(what + ':'))


def play_on_all_cpus(recorder, seconds, look=None, rounds=ROUNDS):
    """What the threads said, and the recorder's memory, or what @look() returns, second by second."""
    memory, games = [], [Game(cpu, rounds) for cpu in os.sched_getaffinity(0)]
    try:
        end = time.time() + seconds
        while time.time() < end and recorder.poll() is None:
            time.sleep(1)
            memory.append(look() if look else resident_kb(recorder.pid))
    finally:
        for game in games:
            game.end()
    played = [p for game in games for p in game.played]
    expect(played and None not in played, 'the token game failed')
    return played, memory


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


def threads_of(threads, p):
    """Switches of those that have its id, and its time."""
    return [n - sum(ns > p.end for ns in last) for n, last in threads[p.tid] if p.start < last[0] < p.end + 10**10]


def all_is_there(played, out, err):
    """Each thread's switches as it says itself, and the totals as the recorder's summary has them."""
    threads, (switches, wakeups, _, _) = counted(out)
    unreported = lost_by(err, 'not reported by the kernel')['switch']
    for p in played:
        mine = threads_of(threads, p)
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
        played, memory = play_on_all_cpus(p, SECONDS)
    err = p.stderr.read()
    equal(reader.wait(PATIENCE), 0, f'exit code of the reader: {open(tmp + "/out").read()[-200:]}')
    equal(p.returncode, 0, err)
    switches, threads = all_is_there(played, open(tmp + '/out').read(), err)
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
        played, _ = play_on_all_cpus(p, FILE_SECONDS)
    err = p.stderr.read()
    equal(p.returncode, 0, err)
    with open(tmp + '/t.fxt', 'rb') as f:
        r = subprocess.run([helper('outs')], stdin=f, capture_output=True, text=True)
    equal(r.returncode, 0, f'exit code of the reader: {r.stderr}')
    all_is_there(played, r.stdout, err)
    verify(tmp + '/t.fxt')
    note(err.strip())


# ---- a window ---------------------------------------------------------------------------------

KEEP_S = min(max(SECONDS / 10, 2), 10)
KEEP_BYTES = 256 << 20
BLOCK_S = max(KEEP_S / 64, 0.2)     # the oldest one goes as a whole, in the round after
LATE_S = 1                          # the recorder may be kept from running, and who asks it
WINDOW_GROWTH_KB = 4096             # beside blocks: of these hardly any, or all of what they may grow to, is resident
AT_ONE_TIME_KB = 1024               # much less than a block that waits to be compressed, which comes and goes
LOOKS_MAX = 20                      # a second, until one is of one time
CUT_S = 0.3
SHORT_ROUNDS = 10_000               # of the token game, so that many of its threads come and go within a window


class Resident:
    """What a process takes, in kB, from here to there. Pages of the rings come with what is written to them."""

    def __init__(self, pid):
        self.pid, self.kb, self.ending = pid, [], False
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)     # else it gets no time among those who play
        while not self.ending:
            self.kb.append(resident_kb(self.pid, 'RssAnon'))
            time.sleep(0.001)
        self.kb.append(resident_kb(self.pid, 'RssAnon'))

    def __enter__(self):
        self.thread.start()
        until(lambda: self.kb or not self.thread.is_alive(), 'nobody looks')
        return self

    def __exit__(self, *_):
        self.ending = True
        self.thread.join()


class Looks:
    """What a recorder says of its window and what it takes beside, each second; a file from time to time."""

    def __init__(self, f):
        self.f, self.begin, self.every = f, time.monotonic(), max(SECONDS / 5, 3)
        self.at = self.begin + 1        # the first file takes memory for all later ones

    def __call__(self):
        if time.monotonic() > self.at:
            self.at += self.every
            cnt = self.f.status()['files']['written']
            self.f.p.send_signal(signal.SIGUSR2)
            until(lambda: self.f.status()['files']['written'] > cnt, 'no file')
            return None     # meanwhile blocks stay that the window has given up
        found = self.at_one_time()
        if not found:
            return None
        w, kb = found
        return time.monotonic() - self.begin, kb - w['held_bytes'] // 1024, w['held_ns'] / 1e9, w['held_bytes']

    def at_one_time(self):
        """The window as it says, and what is resident: nothing came or went from the question to the answer."""
        for _ in range(LOOKS_MAX):
            with Resident(self.f.p.pid) as resident:
                w = self.f.status()['window']
            if max(resident.kb) - min(resident.kb) < AT_ONE_TIME_KB:
                return w, max(resident.kb)
        return None


def quarters(looks):
    """The least memory in each quarter of a run, in kB."""
    return [min(kb for _, kb, _, _ in looks[len(looks) * i // 4:len(looks) * (i + 1) // 4]) for i in range(4)]


def all_in_window(path, played):
    """Each thread of the game that began and ended within: how many there were."""
    report = json.loads(run('report', '--json', path).stdout)
    begin, end = report['from_ns'], report['from_ns'] + report['duration_ns']
    expect(end - begin >= KEEP_S * 1e9, f'{path} has {(end - begin) / 1e9:.2f} s')
    # CPUs are cut one by one.
    begin, end = begin + CUT_S * 1e9, end - CUT_S * 1e9
    with open(path, 'rb') as f:
        out = subprocess.run([helper('outs')], stdin=f, stdout=subprocess.PIPE, text=True, check=True).stdout
    threads, cnt = counted(out)[0], 0
    for p in played:
        if begin < p.start and p.end < end:
            found, all_of_it = threads_of(threads, p), p.voluntary + p.involuntary
            expect(len(found) == 1 and 0 <= all_of_it - found[0] <= may_be_missing(report['lost']['unreported_switches']),
                   f'switches of {p.tid}: {found} of {all_of_it}')
            cnt += 1
    return cnt


@test
def kept_in_memory(tmp):
    """The window has what was asked for and no more, all else takes what it took, and nothing is lost."""
    with flight(tmp, '--keep', f'{KEEP_S:g}s,{KEEP_BYTES >> 20}M', '-m', RING) as f:
        played, looks = play_on_all_cpus(f.p, SECONDS, Looks(f), SHORT_ROUNDS)
    looks = list(filter(None, looks))
    for at, _, held_s, held_bytes in looks:
        expect(held_bytes <= KEEP_BYTES and held_s <= KEEP_S + BLOCK_S + LATE_S, f'{held_bytes} bytes, {held_s:.2f} s after {at:.0f} s')
        expect(held_s >= KEEP_S or at < KEEP_S + LATE_S or held_bytes > KEEP_BYTES * 0.9, f'only {held_s:.2f} s are kept after {at:.0f} s')
    memory = quarters(looks)
    expect(memory[3] - memory[1] < WINDOW_GROWTH_KB, f'resident beside the window, in kB, by quarters: {memory}')
    equal({name: c['lost'] for name, c in f.counts['total'].items() if c['lost']}, {}, f'lost: {f.said()}')
    expect(len(f.files) > 2, f'{f.files}')
    for path in f.files:
        verify(path)
    cnt = sum(all_in_window(path, played) for path in f.files[1:])
    expect(cnt, 'no thread began and ended within a window')
    note(f'{len(f.files)} files, with all of {cnt} threads; resident beside the window, in kB, by quarters: {memory}')
    note(f'{sum(p.voluntary + p.involuntary for p in played) / SECONDS:.0f} switches a second')


# ---- triggers -----------------------------------------------------------------------------------

HOGGED = 'runq>10ms:comm=waiter'
HOG_EVERY_S = min(60, SECONDS / 8)
HOGS_KEEP_S = 5
NEVER = ('runq>30s', 'blocked>120s', 'offcpu>500s:comm=waiter', 'log~kfxt: no such line', 'exit:comm=waiter')
TIMERS = helper('load'), 'timers', '8', str(10**9)      # until it is ended


def checked(path, waits, gaps, begun_ns, at_end=False):
    """
    A file of a trigger: each wait in it is one of its own switches, to the nanosecond, and it has what was before and after the first
    that no file before it has. Adds waits and gaps.
    """
    t = whole(path)
    gaps += [(g.begin, g.end) for g in t.gaps]
    start_ns, stop_ns = session(t)
    mine = [i for i in instants(path) if i['trigger'] == HOGGED]
    expect(mine, f'no trigger in {path}')
    for i in mine:
        expect(10 * MS < i['value'] == i['to_ns'] - i['from_ns'] and i['threshold'] == 10 * MS, f'{i}')
        expect_wait(t, i['thread'] % KOID_STEP, i)
    due_ns = min(i['to_ns'] for i in mine if i['from_ns'] not in waits)
    # Of what is kept some is what follows.
    before_ns = min((HOGS_KEEP_S - 1) * 10**9, due_ns - begun_ns - 10**9)
    expect(due_ns - start_ns >= before_ns and (at_end or stop_ns - due_ns > 300 * MS), f'{start_ns} {due_ns} {stop_ns}')
    waits.update({i['from_ns']: i['to_ns'] for i in mine})
    os.unlink(path)


def gaps_of_now(f):
    """Of a file that is asked for: a switch that the kernel does not report may hide a wait."""
    f.p.send_signal(signal.SIGUSR2)
    def asked_for():
        return [p for p in files(f.tmp) if p.endswith('-signal.fxt')]

    until(lambda: asked_for() or f.p.poll() is not None, 'no file')
    path, = asked_for()
    found = [(g.begin, g.end) for g in whole(path).gaps]
    os.unlink(path)
    return found


@test
def hogs_under_load(tmp):
    """A thread of SCHED_FIFO takes a CPU for 20 ms: each time there is a file, with exact times, and none without cause."""
    hogs, waits, gaps = [], {}, []
    words = [a for word in NEVER for a in ('--trigger', word)]
    with waiter() as w, running(*TIMERS), \
            flight(tmp, '--keep', f'{HOGS_KEEP_S}s,128M', '--after', '500ms', '--cooldown', '1ms', '-m', RING, '--trigger', HOGGED, *words) as f:
        begun_ns, end = time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(max(HOG_EVERY_S - 1.5, 0))
            hogs.append(hog(0.02))
            time.sleep(1.5)
            for path in files(tmp):
                checked(path, waits, gaps, begun_ns)
            if not any(begin < hogs[-1][1] and to > hogs[-1][0] for begin, to in [*waits.items(), *gaps]):
                gaps += gaps_of_now(f)
    for path in f.files:
        checked(path, waits, gaps, begun_ns, True)
    uncaught = [(a, b) for a, b in hogs if not any(begin < b and to > a for begin, to in waits.items())]
    equal([(a, b) for a, b in uncaught if not any(begin < b and to > a for begin, to in gaps)], [], 'hogs without a file')
    # What a gap divides may still be found.
    expect(len(uncaught) <= len(hogs) / 5, f'{len(uncaught)} of {len(hogs)} hogs are in gaps')
    equal(sum(lost_by(f.said(), 'rings full').values()), 0, f.said())
    fired = {t['trigger']: t['fired'] for t in f.counts['triggers']}
    equal({word: fired[word] for word in NEVER}, dict.fromkeys(NEVER, 0), 'fired without cause')
    cost, = [line for line in f.said().splitlines() if line.startswith('kfxt: cost ')]
    others = [b - a for a, b in waits.items() if not any(begin < b and to > a for begin, to in hogs)]
    note(f'{len(hogs) - len(uncaught)} of {len(hogs)} hogs have a file, all others are in gaps; {len(waits)} waits of {w.pid}; other waits, which the files have as well: '
         f'{len(others)}, the longest {max(others, default=0) / MS:.1f} ms; {cost[6:]}')


if __name__ == '__main__':
    sys.exit(main('soak'))
