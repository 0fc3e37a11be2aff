#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of the presets of -e, against what the kernel's own tracer has of the same tracepoints.

    preset_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import collections
import contextlib
import errno
import glob
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from account import lost_by, unreported_switches  # noqa: E402
from functions import read_text  # noqa: E402
from harness import (BUILD, KFXT, PATIENCE, SCALE, TRACEFS, Instance, Skip, equal, expect, last_cpu, load, main,  # noqa: E402
                     note, record, run, scaled, start, test, until, verify)
import fxtread  # noqa: E402, where trace.py found it

EVENTS = {
    'irq': ['irq/irq_handler_entry', 'irq/irq_handler_exit', 'irq/softirq_entry', 'irq/softirq_exit'],
    'workqueue': ['workqueue/workqueue_' + e for e in ('queue_work', 'execute_start', 'execute_end')],
    'power': ['power/cpu_idle', 'power/cpu_frequency'],
    'block': ['block/block_rq_' + e for e in ('issue', 'complete', 'requeue')],
}
VECTORS = ('local_timer', 'reschedule', 'call_function', 'call_function_single', 'irq_work')
SLACK = 0.02 / SCALE        # seconds between two programs on one tracepoint, with a host that takes the CPU away
LINE = r'^ *(?P<comm>.+)-(?P<tid>\d+) +\[(?P<cpu>\d+)\] (?P<flags>\S+) +(?P<ts>[\d.]+): (?P<event>\w+): (?P<text>.*)$'
# Two threads that read and write a file or disk past the cache and flush now and then; one on the last CPU.
IO = r'''
import mmap, os, sys, threading
path, count = sys.argv[1], int(sys.argv[2])
def work(first):
    if not first:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    fd, page = os.open(path, os.O_RDWR | os.O_DIRECT), mmap.mmap(-1, 16384)
    for n in range(first, first + count):
        os.pwritev(fd, [page], n * 16384)
        os.preadv(fd, [page], n * 16384)
        if n % 8 == 0:
            os.fsync(fd)
threads = [threading.Thread(target=work, args=(n * count,)) for n in range(2)]
for t in threads: t.start()
for t in threads: t.join()
'''

STEP = 10_000_000           # between the koids of threads that have the same id

Event = collections.namedtuple('Event', 'type ts end thread category name id args')


class Scratch:
    """The path of a disk that is there for that, or of a file on a disk."""

    def __enter__(self):
        for path in glob.glob('/sys/block/*/device/serial'):
            with open(path) as f:
                if f.read().strip() == 'kfxt-scratch':
                    self.file = None
                    return '/dev/' + path.split('/')[3]
        self.file = os.path.join(BUILD, f'scratch-{os.getpid()}')
        with open(self.file, 'wb') as f:
            f.write(bytes(1 << 24))
            os.fsync(f)
        return self.file

    def __exit__(self, *_):
        if self.file:
            os.unlink(self.file)


def io(path):
    return '--', sys.executable, '-c', IO, path, str(scaled(200) + 10)


def vectors():
    return [v for v in VECTORS if os.path.exists(f'{TRACEFS}/events/irq_vectors/{v}_entry')]


def tracer(*presets):
    """The kernel's tracer of the tracepoints that these presets use."""
    events = [e for p in presets for e in EVENTS[p]]
    if 'irq' in presets:
        events += [f'irq_vectors/{v}_{end}' for v in vectors() for end in ('entry', 'exit')]
    return Instance(*events)


def lines_of(instance):
    """What it has: [(ns, CPU, tid, flags, event, text)]. Nothing may be missing."""
    lines = [(round(float(m['ts']) * 1e6) * 1000, int(m['cpu']), int(m['tid']), m['flags'], m['event'], m['text'])
             for m in instance.lines(LINE)]
    for path in glob.glob(instance.dir + '/per_cpu/cpu*/stats'):
        with open(path) as f:
            equal(re.findall(r'^(?:overrun|dropped events): (\d+)', f.read(), re.M), ['0', '0'], 'what the tracer lost')
    return lines


