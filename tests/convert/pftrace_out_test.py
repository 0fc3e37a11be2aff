#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""FXT written as a Perfetto trace, judged by independent readers of both formats.

    pftrace_out_test.py BUILD_DIR [NAME...]

Traces of the samples of ftrace text, of a recording and made ones: what fxtread.py finds in the FXT file is
what pftrace_reader.py finds in the packets, by the rules that viewers read them with. Prints TAP and the totals.
"""
import collections
import glob
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS]
import fxtread  # noqa: E402
import pftrace_reader  # noqa: E402
from cases import case, equal, equal_multisets, run  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
IDLE = -2**31
STEP, IDS_MAX, PSEUDO = 10_000_000, 4194304, 4_200_000_000
STATE_BITS = {'R': 0, 'S': 1, 'D': 2, 'T': 4, 't': 8, 'X': 16, 'Z': 32, 'P': 64, 'I': 128, 'R+': 256}
LETTERS = {0: 'R', 1: 'R', 2: 'T', 3: 'S', 4: 'Z', 5: 'X'}
def convert(source, to, *options, code=0):
    r = subprocess.run([KFXT, 'convert', '-o', to, *options, source], capture_output=True, timeout=120)
    if r.returncode != code:
        raise AssertionError(f'{source}: exit code {r.returncode}: {r.stderr.decode()}')
    return r.stderr.decode()


def traces(tmp):
    """FXT files of all samples: (name, path)."""
    for name in ('golden/all_records', 'golden/states-6.1', 'corpus/fxt/recording'):
        path = os.path.join(tmp, os.path.basename(name) + '.fxt')
        with gzip.open(os.path.join(TESTS, name + '.fxt.gz')) as packed, open(path, 'wb') as out:
            shutil.copyfileobj(packed, out)
        yield name, path
    for facts in sorted(glob.glob(TESTS + '/corpus/ftrace/*.facts.json')):
        sample = facts[:-len('.facts.json')]
        path = os.path.join(tmp, os.path.basename(sample) + '.fxt')
        convert(sample, path)
        yield os.path.basename(sample), path


def json_traces(tmp):
    """What the samples of Trace Event JSON have: flows, counters, slices of all kinds."""
    for sample in sorted(glob.glob(TESTS + '/corpus/json/*.json')):
        path = os.path.join(tmp, os.path.basename(sample) + '.fxt')
        if not sample.endswith('.facts.json') and subprocess.run([KFXT, 'convert', '-q', '-o', path, sample],
                                                                 capture_output=True).returncode == 0:
            yield os.path.basename(sample), path


def packets(fxt):
    convert(fxt, fxt + '.pftrace')
    return pftrace_reader.read(fxt + '.pftrace')


# ---- FXT, made by hand --------------------------------------------------------------------


def words(*values):
    return struct.pack(f'<{len(values)}Q', *(v & 2**64 - 1 for v in values))


def padded(text):
    data = text.encode() if isinstance(text, str) else text
    return data + bytes(-len(data) % 8)


def argument(name, kind, value):
    """@kind: 1 int32, 6 string, 8 koid; strings are in the record."""
    head, body = kind | (0x8000 | len(name)) << 16, padded(name)
    if kind == 1:
        head |= (value & 0xffffffff) << 32
    elif kind == 6:
        value = value.encode()
        head |= (0x8000 | len(value)) << 32
        body += padded(value)
    else:
        body += words(value)
    return words(head | (1 + len(body) // 8) << 4) + body


def record(head, *values, args=()):
    body = words(*values) + b''.join(argument(*a) for a in args)
    return words(head | (1 + len(body) // 8) << 4) + body


def switch(ts, cpu, out, into, state=None, out_prio=120, in_prio=120, mark=None, fxt_state=3):
    args = [('outgoing_weight', 1, out_prio if out else IDLE), ('incoming_weight', 1, in_prio if into else IDLE)]
    args += [('linux_state', 6, state)] if state else []
    args += [('mark', 6, mark)] if mark else []
    return record(8 | len(args) << 16 | cpu << 20 | fxt_state << 36 | 1 << 60, ts, out, into, args=args)


def wakeup(ts, cpu, thread, waker, prio=120, mark=None):
    args = [('weight', 1, prio), ('waker', 8, waker)] + ([('mark', 6, mark)] if mark else [])
    return record(8 | len(args) << 16 | cpu << 20 | 2 << 60, ts, thread, args=args)


def named(kind, koid, name, **args):
    """A kernel object: kind 1 is a process, 2 a thread. Arguments are koids, or strings."""
    args = [(key, 6 if isinstance(value, str) else 8, value) for key, value in args.items()]
    body = words(koid) + padded(name) + b''.join(argument(*a) for a in args)
    return words(7 | (1 + len(body) // 8) << 4 | kind << 16 | (0x8000 | len(name)) << 24 | len(args) << 40) + body


def blob(data, kind=3):
    body = padded('perfetto') + data + bytes(-len(data) % 8)
    return words(5 | (1 + len(body) // 8) << 4 | (0x8000 | 8) << 16 | len(data) << 32 | kind << 48) + body


def made(tmp, *records):
    """The packets of a recording of such records."""
    path = os.path.join(tmp, 'made.fxt')
    with open(path, 'wb') as f:
        f.write(words(0x0016547846040010))
        f.write(words(1 | 2 << 4, 10**9))
        f.write(b''.join(records))
    equal([str(p) for p in fxtread_problems(path)], [])
    return packets(path)


def fxtread_problems(path):
    reader = fxtread.read(path)
    for _ in reader:
        pass
    return reader.problems


# ---- scheduling ---------------------------------------------------------------------------


def tid(koid):
    return koid % STEP if koid < PSEUDO and koid % STEP < IDS_MAX else koid


def arguments(rec):
    return {name: value for name, _, value in rec['arguments']}


class Scheduling:
    """Of an FXT file, by fxtread.py."""

    def __init__(self, path):
        self.switches, self.wakeups, self.states, self.koids = [], [], [], {}
        for rec in fxtread.read(path):
            if rec.get('timestamp', 0) >= 2**63:
                continue
            if rec['type'] == 'context_switch' and rec['cpu_number'] < 1024:
                args = arguments(rec)
                (self.states if args.get('mark') == 'state' else self.switches).append((rec, args))
            elif rec['type'] == 'thread_wakeup' and rec['cpu_number'] < 1024:
                self.wakeups.append((rec, arguments(rec)))
        self.switches.sort(key=lambda s: s[0]['timestamp'])

    @staticmethod
    def thread(rec, args, side):
        return 0 if args.get(side + '_weight') == IDLE else tid(rec[side + '_thread_id'])

    def rows(self):
        """(ts, end, thread, prio, end state) of each stretch on a CPU but idle ones; of no time is one that was not begun."""
        found, current = collections.defaultdict(list), {}
        for rec, args in self.states:
            letter = args.get('linux_state') or LETTERS[rec['outgoing_thread_state']]
            found[rec['cpu_number']].append((rec['timestamp'], rec['timestamp'], self.thread(rec, args, 'outgoing'),
                                             args['outgoing_weight'], STATE_BITS[letter]))
        for rec, args in self.switches:
            cpu, ts = rec['cpu_number'], rec['timestamp']
            out, into = (self.thread(rec, args, side) for side in ('outgoing', 'incoming'))
            letter = args.get('linux_state') or LETTERS[rec['outgoing_thread_state']]
            since, thread, prio = current.get(cpu, (ts, 0, 0))
            if thread:
                found[cpu].append((since, ts, thread, prio, STATE_BITS.get(letter) if thread == out else 0))
            if out and out != thread:
                found[cpu].append((ts, ts, out, args.get('outgoing_weight', 120), STATE_BITS.get(letter)))
            current[cpu] = ts, into, args.get('incoming_weight', 120)
        return found

    def wakings(self):
        """One that is implied by a switch, and is of its time, is 1 ns before it."""
        comes = {(rec['timestamp'], rec['incoming_thread_id']) for rec, _ in self.switches}
        found = []
        for rec, args in self.wakeups:
            implied, thread = args.get('mark') == 'implied', rec['waking_thread_id']
            tied = implied and (rec['timestamp'], thread) in comes
            found.append((rec['timestamp'] - tied, tid(thread), rec['cpu_number'], args.get('weight', 120),
                          0 if implied else tid(args.get('waker', 0))))
        return sorted(found)


def rows_of(trace):
    """The same of the packets: the first switch of a CPU only gives its current thread."""
    found, current = collections.defaultdict(list), {}
    for s in trace.switches:
        if s.cpu in current and current[s.cpu].next:
            before = current[s.cpu]
            found[s.cpu].append((before.ts, s.ts, before.next, before.prio, s.prev_state))
        if s.cpu in current or s.next == 0:
            current[s.cpu] = s
    return found


def wakings_of(trace):
    return sorted((w.ts, w.pid, w.target, w.prio, 0 if w.flags & 8 else w.waker) for w in trace.wakings)


def equal_but_for_ties(got, expected, times, what):
    """Element by element; the first @times of each are times, which may be later by what parts those that are equal."""
    equal(len(got), len(expected), what + ': how many')
    for g, e in zip(got, expected):
        if g[times:] != e[times:] or any(not 0 <= a - b < 1000 for a, b in zip(g[:times], e[:times])):
            raise AssertionError(f'{what}: got {g}, expected {e}')


def check_scheduling(path, trace):
    expected, found = Scheduling(path), rows_of(trace)
    rows = expected.rows()
    equal(sorted(c for c in found if found[c]), sorted(c for c in rows if rows[c]), 'CPUs')
    for cpu in rows:
        equal_but_for_ties(found.get(cpu, []), sorted(rows[cpu], key=lambda r: r[1]), 2, f'CPU {cpu}')
    equal_but_for_ties(wakings_of(trace), expected.wakings(), 1, 'wakings')
    return sum(map(len, rows.values())), len(trace.wakings)


@case
def scheduling_is_that_of_the_trace(tmp):
    rows = wakings = single = 0
    for name, fxt in traces(tmp):
        try:
            trace = packets(fxt)
            if name == 'golden/all_records':    # made up: switches from threads that do not run
                equal({s.cpu for s in trace.switches} >= {255}, True)
                continue
            found = check_scheduling(fxt, trace)
        except (AssertionError, pftrace_reader.Damage) as error:
            raise AssertionError(f'{name}: {error}') from error
        rows, wakings = rows + found[0], wakings + found[1]
        single += sum(not w.compact for w in trace.wakings)
    print(f'# {rows} rows, {wakings} wakings, {single} of them single')
    if rows < 1500 or wakings < 1000 or single > wakings / 4:
        raise AssertionError(f'{rows} rows, {wakings} wakings, {single} single')


@case
def system_and_clocks_come_first(tmp):
    fxt = dict(traces(tmp))
    trace = packets(fxt['corpus/fxt/recording'])
    equal((trace.system['sysname'], trace.system['release']), ('Linux', '6.18.44-sample1'))
    equal((trace.primary, sorted(trace.clocks)), (6, [1, 3, 6]))
    trace = packets(fxt['sched-6.1.txt'])
    equal((trace.system['sysname'], trace.primary), ('Linux', 6))


@case
def cpus_begin_with_who_runs(tmp):
    """The first switch of each CPU is not seen: it goes to the idle thread."""
    trace = made(tmp, switch(1000, 0, 0, 10, mark='start', in_prio=100), switch(1500, 1, 20, 30, 'D'),
                 switch(2000, 0, 10, 0, 'S'), switch(2000, 1, 30, 0, 'S'))
    equal([(s.ts, s.next, s.prio) for s in trace.switches if s.cpu == 0], [(1000, 0, 120), (1000, 10, 100), (2000, 0, 120)])
    # Thread 20 ran before, it is not known since when.
    equal([(s.ts, s.next, s.prev_state) for s in trace.switches if s.cpu == 1],
          [(1500, 0, 0), (1500, 20, 0), (1500, 30, 2), (2000, 0, 1)])


@case
def times_that_are_equal_are_parted(tmp):
    """A thread sleeps, is woken by another CPU and switched in, all in one microsecond."""
    trace = made(tmp, switch(1000, 0, 0, 10, mark='start'), switch(1000, 1, 0, 20, mark='start'),
                 switch(5000, 0, 10, 0, 'S'), wakeup(5000, 0, 10, 20), switch(5000, 0, 0, 10), switch(5000, 1, 20, 0, 'S'),
                 wakeup(5000, 1, 20, 10))
    sleeps, waking, comes = (next(s.ts for s in trace.switches if (s.cpu, s.next) == (0, 0) and s.ts > 1000),
                             trace.wakings[0], [s.ts for s in trace.switches if s.next == 10][-1])
    equal((sleeps, waking.ts, comes), (5000, 5001, 5002))
    equal((waking.waker, waking.compact), (20, True))
    leaves = [s.ts for s in trace.switches if s.cpu == 1][-1]
    equal((leaves, trace.wakings[1].ts, trace.wakings[1].waker), (5002, 5003, 10))


@case
def implied_wakeups_give_way(tmp):
    """One has the time of the switch that it is implied by, which was measured."""
    first = switch(1000, 0, 0, 10, mark='start'), switch(2000, 0, 10, 0, 'S')
    trace = made(tmp, *first, wakeup(5000, 0, 10, 0, mark='implied'), switch(5000, 0, 0, 10), switch(6000, 0, 10, 0, 'S'))
    equal(([w.ts for w in trace.wakings], [s.ts for s in trace.switches if s.next == 10]), ([4999], [1000, 5000]))
    # It is still after the sleep.
    trace = made(tmp, *first, wakeup(2000, 0, 10, 0, mark='implied'), switch(2000, 0, 0, 10), switch(6000, 0, 10, 0, 'S'))
    equal(([w.ts for w in trace.wakings], [s.ts for s in trace.switches if s.next == 10]), ([2001], [1000, 2002]))
    # Of another time it is not moved.
    trace = made(tmp, *first, wakeup(4999, 0, 10, 0, mark='implied'), switch(5000, 0, 0, 10), switch(6000, 0, 10, 0, 'S'))
    equal(([w.ts for w in trace.wakings], [s.ts for s in trace.switches if s.next == 10]), ([4999], [1000, 5000]))


@case
def gaps_are_idle_and_lost(tmp):
    trace = made(tmp, switch(1000, 0, 0, 10, mark='start'), switch(2000, 0, 10, 0, mark='gap', fxt_state=1),
                 switch(3000, 0, 0, 20, mark='gap'), switch(4000, 0, 20, 0, 'S'))
    equal([(s.ts, s.next, s.prev_state) for s in trace.switches],
          [(1000, 0, 0), (1000, 10, 0), (2000, 0, 0), (3000, 20, 0), (4000, 0, 1)])
    equal((trace.bundles, trace.lost), ([0, 0], [(0, 1)]))


@case
def ids_that_are_used_again_are_other_threads(tmp):
    trace = made(tmp, named(1, 100, 'first'), named(2, 100, 'first', process=100),
                 named(1, STEP + 100, 'second', parent=7), named(2, STEP + 100, 'second', process=STEP + 100),
                 named(2, STEP + 101, 'third', process=STEP + 100), named(2, 0, 'swapper', process=0),
                 switch(1000, 0, 0, 100, mark='start'), switch(2000, 0, 100, 0, 'X'), switch(2500, 0, 0, 7),
                 wakeup(3000, 0, STEP + 100, 7), switch(4000, 0, 7, STEP + 100, 'S'), wakeup(5000, 0, STEP + 101, STEP + 100),
                 switch(6000, 0, STEP + 100, STEP + 101, 'S'), switch(7000, 0, STEP + 101, 0, 'S'))
    equal([(b.ts, b.creator, b.pid, b.comm, b.flags) for b in trace.births],
          [(2999, 7, 100, 'second', 0), (4999, 100, 101, 'third', 0x10000)])
    names = {(t['ts'], t['tid']): (t['name'], t['tgid']) for t in trace.threads}
    equal(names, {(1000, 100): ('first', 100), (3000, 100): ('second', 100), (5000, 101): ('third', 100)})
    equal([(p['ts'], p['pid'], p['ppid'], p['cmdline']) for p in trace.processes],
          [(1000, 100, 0, ['first']), (3000, 100, 7, ['second'])])


@case
def labels_are_of_the_last_cgroup(tmp):
    container = '0123456789abcdef' * 4
    blobs = blob(b'\x0a\x09\x50\x01\xda\x02\x04\x08\x64\x42\x00')    # the recorder's own, of the same
    trace = made(tmp, named(1, 100, 'a', cgroup=f'/docker/{container}'), named(1, 200, 'b', cgroup='/system.slice/b.service'),
                 named(1, 300, 'c', cgroup='/'), named(1, 400, 'd'), blobs,
                 *(named(2, pid, 'x', process=pid) for pid in (100, 200, 300, 400)),
                 switch(1000, 0, 0, 100, mark='start'), switch(2000, 0, 100, 200, 'S'), switch(3000, 0, 200, 300, 'S'),
                 switch(4000, 0, 300, 400, 'S'))
    equal(trace.labels, {100: ['container 0123456789ab'], 200: ['b.service']})
    trace = made(tmp, named(1, 100, 'a', cgroup='/x'), named(1, 200, 'b', cgroup='/x'), named(1, 100, 'a', cgroup='/y'),
                 named(1, 200, 'b', cgroup='/'), *(named(2, pid, 'x', process=pid) for pid in (100, 200)),
                 switch(1000, 0, 0, 100, mark='start'), switch(2000, 0, 100, 200, 'S'))
    equal(trace.labels, {100: ['/y'], 200: []})


@case
def wakers_run_on_the_cpu_of_their_packet(tmp):
    start = switch(1000, 0, 0, 10, mark='start'), switch(1000, 1, 0, 20, mark='start')
    trace = made(tmp, *start, switch(2000, 0, 10, 0, 'S'), wakeup(3000, 0, 10, 20))     # by the other CPU
    equal([(w.cpu, w.waker, w.target, w.compact) for w in trace.wakings], [(1, 20, 0, True)])
    trace = made(tmp, *start, switch(2000, 0, 10, 0, 'S'), wakeup(3000, 0, 10, 99))     # by one that runs nowhere
    equal([(w.waker, w.target, w.compact) for w in trace.wakings], [(99, 0, False)])
    trace = made(tmp, *start, switch(2000, 0, 10, 0, 'S'), wakeup(3000, 0, 10, 20, mark='implied'))
    equal([(w.waker, w.compact) for w in trace.wakings], [(0, False)])
    trace = made(tmp, *start, switch(2000, 0, 10, 0, 'S'), wakeup(3000, 0, 10, 20, mark='gap'))
    equal([(w.waker, w.compact) for w in trace.wakings], [(20, False)])
    # By an interrupt: between two records of the ring of CPU 1, and where it is not known of which ring.
    trace = made(tmp, start[0], switch(2000, 0, 10, 0, 'S'), start[1], wakeup(3000, 0, 10, 0),
                 switch(4000, 1, 20, 0, 'S'), switch(5000, 0, 0, 10))
    equal([(w.cpu, w.flags, w.compact) for w in trace.wakings], [(1, 8, True)])
    trace = made(tmp, *start, switch(2000, 0, 10, 0, 'S'), wakeup(3000, 0, 10, 0), switch(4000, 1, 20, 0, 'S'))
    equal([(w.waker, w.flags, w.compact) for w in trace.wakings], [(0, 0, False)])


@case
def states_and_priorities_are_those_of_linux(tmp):
    for letter, bit in STATE_BITS.items():
        trace = made(tmp, switch(1000, 0, 0, 10, mark='start'), switch(2000, 0, 10, 0, letter))
        equal(trace.switches[-1].prev_state, bit, letter)
    for fxt_state, bit in enumerate((0, 0, 4, 1, 32, 16)):
        trace = made(tmp, switch(1000, 0, 0, 10, mark='start'), switch(2000, 0, 10, 0, fxt_state=fxt_state))
        equal(trace.switches[-1].prev_state, bit, fxt_state)
    for prio in (-1, 0, 98, 100, 120, 139):
        trace = made(tmp, switch(1000, 0, 0, 10, mark='start', in_prio=prio), switch(2000, 0, 10, 0, 'S'),
                     wakeup(3000, 0, 10, 0, prio=prio))
        equal((trace.switches[1].prio, trace.wakings[0].prio), (prio, prio))
    # One that never runs: switched in and out at once, in its state.
    trace = made(tmp, switch(999, 0, 50, 0, 'D', out_prio=100, mark='state'), switch(1000, 0, 0, 10, mark='start'))
    equal([(s.ts, s.next, s.prev_state, s.prio) for s in trace.switches],
          [(999, 0, 0, 120), (999, 50, 0, 100), (999, 0, 2, 120), (1000, 10, 0, 120)])


@case
def rings_are_put_in_order(tmp):
    """Drained one after the other, with many records each: who wakes follows from the CPU where it runs."""
    records, count = [switch(1000, cpu, 0, 10 + cpu, mark='start') for cpu in range(3)], 0
    for drain in range(40):
        for cpu in range(3):
            for i in range(100):
                at = 10_000 + (drain * 100 + i) * 1000 + cpu * 100
                thread = 100 + cpu
                records += [wakeup(at, (cpu + 1) % 3, thread, 10 + cpu),
                            switch(at + 10, cpu, 10 + cpu, thread, fxt_state=1), switch(at + 20, cpu, thread, 10 + cpu, 'S')]
                count += 1
    trace = made(tmp, *records)
    equal(len(trace.wakings), count)
    equal(collections.Counter((w.waker, w.cpu, w.pid, w.compact) for w in trace.wakings),
          collections.Counter({(10 + cpu, cpu, 100 + cpu, True): 4000 for cpu in range(3)}))
    check_scheduling(os.path.join(tmp, 'made.fxt'), trace)
    equal(len(trace.bundles) > 6, True)


@case
def rings_are_in_order_where_they_are_drained_late(tmp):
    """Rounds over two rings half a second apart: a birth is at the first wakeup, which is in the second ring."""
    ms, records = 1_000_000, [named(1, 100, 'born'), named(2, 100, 'born', process=100)]
    records += [switch(999, 0, 50, 0, 'S', mark='state')] + [switch(1000, cpu, 0, 10 + cpu, mark='start') for cpu in range(2)]
    for at in 500, 1000, 1500:
        records += [switch((at - 20) * ms, 0, 10, 12, fxt_state=1), switch((at - 10) * ms, 0, 12, 10, fxt_state=1)]
        records += [wakeup((at - 5) * ms, 1, 100, 10), switch((at - 4) * ms, 0, 10, 12, fxt_state=1),
                    switch((at - 3) * ms, 0, 12, 10, fxt_state=1)] if at == 1000 else []
        records += [wakeup((at - 100) * ms, 1, 100, 11), switch((at - 90) * ms, 1, 11, 100, fxt_state=1),
                    switch((at - 80) * ms, 1, 100, 11, 'S')] if at == 1000 else []
        records += [switch((at + 2) * ms, 1, 11, 13, fxt_state=1), switch((at + 3) * ms, 1, 13, 11, fxt_state=1)]
    trace = made(tmp, *records)
    equal([(b.ts, b.creator, b.pid) for b in trace.births], [(900 * ms - 1, 11, 100)])
    equal([(w.ts, w.waker, w.compact) for w in trace.wakings], [(900 * ms, 11, True), (995 * ms, 10, True)])


@case
def names_are_those_of_the_trace(tmp):
    fxt = dict(traces(tmp))['corpus/fxt/recording']
    trace, processes, threads = packets(fxt), {}, {}
    for rec in fxtread.read(fxt):
        if rec['type'] == 'blob':    # of a packet, which has the arguments one by one
            for p in pftrace_reader.Trace(rec['payload']).processes:
                processes[p['pid']][1]['cmdline'] = ' '.join(p['cmdline'])
        if rec['type'] == 'kernel_object' and rec['kernel_object_type'] in (1, 2) and rec['koid'] < PSEUDO:
            table = processes if rec['kernel_object_type'] == 1 else threads
            # A name that changes has no command line, which stays what it was.
            table[rec['koid']] = rec['name'], {**table.get(rec['koid'], ('', {}))[1], **arguments(rec)}
    equal({t['tid']: (t['name'], t['tgid']) for t in trace.threads},
          {k: (name, args['process'] or k) for k, (name, args) in threads.items() if k})
    found = {p['pid']: p for p in trace.processes}
    for koid, (name, args) in processes.items():
        if not koid:
            continue
        equal((found[koid]['ppid'], ' '.join(found[koid]['cmdline'])), (args['parent'], args.get('cmdline') or name), koid)
    for koid, (name, args) in threads.items():
        if koid and not args['process']:     # a kernel thread
            equal((found[koid]['ppid'], found[koid]['cmdline'], found[koid]['kthread']), (2 * (koid != 2), [name], True))


def with_arguments(tmp, *args):
    """The packets of an instant with these."""
    return made(tmp, record(4 | len(args) << 20 | (0x8000 | 1) << 32 | (0x8000 | 1) << 48, 1000, 100, 100,
                            int.from_bytes(b'c', 'little'), int.from_bytes(b'n', 'little'), args=args))


@case
def arguments_have_no_limit_and_nest(tmp):
    """FXT has names such as a.b[0], and "more" for those beyond the 14th."""
    many = {f'b.c[{i}]': i for i in range(2, 40)} | {'b.d': -1, 'big': 2**64 - 1, 'real': 0.5, 'yes': True, 'null': None,
                                                     'text': 'q"\\\x01é'}
    more = ('more', 6, json.dumps(many, ensure_ascii=False, separators=(',', ':')))
    trace = with_arguments(tmp, ('x[1]', 1, 7), ('a..b', 1, 8), ('b.c[0]', 1, 0), ('b.c[1]', 1, 1), more)
    equal(trace.events[0].args, {'x[1]': 7, 'a..b': 8, 'b.c[0]': 0, 'b.c[1]': 1, **many})
    # Names that are paths are in parts, but for an array without its beginning.
    names = set(trace.sequences[2].tables[3].values())
    equal(names, {'x[1]', 'a..b', 'b', 'c', 'd', 'big', 'real', 'yes', 'null', 'text'})
    for text in '{"a":1', '{"a":1,}', '{a:1}', '{"a":[1]}', '{"a":1}}', '{"\\u00e9":1}', '{"a":1 }', '{"a":--1}', 'a=1 b=2':
        trace = with_arguments(tmp, ('i', 1, 7), ('more', 6, text))
        equal(trace.events[0].args, {'i': 7, 'more': text})
    equal(with_arguments(tmp, ('more', 6, '{}')).events[0].args, {})


@case
def strings_are_utf8(tmp):
    """Names, categories, arguments, lines of a log: what is not UTF-8 is U+FFFD, and counted."""
    bad, inline = b'a\xffb\xc3\0\0\0\0', 0x8000 | 4

    def framed(head, *body):
        return words(head | (1 + len(b''.join(body)) // 8) << 4) + b''.join(body)
    process = framed(7 | 1 << 16 | inline << 24, words(100), bad)
    thread = framed(7 | 2 << 16 | inline << 24 | 1 << 40, words(100), bad, argument('process', 8, 100))
    event = framed(4 | 4 << 16 | 1 << 20 | inline << 32 | inline << 48, words(1000, 100, 100), bad, bad,
                   framed(6 | inline << 16 | inline << 32, bad, bad), words(2000))
    path = os.path.join(tmp, 'bad.fxt')
    with open(path, 'wb') as f:
        f.write(words(0x0016547846040010, 1 | 2 << 4, 10**9) + process + thread +
                switch(1000, 0, 0, 100, mark='start') + event)
    trace, good = packets(path), 'a\ufffdb\ufffd'
    (begin, _, args), = trace.slices()[0]
    equal((begin.name, begin.categories, args), (good, [good], {good: good}))
    equal({t['name'] for t in trace.threads} | {c for p in trace.processes for c in p['cmdline']}, {good})
    said = convert(path, path + '.pftrace')
    equal('strings that are not UTF-8' in said, True, said)


@case
def what_packets_cannot_hold_is_counted(tmp):
    """A CPU beyond those that readers take, and a packet that would make them refuse the trace."""
    path = os.path.join(tmp, 'made.fxt')
    system = b'\x0a\x0b\xea\x02\x08\x0a\x06\x0a\x04' + b'Zinc'
    made(tmp, switch(1000, 0, 0, 10, mark='start'), switch(1000, 1024, 0, 20, mark='start'),
         blob(b'\x0a\x03\x0a\x05x'), blob(b'no packet'), blob(b'data', kind=1), blob(system), blob(b'\x0a\x05\x08'))
    said = convert(path, path + '.pftrace')
    equal('7 records, 5 left out (1 record of a CPU above 1023, 3 damaged packets, 1 BLOB)' in said, True, said)
    trace = made(tmp, blob(system[:5]), blob(system[5:]), switch(1000, 0, 0, 10, mark='start'))
    equal(trace.system['sysname'], 'Zinc')


# ---- events -------------------------------------------------------------------------------


def is_linux(koid):
    return 0 < koid < PSEUDO and 0 < koid % STEP < IDS_MAX


def value_of(kind, value):
    return hex(value) if kind == 'pointer' else value.hex() if kind == 'blob' else value


def values(rec):
    """Arguments that a record had no space for are shown one by one."""
    args = {name: value_of(kind, value) for name, kind, value in rec['arguments']}
    if str(args.get('more')).startswith('{'):
        args.update(json.loads(args.pop('more')))
    return args


def frozen(args):
    return tuple(sorted((k, repr(v)) for k, v in args.items()))


class Events:
    """Those of an FXT file, by fxtread.py, at the places where pftrace_reader.py is to find them."""

    def __init__(self, path):
        self.processes, self.threads, self.logs, self.flows, self.power = {}, {}, [], [], []
        self.slices, self.instants, self.counters, self.asyncs = [], [], [], collections.defaultdict(list)
        records = [r for r in fxtread.read(path) if r.get('timestamp', 0) < 2**63]
        for rec in records:
            if rec['type'] == 'kernel_object' and rec['kernel_object_type'] in (1, 2) and rec['name']:
                (self.processes if rec['kernel_object_type'] == 1 else self.threads)[rec['koid']] = rec['name']
        log, timed = None, []
        for order, rec in enumerate(records):
            if rec['type'] in ('event', 'log') and log:
                if not self.is_of(log, rec):
                    self.add_lone(log)
                log = None
            if rec['type'] == 'log':
                log = rec
                self.logs.append((rec['timestamp'], tid(rec['thread'][1]), rec['log_message']))
            elif rec['type'] == 'event':
                timed.append((rec['timestamp'], order, rec))
        if log:
            self.add_lone(log)
        for _, _, rec in timed:
            if rec['event_type'].startswith('async'):
                self.add_async(rec)
        self.take(rec for _, _, rec in sorted(timed, key=lambda t: t[:2]))
        for stack in self.asyncs.values():
            self.slices += [(*begun, None, *what, frozen(args)) for begun, what, args in stack]

    @staticmethod
    def is_of(log, rec):
        return (rec['type'] == 'event' and rec['event_type'] == 'instant' and rec['category'] == 'log' and
                rec['timestamp'] == log['timestamp'] and rec['thread'] == log['thread'])

    def add_lone(self, log):
        name = log['log_message'].encode()[:80].decode(errors='ignore')
        self.instants.append((self.place(log['thread']), log['timestamp'], 'log', name,
                              frozen({'text': log['log_message']})))

    def process_place(self, koid):
        return ('process', tid(koid)) if is_linux(koid) else ('root', self.processes.get(koid, f'process {koid}'))

    def place(self, thread):
        process, koid = thread
        if is_linux(koid) and (not process or is_linux(process)):
            return 'thread', tid(koid)
        name = self.threads.get(koid, '')
        if name.endswith(' markers') and PSEUDO + 1_000_000 <= koid < PSEUDO + 50_000_000:
            return ('thread', int(name.split()[0])), name    # below the thread that has them
        return self.process_place(process), self.threads.get(koid, f'thread {koid}')

    def add_async(self, rec):
        stack, at = self.asyncs[rec['category'], rec['async_correlation_id']], rec['timestamp']
        process = rec['thread'][0] or (rec['thread'][1] if is_linux(rec['thread'][1]) else 0)
        place = stack[0][0][0] if stack else (self.process_place(process), rec['name'])
        if rec['event_type'] == 'async_begin':
            stack.append(((place, at), (rec['category'], rec['name']), values(rec)))
        elif rec['event_type'] == 'async_end' and stack:
            begun, what, args = stack.pop()
            self.slices.append((*begun, at - begun[1], *what, frozen({**args, **values(rec)})))
        else:
            self.instants.append((place, at, rec['category'], rec['name'], frozen(values(rec))))

    def take(self, records):
        stacks = collections.defaultdict(list)
        for rec in records:
            kind, at, args = rec['event_type'], rec['timestamp'], values(rec)
            begun, what = (self.place(rec['thread']), at), (rec['category'], rec['name'])
            if rec['category'] == 'atrace' and kind in ('duration_begin', 'duration_end') and begun[0][0] == 'thread':
                begun = (begun[0], 'markers'), at       # these may cross other slices
            if kind == 'duration_complete':
                self.slices.append((*begun, rec['end_time'] - at, *what, frozen(args)))
            elif kind == 'duration_begin':
                stacks[begun[0]].append((begun, what, args))
            elif kind == 'duration_end' and stacks[begun[0]]:
                first, what, before = stacks[begun[0]].pop()
                self.slices.append((*first, at - first[1], *what, frozen({**before, **args})))
            elif kind == 'instant':
                self.instants.append((*begun, *what, frozen(args)))
            elif kind == 'counter':
                self.add_counter(rec, at)
            elif kind.startswith('flow'):
                self.flows.append((kind == 'flow_end', rec['flow_correlation_id'] or 2**64 - 1, *begun))
        self.slices += [(*b, None, *what, frozen(args)) for stack in stacks.values() for b, what, args in stack]

    def add_counter(self, rec, at):
        if rec['thread'][0] == PSEUDO + 3 and rec['name'] in ('cpu_idle', 'cpu_frequency'):
            self.power.append((at, rec['name'], rec['counter_id'], values(rec)['state'] & 0xffffffff))
            return
        for name, kind, value in rec['arguments']:
            if kind in ('int32', 'uint32', 'int64', 'uint64') or kind == 'double' and abs(value) < float('inf'):
                track = rec['name'] + (f' {name}' if name not in ('', 'value') else '')
                track += f' {rec["counter_id"]}' if rec['counter_id'] else ''
                self.counters.append((self.process_place(rec['thread'][0]), track, at, float(value)))


def check_events(path, trace):
    expected = Events(path)
    slices, instants = trace.slices()
    equal_multisets([(trace.place(b.track), b.ts, dur, ','.join(b.categories), b.name, frozen(args))
                     for b, dur, args in slices], expected.slices, 'slices')
    found = collections.Counter((trace.place(i.track), i.ts, ','.join(i.categories), i.name, frozen(i.args))
                                for i in instants)
    missing = collections.Counter(expected.instants) - found
    equal(missing, collections.Counter(), 'missing instants')
    # The others are there for the flows that they have.
    extra = sum((found - collections.Counter(expected.instants)).values())
    equal(extra <= sum(bool(i.flows or i.terminating) for i in instants), True, f'{extra} more instants')
    equal_multisets([(end, flow, trace.place(e.track), e.ts) for e in trace.events
                     for end, flows in ((False, e.flows), (True, e.terminating)) for flow in flows],
                    expected.flows, 'flows')
    equal_multisets([(*trace.place(e.track), e.ts, float(e.value)) for e in trace.events if e.type == pftrace_reader.COUNTER],
                    expected.counters, 'counters')
    equal_multisets(trace.power, expected.power, 'states of CPUs')
    if trace.clocks.get(1):
        equal_multisets([(line.ts, line.tid, line.message) for line in trace.logs], expected.logs, 'log')
    return collections.Counter(slices=len(slices), instants=len(instants), flows=len(expected.flows),
                               counters=len(expected.counters), logs=len(trace.logs), power=len(trace.power))


INSTANT, COUNTER, BEGIN, END, COMPLETE, FLOW_BEGIN, FLOW_END = 0, 1, 2, 3, 4, 8, 10


def event(kind, ts, category, name, *last, args=()):
    """Of process and thread 100; @last: what follows the arguments, the end of a slice or an id."""
    body = words(ts, 100, 100) + padded(category) + padded(name) + b''.join(argument(*a) for a in args) + words(*last)
    return words(4 | (1 + len(body) // 8) << 4 | kind << 16 | len(args) << 20 | (0x8000 | len(category)) << 32 |
                 (0x8000 | len(name)) << 48) + body


@case
def flows_are_of_what_is_open(tmp):
    """One after an end is of the slice around it: an instant there has it, not the end."""
    trace = made(tmp, event(BEGIN, 1000, 'c', 'outer'), event(BEGIN, 1500, 'c', 'inner'), event(END, 2000, 'c', 'inner'),
                 event(FLOW_BEGIN, 2000, 'c', 'arrow', 7), event(END, 3000, 'c', 'outer'), event(BEGIN, 4000, 'c', 'to'),
                 event(FLOW_END, 4000, 'c', 'arrow', 7), event(END, 5000, 'c', 'to'))
    equal([(e.ts, e.type, e.name) for e in trace.events if e.flows or e.terminating],
          [(2000, pftrace_reader.INSTANT, 'arrow'), (4000, pftrace_reader.BEGIN, 'to')])


@case
def counters_of_one_name_are_apart(tmp):
    """By category, id and argument; what comes back is as it was."""
    rows = (('psi', 'cnt', 0, 'value', 1), ('c', 'cnt', 0, 'value', 2), ('c', 'cnt', 4, 'value', 3), ('c', 'cnt', 0, '4', 4),
            ('c', 'cnt 4', 0, 'value', 5), ('c', 'cnt', 0, 'value', 6))
    trace = made(tmp, *(event(COUNTER, 1000 + i, category, name, ident, args=[(arg, 1, value)])
                        for i, (category, name, ident, arg, value) in enumerate(rows)))
    tracks = [e.track for e in trace.events]
    equal((len(set(tracks)), tracks[1] == tracks[5]), (5, True))
    back = os.path.join(tmp, 'back.fxt')
    convert(os.path.join(tmp, 'made.fxt.pftrace'), back)
    equal([(r['category'], r['name'], r['counter_id'], *r['arguments'][0][::2]) for r in fxtread.read(back) if r['type'] == 'event'],
          list(rows))


@case
def markers_do_not_cross_system_calls(tmp):
    """A program marks by writing: a begin is within one call, its end within another."""
    trace = made(tmp, event(COMPLETE, 1000, 'syscalls', 'write', 2000), event(BEGIN, 1500, 'atrace', 'load'),
                 event(COMPLETE, 3000, 'syscalls', 'write', 4000), event(END, 3500, 'atrace', 'load'))
    slices, _ = trace.slices()
    equal(sorted((b.ts, dur, b.name, trace.place(b.track)) for b, dur, _ in slices),
          [(1000, 1000, 'write', ('thread', 100)), (1500, 2000, 'load', (('thread', 100), 'markers')),
           (3000, 1000, 'write', ('thread', 100))])


@case
def events_are_those_of_the_trace(tmp):
    totals = collections.Counter()
    for name, fxt in [*traces(tmp), *json_traces(tmp)]:
        try:
            totals += check_events(fxt, packets(fxt))
        except (AssertionError, pftrace_reader.Damage) as error:
            raise AssertionError(f'{name}: {error}') from error
    print(f'# {dict(totals)}')
    equal([n for n in ('slices', 'instants', 'flows', 'counters', 'logs', 'power') if not totals[n]], [])


if __name__ == '__main__':
    sys.exit(run('pftrace_out'))
