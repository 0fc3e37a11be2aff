#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Triggers of build/tests/trigger_records against the second computation in judge.py.

    trigger_test.py BUILD [NAME...]

Recordings are simulated here: threads that run, sleep and are woken on some CPUs, whose rings are drained one
after another, with gaps where all of a CPU is missing. Each seed gives another one. A real one with gaps is
tests/corpus/fxt/lossy.fxt.gz.
"""
import gzip
import os
import random
import struct
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import judge  # noqa: E402

BUILD = sys.argv[1] if len(sys.argv) > 1 else 'build'
HERE = os.path.dirname(os.path.abspath(__file__))
STRINGS = ['', 'outgoing_weight', 'incoming_weight', 'weight', 'waker', 'mark', 'start', 'stop', 'gap', 'linux_state',
           'D', 'kfxt', 'cpus', 'online', 'state', 'implied']
INDEX = {text: i for i, text in enumerate(STRINGS)}
RUNS, READY, ASLEEP = range(3)
MS = 10**6
ROUNDS = (0, 1, 13, 400)
STEP = int(os.environ.get('CUT_STEP', '1'))
EACH = 1 if STEP == 1 else 3 if STEP < 100 else 10      # which simulated recordings: all in make check-all


# ---- bytes -----------------------------------------------------------------------------

def words(*values):
    return struct.pack(f'<{len(values)}Q', *(v & 2**64 - 1 for v in values))


def string(index, text):
    raw = text.encode()
    padded = raw + bytes(-len(raw) % 8)
    return words(2 | (1 + len(padded) // 8) << 4 | index << 16 | len(raw) << 32) + padded


def int32(name, value):
    return 1 | 1 << 4 | INDEX[name] << 16 | (value & 2**32 - 1) << 32


def text(name, value):
    return 6 | 1 << 4 | INDEX[name] << 16 | INDEX[value] << 32


def switch(ts, cpu, state, out, came, mark=None, linux_state=None):
    args = [int32('outgoing_weight', 120 if out else -2**31), int32('incoming_weight', 120 if came else -2**31)]
    args += [text('linux_state', linux_state)] if linux_state else []
    args += [text('mark', mark)] if mark else []
    head = 8 | (4 + len(args)) << 4 | len(args) << 16 | cpu << 20 | state << 36 | 1 << 60
    return words(head, ts, out, came, *args)


def wakeup(ts, cpu, thread):
    return words(8 | 6 << 4 | 2 << 16 | cpu << 20 | 2 << 60, ts, thread, int32('weight', 120),
                 8 | 2 << 4 | INDEX['waker'] << 16, 0)


def start_event(cpus):
    """The instant `start` with inline texts of CPUs."""
    listed = f'0-{cpus - 1}'.encode()
    padded = listed + bytes(-len(listed) % 8)
    args = b''.join(words(6 | 1 + len(padded) // 8 << 4 | INDEX[name] << 16 | (0x8000 | len(listed)) << 32) + padded
                    for name in ('cpus', 'online'))
    size = 4 + len(args) // 8
    return words(4 | size << 4 | 2 << 20 | INDEX['kfxt'] << 32 | INDEX['start'] << 48, 0, 1, 1) + args


# ---- a machine ------------------------------------------------------------------------------

class Machine:
    """Runs threads at random and writes what kfxt would."""

    def __init__(self, seed, cpus=4, threads=9, gaps=0.0, pace=MS):
        self.random = random.Random(seed)
        self.now, self.pace, self.gap_share = 10**9, pace, gaps
        self.rings = [[] for _ in range(cpus)]
        self.gaps = [None] * cpus
        self.current = [0] * cpus
        self.since = [0] * cpus
        self.threads = {tid: ASLEEP for tid in range(100, 100 + threads)}
        self.left = {tid: 0 for tid in self.threads}
        self.ready = dict(self.left)
        self.waits = []     # what the judge must find: kind, thread, begin, end
        self.file = [words(0x0016547846040010), words(0 | 2 << 4 | 1 << 16 | 1 << 20 | 4 << 52) + b'kfxt\0\0\0\0',
                     words(1 | 2 << 4, 10**9)]
        self.file += [string(i, t) for i, t in enumerate(STRINGS) if t]
        self.file.append(start_event(cpus))
        for tid in self.threads:
            self.file.append(switch(self.now - 1, 0, 3, tid, 0, 'state', self.random.choice([None, 'D'])))
        for cpu in range(cpus):
            self.put(cpu, switch(self.now + cpu * 1000, cpu, 1, 0, 0, 'start'))
        self.now += cpus * 1000

    def put(self, cpu, record):
        if self.gaps[cpu] is None:
            self.rings[cpu].append(record)

    def of(self, *states):
        return [tid for tid, state in self.threads.items() if state in states]

    def go_to(self, cpu, came, state=1, linux_state=None):
        out = self.current[cpu]
        self.put(cpu, switch(self.now, cpu, state, out, came, None, linux_state))
        if out:
            self.threads[out] = READY if state == 1 else ASLEEP
            self.left[out] = self.now
        if out and state == 1:
            self.ready[out] = self.now
        if came:
            self.threads[came] = RUNS
            self.waits.append(('runq', came, self.ready[came], self.now))
            if self.left[came]:
                self.waits.append(('offcpu', came, self.left[came], self.now))
        self.current[cpu], self.since[cpu] = came, self.now

    def step(self):
        r = self.random
        self.now += r.choice((0, 1, r.randrange(self.pace), r.randrange(20 * self.pace) if r.random() < 0.1 else 50))
        cpu = r.randrange(len(self.rings))
        ready, asleep = self.of(READY), self.of(ASLEEP)
        act = r.random()
        if r.random() < self.gap_share:
            self.turn_gap(cpu)
        elif act < 0.4 and asleep:
            tid = r.choice(asleep)
            self.put(cpu, wakeup(self.now, cpu, tid))
            self.threads[tid] = READY
            self.ready[tid] = self.now
        elif self.since[cpu] == self.now or (not self.current[cpu] and not ready):
            return
        else:
            came = r.choice(ready) if ready and r.random() < 0.8 else 0
            how = r.choice(((1, None), (3, None), (3, 'D')))
            if came != self.current[cpu] and not (came and self.left[came] == self.now):
                self.go_to(cpu, came, *how)

    def turn_gap(self, cpu):
        begun = self.gaps[cpu]
        if begun is None:
            self.gaps[cpu] = (self.now, self.current[cpu])
        elif self.now > begun[0] and self.now > self.since[cpu]:
            self.gaps[cpu] = None
            self.put(cpu, switch(begun[0], cpu, 1, begun[1], 0, 'gap'))
            self.put(cpu, switch(self.now, cpu, 1, 0, self.current[cpu], 'gap'))
            self.since[cpu] = self.now

    def drain(self):
        for ring in self.rings:
            self.file += ring
            ring.clear()
            for _ in range(self.random.randrange(3)):
                self.step()

    def record(self, steps):
        for i in range(steps):
            self.step()
            if self.random.random() < 0.01:
                self.drain()
        for cpu, gap in enumerate(self.gaps):
            self.now += 1
            if gap:
                self.turn_gap(cpu)
        if self.random.random() < 0.5:
            for cpu, tid in enumerate(self.current):
                self.now += 1
                self.put(cpu, switch(self.now, cpu, 1, tid, 0, 'stop'))
        for ring in self.rings:
            self.file += ring
        return b''.join(self.file)


# ---- tests ---------------------------------------------------------------------------------------

def judged(data, some_words, least=1):
    """What both find in @data is the same; @least of each."""
    with tempfile.NamedTemporaryFile(suffix='.fxt') as file:
        file.write(data)
        file.flush()
        counts, problems = judge.compare(BUILD, file.name, some_words, ROUNDS)
    assert not problems, '\n'.join(problems[:10])
    assert all(cnt >= least for cnt in counts.values()), counts
    return counts


WORDS = ('runq>3ms', 'runq>100us', 'blocked>2ms', 'offcpu>10ms', 'offcpu>500us', 'slice>3ms', 'busy>60%/100ms', 'idle>40%/100ms')


def judge_is_right():
    """It finds what the simulated machine did."""
    for seed in range(0, 10, EACH):
        machine = Machine(seed)
        recording = judge.Recording(machine.record(3000))
        for kind in ('runq', 'offcpu'):
            found = {(e.found.thread, e.found.begin, e.found.end) for e in judge.expect(recording, f'{kind}>3ms')
                     if not e.found.goes_on and not e.found.partial}
            true = {(tid, begin, end) for what, tid, begin, end in machine.waits
                    if what == kind and end - begin > 3 * MS}
            assert found == true and true, (seed, kind, found ^ true)


def simulated():
    for seed in range(0, 40, EACH):
        judged(Machine(seed).record(3000), WORDS)


def simulated_with_gaps():
    for seed in range(0, 60, EACH):
        judged(Machine(seed, gaps=0.02).record(3000), WORDS, 0)


def simulated_crowd():
    for seed in range(0, 3, EACH):
        judged(Machine(seed, cpus=16, threads=200, gaps=0.001).record(20000), WORDS[:1] + WORDS[2:4], 0)


def recording_with_gaps():
    """Times of some microseconds."""
    data = gzip.open(os.path.join(HERE, '../corpus/fxt/lossy.fxt.gz')).read()
    judged(data, ('runq>20us', 'offcpu>200us', 'slice>100us', 'blocked>50us'), 0)


TESTS = (judge_is_right, simulated, simulated_with_gaps, simulated_crowd, recording_with_gaps)


def main():
    passed = failed = 0
    for test in TESTS:
        if sys.argv[2:] and test.__name__ not in sys.argv[2:]:
            continue
        try:
            test()
            passed += 1
            print(f'ok - {test.__name__}')
        except Exception:
            failed += 1
            print(f'not ok - {test.__name__}')
            print(''.join('# ' + line for line in traceback.format_exc().splitlines(True)[-14:]))
    print(f'trigger: {passed} passed, {failed} failed, 0 skipped')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