def events_of(trace, category):
    found = []
    for rec in fxtread.read(trace):
        if rec['type'] == 'event' and rec['category'] in category:
            found.append(Event(rec['event_type'], rec['timestamp'], rec.get('end_time'), rec['thread'], rec['category'],
                               rec['name'], rec.get('counter_id', rec.get('async_correlation_id')),
                               {n: v for n, _, v in rec['arguments']}))
    return sorted(found, key=lambda e: e.ts)


def record_all(tmp, *args):
    """By rings that do not fill while the recorder waits for a CPU; what the command printed."""
    return record(tmp + '/t.fxt', '-m', '32M', *args)


def check(tmp):
    """The trace is without fault, its ledger is right and nothing was lost that the kernel reported; the trace."""
    verify(tmp + '/t.fxt')
    t = load(tmp + '/t.fxt')
    if not gaps_of(t):
        equal(t.ledger_sum('lost_events'), 0, f'lost, rings of {t.events["start"][1]["ring_bytes"]} bytes, {t.ledger}')
    return t


def align(mine, other):
    """For each of @mine which of @other it is: in order, and the times as near as can be."""
    extra, cost, choices = len(other) - len(mine) + 1, None, []
    for i, m in enumerate(mine):
        here = [abs(other[i + k][0][0] - m[0][0]) for k in range(extra)]
        # With k left out so far: the best of those before with at most k.
        before = list(itertools.accumulate(range(extra), lambda a, k: k if cost[k] < cost[a] else a)) if cost else None
        cost = [c + (cost[before[k]] if before else 0) for k, c in enumerate(here)]
        choices.append(before)
    k, found = min(range(extra), key=lambda k: cost[k]) if mine else 0, []
    for i in reversed(range(len(mine))):
        found.append(i + k)
        k = choices[i][k] if choices[i] else k
    return found[::-1]


def match(ours, theirs, t, hidden=lambda other: False):
    """
    Pairs off two dicts of {(CPU or None, ...): [(times in ns, more...)]}. For each key both tell the
    same in the same order; what only the tracer has is from before or after our recording, a moment
    within, or from when the kernel kept more to itself, which is where CPUs have gaps, or what is @hidden.
    """
    pairs, unseen, distant, slack, gaps = [], 0, [], SLACK * 1e9, gaps_of(t)
    for key in sorted(set(ours) | set(theirs), key=str):
        mine, (first, begin, end, last) = ours.get(key, []), windows_of(t)[key[0]]
        other = [o for o in theirs.get(key, []) if first - slack < o[0][0] and o[0][-1] < last + slack]
        expect(len(mine) <= len(other), f'{key}: {len(mine)} in the trace, {len(other)} in the tracer')
        which = align(mine, other)
        for m, o in zip(mine, map(other.__getitem__, which)):
            if max(abs(a - b) for a, b in zip(m[0], o[0])) >= slack:
                distant.append(f'{key}: {m} in the trace, {o} in the tracer')
            pairs.append((m, o))
        for i in set(range(len(other))) - set(which):
            times = other[i][0]
            if begin + slack < times[0] and times[-1] < end - slack:
                expect(any(a <= ts <= b for ts in times for a, b in gaps) or hidden(other[i]),
                       f'{key}: {other[i]} is in the tracer and not in the trace')
                unseen += 1
    # A host may take the CPU away for longer just between the two.
    expect(len(distant) <= 1 + len(pairs) / 200, f'{len(distant)} of {len(pairs)}: {distant[:5]}')
    far = sorted(abs(a - b) for m, o in pairs for a, b in zip(m[0], o[0]))
    if far:
        note(f'{len(pairs)} of {len(ours)} kinds, {far[len(far) // 2] / 1000:.1f} us apart, at most '
             f'{far[-1] / 1000:.1f}; {unseen} in gaps')
    return pairs


def gaps_of(t):
    """[(from, to)]: when a CPU's switches were not reported, and a little more."""
    found, since = [], {}
    for s in t.switches:
        if s.mark == 'gap' and s.cpu in since:
            found.append((since.pop(s.cpu) - 1e6, s.ts + 1e6))
        elif s.mark == 'gap':
            since[s.cpu] = s.ts
    return found


