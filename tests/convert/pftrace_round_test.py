#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""FXT to Perfetto packets and back, and Perfetto packets to FXT and back, judged by an independent reader of FXT.

    pftrace_round_test.py BUILD_DIR [SAMPLE...]

What fxtread.py finds in a trace and in what comes back is the same: switches, wakeups, slices, instants, counters,
flows, log lines and names, with times, threads and arguments. The differences that docs/design.md describes are
expected exactly, sample by sample: a new one fails, and so does one that is no more. Prints TAP and the totals.
"""
import collections
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
import fxtread  # noqa: E402
import pftrace_reader  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
STEP, IDS_MAX, PSEUDO = 10_000_000, 4194304, 4_200_000_000
TIE_NS = 10     # as many records are at one time at most
TIES = 32       # switches and wakeups of all samples that packets have at another time, so that none are at one time
# Not converted at all, with reasons that json_test.py checks.
REFUSED = {'empty-array.json', 'empty-object.json', 'jsonl.json', 'no-trace-events.json', 'not-json.txt'}
# By sample and kind what is missing, and what is there instead.
WS = ('8,1 WS 4096 () 4211 + 8 [db: writer]', '8,1 WS () 4211 + 8 [0]')
EXEC = (('filename', "'/bin/second'"), ('old_pid', '313'), ('pid', '313'))
RENAME = (('newcomm', "'second'"), ('oldcomm', "'sh'"), ('oom_score_adj', '0'), ('pid', '313'))
DIFFERENCES = {
    # A thread of the kernel is a process of its own where it has async slices.
    'recording.fxt.gz': {'processes': ([], [(10, 'kworker/0:0H', None)])},
    # A process of the source whose only threads are not Linux's, and one that only counters are of.
    'metadata.json': {'processes': ([], [(3, 'pid only', None)])},
    # A thread that packets name has 32 bytes of a name.
    'real-node-20.json': {'threads': ([(21668, 'WorkerThreadsTaskRunner::DelayedTaskScheduler', 21665)],
                                      [(21668, 'WorkerThreadsTaskRunner::Delayed', 21665)])},
    # An async slice of the kernel's process, which is no process of Linux, is one of a track.
    'ftrace-verbose.pftrace': {
        'asyncs': ([('kernel', 1000000623134, 'block', 'WS', (('request', repr(WS[0])),),
                     (1000000623334, (('completion', repr(WS[1])),)))], []),
        'slices': ([], [('kernel / WS', 1000000623134, None, 'duration_begin', 'block', 'WS', (('request', repr(WS[0])),)),
                        ('kernel / WS', 1000000623334, None, 'duration_end', '', '', (('completion', repr(WS[1])),))])},
    # The second life of an id without a switch or a wakeup: packets have no birth of it.
    'process-names.pftrace': {
        'instants': ([(10000313, 1000000002100, 'sched', 'sched_process_exec', EXEC),
                      (10000313, 1000000002100, 'task', 'task_rename', RENAME)],
                     [('pid 313 / tid 313', 1000000002100, 'sched', 'sched_process_exec', EXEC),
                      ('pid 313 / tid 313', 1000000002100, 'task', 'task_rename', RENAME)]),
        'processes': ([(10000313, 'second', 303)], []),
        'threads': ([(10000313, 'second', 10000313)], [])},
    # A line of a log that no instant of category "log" goes with gets one.
    'samples-and-logs.pftrace': {'instants': ([], [
        (thread, at, 'log', text, (('text', repr(text)),)) for thread, at, text in (
            (700, 1000031000000, 'refused'), (701, 1000030000000, 'usb 1-1: new device'),
            (701, 1000030000001, 'Fehler: voll'), (701, 1000030000002, ''))])},
    # Begins and ends on what is no thread of Linux, in a process of Linux, are async slices.
    'te-tracks.pftrace': {
        'asyncs': ([], [(6000, 1000000025000, 'async', 'await', (), (1000000028000, ())),
                        (6000, 1000000201000, '', 'down', (), (1000000206000, ())),
                        (6000, 1000000206000, '', 'up', (), (1000000211000, ()))]),
        'slices': ([('6000 / process', at, None, 'duration_' + kind, category, name, ()) for at, kind, category, name in (
            (1000000025000, 'begin', 'async', 'await'), (1000000028000, 'end', '', ''), (1000000201000, 'begin', '', 'down'),
            (1000000206000, 'begin', '', 'up'), (1000000206000, 'end', '', ''), (1000000211000, 'end', '', ''))], [])},
}


def is_linux(koid):
    return 0 < koid < PSEUDO and 0 < koid % STEP < IDS_MAX


class Found:
    """What an FXT file has, comparable: multisets of tuples by kind; of the first one what is to come back."""

    def __init__(self, path, is_first):
        self.is_first = is_first
        self.processes, self.threads, self.has_wall_clock = {}, {}, False
        self.found = collections.defaultdict(collections.Counter)
        self.asyncs, self.flows = collections.defaultdict(list), collections.defaultdict(list)
        self.current = {}       # of each CPU: the thread that was switched in, its weight then
        self.held = None        # the last event, with which a flow can go
        records = list(fxtread.read(path))
        for rec in records:
            if rec['type'] == 'kernel_object' and rec['kernel_object_type'] in (1, 2):
                table = self.processes if rec['kernel_object_type'] == 1 else self.threads
                table[rec['koid']] = rec['name'], {name: value for name, _, value in rec['arguments']}
            self.has_wall_clock |= rec['type'] == 'blob' and has_snapshot(rec['payload'])
        for rec in records:
            self.take(rec)
        self.end()

    def end(self):
        for stack in self.asyncs.values():
            for begun in stack:
                self.add('asyncs', *begun, None)
        for chain in self.flows.values():
            self.add('flows', *sorted(chain, key=str))
        for koid, (name, args) in self.threads.items():
            if is_linux(koid) and name:
                self.add('threads', koid, name, args.get('process'))
        for koid, (name, args) in self.processes.items():
            if is_linux(koid) and name:
                self.add('processes', koid, name, args.get('parent') or None)     # a parent 0 is none

    def add(self, kind, *what):
        self.found[kind][what] += 1

    # ---- places ----

    def process(self, thread):
        process, koid = thread
        if not process and is_linux(koid):
            return koid     # a thread of the kernel: packets have it as a process of its own
        return process if is_linux(process) else self.processes.get(process, ('', 0))[0] or f'process {process}'

    def place(self, thread):
        """A thread, or the name of a track. What is no thread of Linux is one of its process, or of the process "global"."""
        if is_linux(thread[1]) and (not thread[0] or is_linux(thread[0])):
            return thread[1]
        process, name = self.process(thread), self.threads.get(thread[1], ('', 0))[0] or f'thread {thread[1] % STEP}'
        if self.is_first:
            return f'{process} / process' if isinstance(process, int) and not name.endswith(' markers') else f'{process} / {name}'
        return name if process == 'global' else f'{process} / {name}'

    def place_of(self, rec):
        """Begins and ends that programs mark are on a track of their own."""
        place = self.place(rec['thread'])
        if self.is_first and rec['category'] == 'atrace' and rec['event_type'] in ('duration_begin', 'duration_end'):
            return f'{self.process(rec["thread"])} / {place} markers' if isinstance(place, int) else place
        return place

    # ---- arguments ----

    def value(self, kind, value):
        if kind == 'pointer':
            return f'{value:016x}'
        return repr(value.hex() if kind == 'blob' and self.is_first else value)

    def args(self, rec, leave_out=()):
        """Which of many are in the argument "more" depends on those that are null, as these do not come back."""
        args = [(name, self.value(kind, value)) for name, kind, value in rec['arguments']
                if kind != 'null' and not (self.is_first and (name in leave_out or (name, value) in leave_out))]
        if args and args[-1][0] == 'more' and args[-1][1].startswith("'{"):
            args[-1:] = [(name, repr(value)) for name, value in json.loads(rec['arguments'][-1][2]).items()]
        return tuple(sorted(args))

    # ---- records ----

    def take_weight(self, rec):
        """Packets have the priority of a thread where it is switched in, not where it is switched out."""
        weights = {name: value for name, _, value in rec['arguments'] if name.endswith('_weight')}
        thread, weight = self.current.get(rec['cpu_number'], (None, 0))
        if self.is_first and thread == rec['outgoing_thread_id'] and 'outgoing_weight' in weights:
            rec['arguments'] = [(name, kind, weight if name == 'outgoing_weight' else value)
                                for name, kind, value in rec['arguments']]
        if ('mark', 'string', 'state') not in rec['arguments']:
            self.current[rec['cpu_number']] = rec['incoming_thread_id'], weights.get('incoming_weight')

    def take(self, rec):
        kind = rec['type']
        if kind == 'context_switch':
            self.take_weight(rec)
            self.add('switches', rec['timestamp'], rec['cpu_number'], rec['outgoing_thread_id'],
                     rec['incoming_thread_id'], rec['outgoing_thread_state'],
                     self.args(rec, ('stack', 'user_stack', ('linux_state', 'S'), ('linux_state', 'R'))))
        elif kind == 'thread_wakeup':
            self.add('wakeups', rec['timestamp'], rec['cpu_number'], rec['waking_thread_id'],
                     self.args(rec, ('stack', 'user_stack')))
        elif kind == 'log' and (self.has_wall_clock or not self.is_first):
            self.add('log', rec['timestamp'], self.place(rec['thread']), rec['log_message'])
        elif kind == 'event' and rec['event_type'].startswith('flow'):
            self.take_flow(rec)
        elif kind == 'event':
            self.take_event(rec)

    def take_async(self, rec):
        at, process = rec['timestamp'], self.process(rec['thread'])
        stack = self.asyncs[rec['category'], rec['async_correlation_id']]
        if rec['event_type'] == 'async_begin':
            stack.append((process, at, rec['category'], rec['name'], self.args(rec)))
        elif rec['event_type'] == 'async_end' and stack:
            self.add('asyncs', *stack.pop(), (at, self.args(rec)))
        elif self.is_first:     # an instant of its process
            self.add('instants', f'{process} / process', at, rec['category'], rec['name'], self.args(rec))
        else:
            self.add('asyncs', process, at, rec['category'], rec['name'], self.args(rec), None)

    def take_event(self, rec):
        kind, at, what = rec['event_type'], rec['timestamp'], (rec['category'], rec['name'])
        place = self.place_of(rec)
        self.held = None if kind in ('counter', 'duration_end') or kind.startswith('async') else (place, at)
        if kind.startswith('async'):
            self.take_async(rec)
        elif kind == 'counter':
            self.add('counters', self.process(rec['thread']), at, *what, rec['counter_id'], self.args(rec))
        elif kind == 'instant':
            self.add('instants', place, at, *what, self.args(rec))
        else:
            name = what if kind != 'duration_end' else ('', '')    # packets name a slice where it begins
            self.add('slices', place, at, rec.get('end_time'), kind, *name, self.args(rec))

    def take_flow(self, rec):
        """Packets have flows at events: one that is at no event has an instant."""
        at, place, chain = rec['timestamp'], self.place(rec['thread']), self.flows[rec['flow_correlation_id']]
        if self.is_first and self.held != (place, at):
            self.add('instants', place, at, rec['category'], rec['name'], self.args(rec))
            self.held = place, at
        chain.append((at, rec['event_type'], place))


def has_snapshot(packets):
    """Only the recorder knows the wall clock, and writes a packet of it."""
    return any(6 in pftrace_reader.message(packet) for packet in pftrace_reader.message(packets)[1])


# ---- the way ------------------------------------------------------------------------------------


def convert(source, to):
    r = subprocess.run([KFXT, 'convert', '-q', '-o', to, source], capture_output=True, timeout=120)
    if r.returncode:
        raise AssertionError(f'{source}: exit code {r.returncode}: {r.stderr.decode()}')


def samples():
    found = [f'{TESTS}/{name}.fxt.gz' for name in ('golden/states-6.1', 'corpus/fxt/recording')]
    for folder, suffix in ('ftrace', ''), ('json', ''), ('pftrace', '.pftrace'):
        found += [f.removesuffix('.facts.json') + suffix for f in sorted(glob.glob(f'{TESTS}/corpus/{folder}/*.facts.json'))]
    return [f for f in found if os.path.basename(f) not in REFUSED]


def trip(sample, tmp):
    """Names of files: the trace, its packets, what comes back, and the packets of that."""
    first, packets, back, again = (f'{tmp}/{name}' for name in ('t.fxt', 't.pftrace', 'back.fxt', 'again.pftrace'))
    if sample.endswith('.fxt.gz'):
        with gzip.open(sample) as packed, open(first, 'wb') as out:
            shutil.copyfileobj(packed, out)
    else:
        convert(sample, first)
    for source, to in (first, packets), (packets, back), (back, again):
        convert(source, to)
    return first, packets, back, again


# ---- comparing ------------------------------------------------------------------------------------


def without_ties(kind, missing, new):
    """Scheduling that only moved: what must not be at one time for readers is some ns later. How many there were.

    A wakeup that a switch implies is 1 ns earlier instead, where the thread does not fall asleep then."""
    moved = 0
    for what in sorted(new.elements(), key=str):
        is_implied = kind == 'wakeups' and ('mark', "'implied'") in what[-1]
        for before in (*[-1] * is_implied, *range(1, TIE_NS)):
            old = (what[0] - before, *what[1:])
            if missing[old] > 0:
                missing[old] -= 1
                new[what] -= 1
                moved += 1
                break
    return +missing, +new, moved


def compare(first, back, expected):
    """What differs and was not expected to, or the other way round; and how many records moved."""
    wrong, moved = [], 0
    for kind in sorted(set(first) | set(back)):
        missing, new = first[kind] - back[kind], back[kind] - first[kind]
        if kind in ('switches', 'wakeups', 'wakings'):
            missing, new, ties = without_ties(kind, missing, new)
            moved += ties
        for what, got, is_to_be in zip(('missing', 'new'), (missing, new), expected.get(kind, ([], []))):
            if got != collections.Counter(is_to_be):
                wrong.append(f'{kind} {what}: {str(sorted(got.elements(), key=str))[:1500]}, '
                             f'expected {str(sorted(is_to_be, key=str))[:1500]}')
    return wrong, moved


def packets_of(path):
    """What does not depend on how tracks are arranged, nor on the rings that records came from."""
    def text(args):
        return str(sorted((name, value) for name, value in args.items() if value is not None))
    trace = pftrace_reader.read(path)
    slices, instants = trace.slices()
    return {
        'switches': collections.Counter((s.ts, s.cpu, s.prev_state, s.next, s.prio) for s in trace.switches),
        'wakings': collections.Counter((w.ts, w.pid, w.target, w.prio, 0 if w.flags & 8 else w.waker) for w in trace.wakings),
        'slices': collections.Counter((b.ts, dur, b.name, tuple(b.categories), text(args))
                                      for b, dur, args in slices),
        'instants': collections.Counter((i.ts, i.name, tuple(i.categories), text(i.args)) for i in instants),
        'counters': collections.Counter((e.ts, trace.tracks[e.track].name, e.value) for e in trace.events
                                        if e.type == pftrace_reader.COUNTER),
        'power': collections.Counter(trace.power),
    }


def round_trip(sample, tmp):
    """What is wrong with one sample, and how many of its records are moved by a tie."""
    first, packets, back, again = trip(sample, tmp)
    expected = DIFFERENCES.get(os.path.basename(sample), {})
    wrong, moved = compare(Found(first, True).found, Found(back, False).found, expected)
    once, twice = packets_of(packets), packets_of(again)
    more, ties = compare(once, twice, {})
    return wrong + [f'packets again, {line}' for line in more], moved + ties


def main():
    names = sys.argv[2:]
    chosen = [s for s in samples() if not names or os.path.basename(s) in names]
    failed = moved = 0
    with tempfile.TemporaryDirectory() as tmp:
        for sample in chosen:
            try:
                wrong, ties = round_trip(sample, tmp)
            except Exception as error:  # noqa: BLE001: one must not end the others
                wrong, ties = [f'{type(error).__name__}: {error}'], 0
            moved += ties
            failed += bool(wrong)
            print(f'not ok - {os.path.basename(sample)}' if wrong else f'ok - {os.path.basename(sample)}')
            for line in wrong:
                print(f'# {line}')
    print(f'# {moved} switches and wakeups are moved by a tie')
    if not names and moved != TIES:
        print(f'not ok - {TIES} are expected')
        failed += 1
    print(f'pftrace_round: {max(len(chosen) - failed, 0)} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