def windows_of(t):
    """{CPU: (from, from, to, to)}, and None: any CPU's, what all have in common, any CPU's."""
    ends = {mark: {s.cpu: s.ts for s in t.switches if s.mark == mark} for mark in ('start', 'stop')}
    windows = {cpu: (ts, ts, ends['stop'][cpu], ends['stop'][cpu]) for cpu, ts in ends['start'].items()}
    starts, stops = ends['start'].values(), ends['stop'].values()
    windows[None] = min(starts), max(starts), min(stops), max(stops)
    return windows


def collect(items):
    found = collections.defaultdict(list)
    for key, *item in items:
        found[key].append(tuple(item))
    return found


# ---- irq ------------------------------------------------------------------------------

def irqs_of_tracer(lines):
    """((CPU, kind, number, name), (entry, exit), outcome, thread it came upon) of each pair."""
    open_ones = {}
    for ts, cpu, tid, _, event, text in lines:
        kind, _, end = event.rpartition('_')
        number = int(re.search(r'(?:irq|vec|vector)=(\d+)', text)[1])
        name = re.search(r'(?:name|action)=([^\]]*)', text)
        if end == 'entry':
            open_ones[cpu, kind] = ts, number, name[1] if name else kind
            continue
        if (cpu, kind) in open_ones:
            begin, same, name = open_ones.pop((cpu, kind))
            equal(number, same, f'{kind}: exit of another than was entered')
            yield (cpu, kind, number, name), (begin, ts), text.partition('ret=')[2], tid


def irqs_of_trace(t, path):
    for e in events_of(path, ('irq', 'irq_vectors')):
        equal(e.type, 'duration_complete', 'how an interrupt is drawn')
        name, process = t.threads[e.thread[1]]
        equal((e.thread[0], t.processes[process]), (process, 'interrupts'), 'its process')
        kind, cpu = re.fullmatch(r'(irq|softirq) CPU (\d+)', name).groups()
        kind = e.name if e.category == 'irq_vectors' else 'irq_handler' if kind == 'irq' else kind
        expect(e.args['interrupted'] in t.threads, f'interrupted {e.args["interrupted"]}, which has no name')
        number = [e.args[n] for n in ('irq', 'vec', 'vector') if n in e.args]
        yield (int(cpu), kind, number[0], e.name), (e.ts, e.end), e.args.get('ret', '')


def tids_of_init(t):
    """Some kernels hide what comes upon certain threads of process 1: see gaps_of(). Where none is hidden: nobody."""
    now_there = {int(tid) for tid in os.listdir('/proc/1/task')}
    those_ended = {koid % STEP for koid, (_, process) in t.threads.items() if process == 1}
    return now_there | those_ended if unreported_switches(t) else set()


@test
def interrupts(tmp):
    with tracer('irq') as instance, Scratch() as path:
        record_all(tmp, '-e', 'irq', *io(path))
        lines = lines_of(instance)
    t = check(tmp)
    ours, theirs = collect(irqs_of_trace(t, tmp + '/t.fxt')), collect(irqs_of_tracer(lines))
    init = tids_of_init(t)
    for mine, other in match(ours, theirs, t, lambda other: other[2] in init):
        equal(mine[1], other[1], 'what the handler returned')
    kinds = {key[1] for key in ours}
    expect(kinds >= {'irq_handler', 'softirq'} | ({'local_timer'} & set(vectors())), f'only {kinds}')
    # Neither kind overlaps itself.
    for tracks in ({'softirq'}, kinds - {'softirq'}):
        for cpu in {key[0] for key in ours}:
            times = sorted(i[0] for key, items in ours.items() for i in items if key[0] == cpu and key[1] in tracks)
            equal([(a, b) for a, b in zip(times, times[1:]) if b[0] <= a[0] or b[0] < a[1]], [], f'CPU {cpu}: overlaps')


def interrupts_so_far():
    with open('/proc/stat') as f:
        return sum(int(line.split()[1]) for line in f if line.startswith(('intr ', 'softirq ')))


@test
def loss_is_counted(tmp):
    """Nobody empties the rings for a while."""
    with tracer('irq') as instance:
        recorder = start(tmp + '/t.fxt', '-m', '4K', '-e', 'irq')
        recorder.send_signal(signal.SIGSTOP)
        enough = interrupts_so_far() + 1000     # of which some are not recorded; a ring holds some 100
        while interrupts_so_far() < enough:
            time.sleep(0.0005)                  # itself ended by an interrupt of the timer
        recorder.send_signal(signal.SIGCONT)
        recorder.send_signal(signal.SIGINT)
        err = recorder.communicate(timeout=3 * PATIENCE)[1].decode()
        lines = lines_of(instance)
    verify(tmp + '/t.fxt')
    t, lost = load(tmp + '/t.fxt'), lost_by(err, 'rings full')['event']
    expect(lost, err)
    equal(t.ledger_sum('lost_events') - t.ledger_sum('unpaired_events'), lost, 'lost, ledger against summary')
    windows = windows_of(t)
    theirs = [times for key, times, *_ in irqs_of_tracer(lines)
              if windows[key[0]][0] <= times[0] and times[1] <= windows[key[0]][-1]]
    have = len(list(irqs_of_trace(t, tmp + '/t.fxt')))
    init = tids_of_init(t)
    hidden = sum(tid in init for ts, _, tid, _, event, _ in lines if event.endswith('_entry'))
    missing = len(theirs) - have - t.ledger_sum('lost_events')
    note(f'{len(theirs)} in the tracer, {have} in the trace, {lost} lost, {hidden} upon threads of process 1')
    expect(-2 * len(windows) <= missing <= 2 * len(windows) + hidden + t.ledger_sum('prog_skipped'),
           f'{missing} are neither in the trace nor counted: {len(theirs)} in the tracer, {have} in the trace, {err}')


# ---- workqueue ------------------------------------------------------------------------

def works_of_tracer(lines):
    """((None, tid or CPU's softirq, function), (start, end), when it was queued) of each pair."""
    open_ones, queued = {}, {}
    for ts, cpu, tid, flags, event, text in lines:
        item, function = re.match(r'work struct[= ](\w+):? function[= ](.*?)(?: workqueue=.*)?$', text).groups()
        where = f'softirq {cpu}' if flags[2] in 'sH' else tid
        if event == 'workqueue_queue_work':
            queued[item] = ts
        elif event == 'workqueue_execute_start':
            open_ones[where, item] = ts, queued.pop(item, None)
        elif (where, item) in open_ones:
            start, since = open_ones.pop((where, item))
            yield (None, where, function), (start, ts), since


def works_of_trace(t, path):
    for e in events_of(path, ('workqueue',)):
        equal(e.type, 'duration_complete', 'how a work item is drawn')
        name, _ = t.threads[e.thread[1]]
        where = name.replace(' CPU', '') if name.startswith('softirq CPU') else e.thread[1]
        if 'unfinished' not in e.args:
            yield (None, where, e.name), (e.ts, e.end), e.ts - e.args['queued_ns'] if 'queued_ns' in e.args else None


# What is written to a terminal is handed over by a work item.
TERMINAL = r'''
import os, sys, time, tty
master, slave = os.openpty()
tty.setraw(slave)
for n in range(int(sys.argv[1])):
    os.write(master, b'x')
    os.read(slave, 1)
'''


@test
def work_items(tmp):
    count = scaled(1000)
    with tracer('workqueue') as instance:
        record_all(tmp, '-e', 'workqueue', '--', sys.executable, '-c', TERMINAL, str(count))
        lines = lines_of(instance)
    t = check(tmp)
    ours, begin = collect(works_of_trace(t, tmp + '/t.fxt')), windows_of(t)[None][1]
    queued, hidden, distant, gaps = 0, 0, [], gaps_of(t)
    for mine, other in match(ours, collect(works_of_tracer(lines)), t):
        if not mine[1] and other[1] and any(a <= other[1] <= b for a, b in gaps):
            hidden += 1
        elif mine[1] or (other[1] and other[1] > begin + SLACK * 1e9):
            expect(mine[1] and other[1], f'queued: {mine}, {other}')
            distant += [(mine, other)] * (abs(mine[1] - other[1]) >= SLACK * 1e9)
            queued += 1
    expect(len(distant) <= 1 + queued / 200, f'queued: {len(distant)} of {queued}, {distant[:5]}')
    flushes = sum(len(items) for key, items in ours.items() if key[2] == 'flush_to_ldisc')
    expect(flushes >= count // 2 and queued + hidden >= flushes,
           f'{flushes} flush_to_ldisc, {queued} with the time queued, {hidden} queued in gaps')


# ---- power ----------------------------------------------------------------------------

def frequencies():
    return {int(re.search(r'cpu(\d+)/', path)[1]) for path in
            glob.glob('/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq')}


# How often each CPU has entered each state or been refused it, between the times before and after; twice.
USAGE = r'''
import glob, json, re, sys, time
def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
def read():
    counts = {}
    for path in glob.glob('/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/'):
        key = ' '.join(re.findall(r'\d+', path))
        counts[key] = now(), sum(int(open(path + name).read()) for name in ('usage', 'rejected')), now()
    return counts
first = read()
time.sleep(float(sys.argv[1]))
print(json.dumps([first, read()]))
'''


def idle_of_cpuidle(ours, usage):
    """How often each state was entered, by the kernel's own count."""
    for key, (before, first, begin) in usage[0].items():
        end, last, after = usage[1][key]
        cpu, state = map(int, key.split())
        times = [ts for ((ts,),) in ours.get((None, 'cpu_idle', cpu, state), [])]
        least, most = sum(begin <= ts <= end for ts in times), sum(before <= ts <= after for ts in times)
        text = f'CPU {cpu}: state {state} entered {last - first} times, {least} to {most} in the trace'
        if last != first or times:
            note(text)
        expect(least - 3 <= last - first <= most + 3, f'not as often: {text}')


def idle_of_tracer(ours, theirs, t):
    silent = {key[2] for key, _ in ours} - {key[2] for key, _ in theirs}
    if silent:
        note(f'the tracer tells nothing of CPUs {silent}')
    expect(len(silent) < len(os.sched_getaffinity(0)), f'the tracer has no CPU, the trace lacks {silent}')
    match(collect(o for o in ours if o[0][2] not in silent), collect(theirs), t)


def record_power(tmp):
    """Changes in the trace, those that the tracer has, and cpuidle's counts; which CPUs have a frequency."""
    with tracer('power') as instance:
        out = record_all(tmp, '-e', 'power', '--', sys.executable, '-c', USAGE, str(1 / SCALE))
        lines = lines_of(instance)
    t, first, ours, theirs = check(tmp), {}, [], []
    for e in events_of(tmp + '/t.fxt', ('power',)):
        equal((e.type, t.processes[e.thread[0]]), ('counter', 'counters'), 'how it is drawn')
        if e.name == 'cpu_frequency' and e.id not in first:
            first[e.id] = e.args['state']
        else:
            ours.append(((None, e.name, e.id, e.args['state']), (e.ts,)))
    for ts, _, _, _, event, text in lines:
        state, cpu = map(int, re.match(r'state=(\d+) cpu_id=(\d+)', text).groups())
        theirs.append(((None, event, cpu, -1 if state == 0xffffffff else state), (ts,)))
    equal(set(first), frequencies(), 'CPUs of which the frequency is known at the start')
    usage = json.loads(out)
    if usage[0]:
        idle_of_cpuidle(collect(ours), usage)
    else:
        idle_of_tracer(ours, theirs, t)
    return ours, first


def idle_ticks():
    with open('/proc/stat') as f:
        return int(f.readline().split()[4])


@test
def idle_and_frequency(tmp):
    """
    Against cpuidle's counts or, without a driver, the tracer, which misses some where there is one;
    some kernels tell it nothing at all of some idle threads.
    """
    end, states = time.monotonic() + PATIENCE, set()
    while True:
        before = idle_ticks()
        ours, first = record_power(tmp)
        states |= {key[3] for key, *_ in ours if key[1] == 'cpu_idle'}
        if -1 in states and len(states) > 1:
            return note(f'{len(ours)} changes, states {states}, frequencies of {len(first)} CPUs')
        if time.monotonic() > end:
            raise Skip(f'no CPU became idle in {PATIENCE:.0f} s ({idle_ticks() - before} ticks idle in the last '
                       f'recording, states {states})')


# ---- block ----------------------------------------------------------------------------

def told(tid, device, rwbs, sector, count, begin, end):
    """Both ends of a request. Flushes have no sector: of several at once none knows which one ends."""
    if count:
        yield (None, tid, device, rwbs, sector, count), (begin, end)
    else:
        yield (None, tid, device, rwbs), (begin,)
        yield (None, device, rwbs), (end,)


def requests_of_tracer(lines, cpus):
    """Those issued on these CPUs; what is requeued is issued again."""
    open_ones = collections.defaultdict(list)
    for ts, cpu, tid, _, event, text in lines:
        device, rwbs, sector, count = re.match(r'(\d+,\d+) (\w+) .*?\) (\d+) \+ (\d+)', text).groups()
        sector, count = int(sector), int(count)
        key = device, rwbs, sector + count if count else None
        if event == 'block_rq_issue':
            open_ones[key].append((cpu, tid, device, rwbs, sector, count, ts))
        elif open_ones[key]:
            issued, *what = open_ones[key].pop(0)
            if issued in cpus:
                yield from told(*what, ts)


def requests_of_trace(path):
    begun = {}
    for e in sorted(events_of(path, ('block',)), key=lambda e: (e.id, e.ts, e.type != 'async_begin')):
        if e.type == 'async_begin':
            expect(e.id not in begun, f'id {e.id} begun twice')
            begun[e.id] = e
            continue
        equal((e.type, e.name, e.thread), ('async_end', begun[e.id].name, begun[e.id].thread), 'end of a request')
        b = begun.pop(e.id)
        with open(f'/sys/class/block/{b.args["device"]}/dev') as f:
            device = f.read().strip().replace(':', ',')
        what = {'R': 'read', 'W': 'write', 'F': 'flush', 'D': 'discard'}[b.args['rwbs'][0]]
        what = 'write' if b.args['rwbs'].startswith('FW') else what
        equal(b.name, f'{b.args["device"]} {what}', 'name')
        if 'unfinished' not in b.args:
            yield from told(b.thread[1], device, b.args['rwbs'], b.args.get('sector'), b.args['bytes'] // 512,
                            b.ts, e.ts)
    equal(begun, {}, 'requests without an end')


def compare_requests(tmp, *options, cpus):
    with tracer('block') as instance, Scratch() as path:
        record_all(tmp, '-e', 'block', *options, *io(path))
        lines = lines_of(instance)
    t = check(tmp)
    ours = collect(requests_of_trace(tmp + '/t.fxt'))
    match(ours, collect(requests_of_tracer(lines, cpus)), t)
    return ours


@test
def block_requests(tmp):
    ours = compare_requests(tmp, cpus=range(4096))
    counts = collections.Counter()
    for key, items in ours.items():
        if len(key) > 3:
            counts[key[3][0]] += len(items)
    note(dict(counts))
    expect(min(counts['R'], counts['W']) >= scaled(200), f'{counts}: fewer than were asked for')
    expect(counts['F'], 'no flush')


@test
def block_requests_of_one_cpu(tmp):
    """They are issued there; they end anywhere."""
    cpu = last_cpu()
    expect(compare_requests(tmp, '-C', str(cpu), cpus={cpu}), 'no requests')


def failed_requests(tmp):
    """A disk that is a file on a file system with no space for it."""
    room, log = os.path.join(tmp, 'room'), os.path.join(tmp, 't.fxt')
    os.mkdir(room)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1M', 'none', room], check=True)
    try:
        with open(room + '/disk', 'wb') as f:
            f.truncate(1 << 23)
        loop = subprocess.run(['losetup', '-f', '--show', room + '/disk'], capture_output=True, check=True)
        loop = loop.stdout.decode().strip()
        try:
            record(log, '-e', 'block', '--', 'dd', 'if=/dev/zero', 'of=' + loop, 'bs=64k', 'count=64', 'oflag=direct')
        finally:
            subprocess.run(['losetup', '-d', loop], check=True)
    finally:
        subprocess.run(['umount', '-l', room], check=True)     # somebody may still look at the disk
    check(tmp)
    ended = collections.Counter(e.args.get('error') for e in events_of(log, ('block',))
                                if e.type == 'async_begin' and e.args['device'] == os.path.basename(loop))
    note(f'{dict(ended)} by error')
    expect(ended[-errno.ENOSPC] and ended[None] and set(ended) == {-errno.ENOSPC, None}, f'{ended}')


if os.path.exists('/dev/loop-control'):
    test(failed_requests)
else:
    note('failed_requests: not here, there is no /dev/loop-control')


# ---- psi ------------------------------------------------------------------------------

def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def read_pressure():
    """Microseconds stalled, {(what, share): total}, between when it began to be read and when it was, in ns."""
    totals, begin = {}, now()
    for what in ('cpu', 'memory', 'io'):
        with open('/proc/pressure/' + what) as f:
            for share, total in re.findall(r'^(\w+) .*total=(\d+)$', f.read(), re.M):
                totals[what, share] = int(total)
    return begin, totals, now()


def total_at(samples, key, ts):
    """What it was at the least and at the most: as in the readings before and after."""
    return (max((totals[key] for _, totals, end in samples if end <= ts), default=0),
            min(totals[key] for begin, totals, _ in samples if begin >= ts))


@contextlib.contextmanager
def sampled_pressure():
    """Its readings: one before, many during and one after what is done meanwhile."""
    samples, over = [read_pressure()], threading.Event()

    def sample():
        while not over.wait(0.02 / SCALE):
            samples.append(read_pressure())
    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield samples
    finally:
        over.set()
        sampler.join()
        samples.append(read_pressure())


@test
def pressure(tmp):
    """Three that want to run, pinned to one CPU, for half of the time."""
    spin = (f'for i in 1 2 3; do timeout {1 / SCALE} taskset -c {last_cpu()} sh -c "while :; do :; done" & done; '
            f'wait; sleep {1 / SCALE}')
    with sampled_pressure() as samples:
        record_all(tmp, '-e', 'psi', '--', 'sh', '-c', spin)
    t, found = check(tmp), collections.defaultdict(list)
    for e in events_of(tmp + '/t.fxt', ('psi',)):
        equal((e.type, t.processes[e.thread[0]]), ('counter', 'counters'), 'how it is drawn')
        for share, percent in e.args.items():
            found[e.name.replace('pressure ', ''), share].append((e.ts, percent))
    equal(set(found), {('cpu', 'some'), *((w, s) for w in ('memory', 'io') for s in ('some', 'full'))}, 'counters')
    for key, values in found.items():
        expect(len(values) > 2, f'{key}: only {values}')
        told = sum(percent / 100 * (b[0] - a) for (a, percent), b in zip(values, values[1:])) / 1000
        # A value is dated before the kernel is asked, which is over before the next one: the recorder may have to wait.
        begin, end = total_at(samples, key, values[0][0])[0], total_at(samples, key, values[1][0])[1]
        last, after = total_at(samples, key, values[-1][0])[0], samples[-1][1][key]
        note(f'{key}: {told:.0f} us told, {last - end} to {after - begin} us in /proc, in {len(values)} steps')
        expect(last - end - len(values) <= told <= after - begin + len(values),
               f'{key}: {told} us told, {last - end} to {after - begin} us wanted')
    # One CPU's: those that are busy without others waiting lessen it.
    least = 80 / len(os.sched_getaffinity(0))
    expect(max(p for _, p in found['cpu', 'some']) > least, f'no pressure while they wait for each other: {found}')


# ---- all ------------------------------------------------------------------------------

def programs_of(pid):
    """Names of the BPF programs that a process has, cut to what the kernel keeps."""
    ids = set()
    for path in glob.glob(f'/proc/{pid}/fdinfo/*'):
        # It may have closed it meanwhile.
        ids |= {int(n) for n in re.findall(r'^prog_id:\s*(\d+)', read_text(path), re.M)}
    # Those of others may go while they are listed.
    def listed():
        r = subprocess.run(['bpftool', 'prog', 'list', '-j'], capture_output=True)
        return r.returncode == 0 and json.loads(r.stdout)
    return {p.get('name', '')[:15] for p in until(listed, 'bpftool lists no programs') if p['id'] in ids}


@test
def only_what_is_named(tmp):
    """No program without its preset; one preset does not bring another's."""
    own = {'irq': {'on_irq_handler_', 'on_softirq_entr', 'on_softirq_exit'}, 'power': {'on_cpu_idle', 'on_cpu_frequenc'},
           'workqueue': {'on_workqueue_qu', 'on_workqueue_ex'},
           'block': {'on_block_rq_iss', 'on_block_rq_com', 'on_block_rq_req'}}
    for args in ([], ['irq'], ['workqueue', 'power'], ['block', 'psi', 'irq', '!irq']):
        recorder = start(tmp + '/t.fxt', *(a for p in args for a in ('-e', p)))
        loaded = programs_of(recorder.pid)
        # Beside other work a CPU is not idle; a terminal's lines are work items, and raise softirqs.
        subprocess.run([sys.executable, '-c', TERMINAL, '100'], check=True, stdout=subprocess.DEVNULL)
        recorder.send_signal(signal.SIGINT)
        err = recorder.communicate(timeout=3 * PATIENCE)[1].decode()
        equal(recorder.returncode, 0, f'-e {args}: {err}')
        os.unlink(tmp + '/t.fxt')
        wanted = set(args) - {'irq'} if '!irq' in args else set(args)
        expect('on_sched_switch' in loaded, f'-e {args}: only {loaded}, {err}')
        for preset, programs in own.items():
            equal(programs & loaded, programs if preset in wanted else set(), f'-e {args}: programs of {preset}, {err}')
        equal(bool(re.search(r', \d+ events?, ', err)), bool(args), f'-e {args}: events in the summary, {err}')


@test
def presets_are_listed(tmp):
    for command in ('list --presets', 'list -c', 'list -c -f *', 'check'):
        equal(json.loads(run(*command.split(), '--json').stdout).get('schema'), 2, f'schema of {command}')
    listed = {p['name']: p for p in json.loads(run('list', '--presets', '--json').stdout)['presets']}
    text = run('list', '--presets').stdout.decode()
    for name in (*EVENTS, 'psi', 'log'):
        equal(listed[name]['lacks'], None, name)
        expect(f'{name} ' in text and listed[name]['about'] in text and listed[name]['shows'] in text, text)
    for name, events in EVENTS.items():
        equal(sorted(listed[name]['tracepoints']), sorted(e.split('/')[1] for e in events), f'tracepoints of {name}')
    some = json.loads(run('list', '--presets', '--json', 'psi', 'i*').stdout)['presets']
    equal([p['name'] for p in some], ['irq', 'psi'], 'those that were asked for')
    equal(run('list', '--presets', 'psi').stdout.decode().splitlines(),
          text[text.index('\npsi ') + 1:].splitlines()[:3], 'the text of one')
    # What is chosen by options of record, and nothing of -e.
    options = {o['name']: o for o in json.loads(run('list', '--presets', '--json').stdout)['options']}
    equal(list(options), ['sample', 'off-cpu', 'wakers'], 'options')
    checked = {f['name']: f['have'] for f in json.loads(run('check', '--json').stdout)['features']}
    for name, option in options.items():
        known = [checked[need] for need in option['needs'] if need in checked]
        equal(option['available'], any(known) if known else True, f'{option}, by check: {known}')
        lines = run('list', '--presets', name).stdout.decode().splitlines()
        equal((len(lines), lines[0].split()[0]), (3, f'--{name}'), f'the text of {name}')
        expect(lines[2].endswith(': available') == option['available'], f'{option}: {lines}')
    for options in (['-f', 'x'], ['-u', 'libc:x'], ['-c'], ['--returns'], ['--func-via', 'kprobe']):
        r = run('list', '--presets', *options)
        equal((r.returncode, r.stdout, r.stderr.decode()),
              (2, b'', 'kfxt: list: --presets takes globs and --json only\n'), f'--presets {options}')
    r = run('list', '--presets', 'irq', 'pssi')
    equal((r.returncode, r.stdout), (2, b''), 'a preset that there is not')
    expect("--presets: no such preset: 'pssi' (did you mean psi?)" in r.stderr.decode(), r.stderr.decode())


if __name__ == '__main__':
    sys.exit(main('presets'))
