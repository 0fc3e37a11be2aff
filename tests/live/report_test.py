#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What kfxt report prints of recordings, the longest waits above all, against a computation of its own
from the same files.

    report_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import calendar
import collections
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (PATIENCE, SCALE, Skip, command_of, equal, expect, helper, last_cpu, main, note, record, run,  # noqa: E402
                     start, stop_while, test, until)
from trace import Trace, Wakeup  # noqa: E402
import fxtread  # noqa: E402, where trace.py found it

HERE = os.path.dirname(os.path.abspath(__file__))
SPIN = 'while :; do :; done'
Longest = collections.namedtuple('Longest', 'ns complete')


# ---- the computation ---------------------------------------------------------------------

def cpus_of(text):
    """"0-2,5" as a set."""
    return {cpu for part in text.split(',') if part
            for cpu in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)}


Record = collections.namedtuple('Record', 'ts kind state blind')


class Waits:
    """For each thread the longest stretch for which it may have waited, and what of that is proven."""

    def __init__(self, t):
        args, stop = (t.events.get(name, (0, {}))[1] for name in ('start', 'stop'))
        self.t, self.filtered = t, 'filter' in args
        self.recorded = cpus_of(args.get('cpus', ''))
        self.partial = bool('online' in args and
                            (cpus_of(args['online']) | cpus_of(stop.get('online', ''))) - self.recorded)
        self.find_ends(cpus_of(args.get('online', '')), cpus_of(stop.get('online', '')))
        self.records = collections.defaultdict(list)
        for tid, s in t.states.items():
            self.records[tid].append(Record(s.ts, 'state', self.state(s), self.partial))
        self.play()
        for records in self.records.values():
            records.sort(key=lambda r: r.ts)

    @staticmethod
    def state(s):
        return '?' if s.filtered else 'W' if s.state in ('R', 'R+') else 'B'

    def find_ends(self, at_start, at_stop):
        """From when all CPUs have started until the first one stops, of those that were online then."""
        times = [ts for ts, _, _ in self.t.in_order] + [s.ts for s in self.t.states.values()]
        starts = [s.ts for s in self.t.switches if s.mark == 'start' and (s.cpu in at_start or not at_start)]
        stops = [s.ts for s in self.t.switches if s.mark == 'stop' and (s.cpu in at_stop or not at_stop)]
        self.begin = max([min(times)] + (starts if 'start' in self.t.events else []))
        self.end = min([max(times)] + (stops if 'stop' in self.t.events else []))

    def play(self):
        """Records by thread, and the stretches [from, to, whether wakeups may be hidden before] that are clear."""
        deaf = {s.cpu for s in self.t.switches if s.mark == 'start'} | self.recorded
        slices = {(g.cpu, g.begin): g.args['wakeups'] for g in self.t.gaps if 'unreported' in g.args}
        in_gap, hides = set(), False
        blind = self.partial or bool(deaf)
        self.clear = [] if blind else [[self.begin, None, False]]
        for ts, _, item in self.t.in_order:
            if ts <= self.end:
                self.take(ts, item, blind)
            if isinstance(item, Wakeup) or item.mark not in ('start', 'stop', 'gap'):
                continue
            if item.mark == 'start' or (item.mark == 'gap' and item.cpu in in_gap):
                deaf.discard(item.cpu)
                in_gap.discard(item.cpu)
            else:
                hides |= item.mark == 'stop' or slices.get((item.cpu, ts), 1) > 0
                deaf.add(item.cpu)
                in_gap |= {item.cpu} if item.mark == 'gap' else set()
            if blind and not deaf and not self.partial:
                self.clear.append([ts, None, hides or not self.clear])
                hides = blind = False
            elif not blind and deaf:
                self.clear[-1][1] = ts
                blind = True
        if self.clear and not self.clear[-1][1]:
            self.clear[-1][1] = self.end
        self.gap_at_start = any(s.mark == 'gap' and s.ts <= self.begin for s in self.t.switches)

    def take(self, ts, item, blind):
        if isinstance(item, Wakeup):
            self.records[item.tid].append(Record(ts, item.mark or 'wake', '?' if item.mark == 'implied' else 'W', blind))
            return
        if item.out:
            self.records[item.out].append(Record(ts, 'unsure' if item.mark else 'out',
                                                 '?' if item.mark else self.state(item), blind))
        if item.into:
            self.records[item.into].append(Record(ts, 'runs' if item.mark else 'in', 'R', blind))

    def between(self, a, b):
        """Clear pieces between two records, and whether wakeups may be hidden before each."""
        end = b.ts
        begin = a.ts if a else 0
        return [(max(f, begin), min(to, end), hides) for f, to, hides in self.clear if to >= begin and f <= end and
                not (a and a.blind and f < begin) and not (a and not a.blind and to == begin and f == begin)]

    def of(self, tid):
        """The longest wait of a thread."""
        self.proven = self.may = self.exact = 0
        last, maybe = None, self.begin
        for r in self.records[tid] + [Record(self.end, 'end', '', False)]:
            if r.kind == 'wake' and last and (last.state == 'R' or (last.state == 'W' and self.is_sure(last, r))):
                continue
            maybe = self.step(last, r, maybe)
            last = r
        return Longest(self.proven, self.exact >= self.proven and self.exact >= self.may)

    def is_sure(self, a, b):
        """Nothing can be hidden between these records of a thread."""
        if a.kind == 'state' and b.ts <= self.begin:
            return not self.partial and not self.gap_at_start
        if a.kind == 'state':
            return not a.blind and not self.gap_at_start and not b.blind and b.ts <= self.clear[0][1]
        return not a.blind and not b.blind and len([c for c in self.clear if c[0] <= a.ts and b.ts <= c[1]]) > 0

    def first_piece(self, a, b):
        """(until when the state of @a is certain)"""
        if self.is_sure(a, b):
            return b.ts
        if a.blind or (a.kind == 'state' and self.gap_at_start):
            return a.ts
        return next((to for f, to, _ in self.clear if to >= a.ts), a.ts)

    def step(self, a, b, maybe):
        """From one record of the thread to its next; since when it may wait after that."""
        state = a.state if a else '?'
        sure = bool(a) and self.is_sure(a, b)
        if b.kind in ('gap', 'implied'):
            maybe = a.ts if state in 'BR' else maybe
            self.possible(maybe, b.ts)
            return maybe if b.kind == 'implied' else b.ts
        if state == 'R':
            return b.ts
        # What the next record is needs this state before it, since the last blind stretch.
        known = b.ts
        if b.kind in ('wake', 'out') and not (self.filtered or b.blind or sure):
            known = max([f for f, _, _ in self.clear if f <= b.ts], default=b.ts)
        if state == 'W':
            self.proven = max(self.proven, min(self.first_piece(a, b), self.end) - a.ts)
        if state == 'B':
            maybe = a.ts if sure and b.kind not in ('wake', 'end') else self.first_piece(a, b)
        self.possible(maybe, known)
        if b.kind == 'in' and sure and state == 'W' and a.kind != 'state':
            self.exact = max(self.exact, b.ts - a.ts)
        if b.kind == 'in' and not (sure or self.filtered or b.blind):
            self.proven = max(self.proven, self.before(a, b, state))
        return b.ts

    def possible(self, begin, end):
        self.may = max(self.may, min(end, self.end) - max(begin, self.begin))

    def before(self, a, b, state):
        """How long a thread that is switched in had waited in clear stretches."""
        pieces, sum_ns = self.between(a, b), 0
        own = bool(a) and not a.blind    # the first one is that of @a, whose state holds there
        for i in range(len(pieces) - 1, -1, -1):
            begin, end, hides = pieces[i]
            if i == 0 and own:
                return sum_ns + (end - begin if state == 'W' else 0) if state != 'B' else 0
            sum_ns += end - begin
            if hides:
                return sum_ns
        return sum_ns if state != 'B' else 0


def compare(trace, t=None):
    """The rows of report --json, by thread; each must say what the computation does."""
    r = run('report', '-q', '--json', '-n', '1000000', trace)
    equal(r.returncode, 0, 'exit code of report: ' + r.stderr.decode())
    rows = {row['tid']: row for row in json.loads(r.stdout)['busiest']}
    waits, wrong = Waits(t or Trace(trace)), []
    for tid, row in rows.items():
        want = waits.of(tid)
        got = Longest(row['max_wait_ns'] or 0, row['max_wait_complete'])
        if got != want or (row['max_wait_ns'] is None) != (not want.ns and not want.complete):
            wrong.append(f'{tid} {row["thread"]}: report has {got}, it is {want}')
    expect(not wrong, f'{len(wrong)} of {len(rows)} threads: ' + '; '.join(wrong[:5]))
    counts = collections.Counter('exact' if row['max_wait_complete'] else 'unknown' if row['max_wait_ns'] is None
                                 else 'at least' for row in rows.values())
    note(f'{len(rows)} threads: {dict(counts)}')
    return rows


# ---- recordings --------------------------------------------------------------------------

@contextlib.contextmanager
def spinners(cpu, count, *prefix):
    """Their ids."""
    there = [subprocess.Popen(['taskset', '-c', str(cpu), *prefix, 'sh', '-c', SPIN]) for _ in range(count)]
    try:
        for p in there:
            until(lambda p=p: open(f'/proc/{p.pid}/comm').read() == 'sh\n', f'{p.pid} does not start')
        time.sleep(0.2)
        yield [p.pid for p in there]
    finally:
        for p in there:
            p.kill()
            p.wait()


@contextlib.contextmanager
def quota(period_us, quota_us):
    """A cgroup whose members get @quota_us of each @period_us; to be joined by its file."""
    for top, limit in (('/sys/fs/cgroup/cpu', None), ('/sys/fs/cgroup', 'cpu.max')):
        name = f'{top}/kfxt-wait-{os.getpid()}'
        if os.path.exists(top + ('/cpu.cfs_quota_us' if not limit else '/cgroup.controllers')):
            break
    else:
        raise Skip('no cgroup with a CPU controller')
    if limit:
        try:
            with open(top + '/cgroup.subtree_control', 'w') as f:
                f.write('+cpu')
        except OSError as error:
            raise Skip(f'{top}: no CPU controller: {error}') from error
    os.mkdir(name)
    try:
        for file, text in ((('cpu.max', f'{quota_us} {period_us}'),) if limit else
                           (('cpu.cfs_period_us', period_us), ('cpu.cfs_quota_us', quota_us))):
            with open(f'{name}/{file}', 'w') as f:
                f.write(str(text))
        yield name + '/cgroup.procs'
    finally:
        for _ in range(100):
            with contextlib.suppress(OSError):
                os.rmdir(name)
                break
            time.sleep(0.05)


def throttled(file):
    return subprocess.Popen(['sh', '-c', f'echo $$ > {file}; exec taskset -c {last_cpu()} sh -c "{SPIN}"'])


@test
def waits_under_a_quota(tmp):
    with quota(200000, 10000) as file:
        p = throttled(file)
        try:
            time.sleep(0.5)
            # A slow machine makes it exceed its quota by much at a time, and wait for it all the longer.
            record(tmp + '/t.fxt', '-d', f'{1 / SCALE:.0f}')
        finally:
            p.kill()
            p.wait()
    row = compare(tmp + '/t.fxt').get(p.pid)
    if not row:
        raise Skip('others kept the thread from running for a second')
    expect((row['max_wait_ns'] or 0) > 50e6, f'a thread that may run 10 ms of 200: {row}')


@test
def waits_in_gaps(tmp):
    """Rings too small and a recorder that stops: what gaps hide is taken neither for a wait nor for none."""
    with spinners(last_cpu(), 2) as tids:
        p = start(tmp + '/t.fxt', '-m', '4K', '-d', '600', '--', helper('pingpong'), '1000000000', '0')
        for _ in range(4):
            stop_while(p, command_of(p), 1000)
            time.sleep(0.15)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=6 * PATIENCE)
        equal(p.returncode, 0, err.decode())
    t = Trace(tmp + '/t.fxt')
    expect(t.ledger_sum('lost_wakeups') > 100, f'{len(t.gaps)} gaps: the test proves nothing')
    # On a busy machine the two may have had no turn between the gaps.
    rows = compare(tmp + '/t.fxt', t)
    if any(row['max_wait_ns'] for row in rows.values()):
        mine = [rows.get(tid) for tid in tids]
        expect(any(row and row['max_wait_ns'] for row in mine), f'they share a CPU: {mine}')


@test
def waits_on_some_cpus(tmp):
    """Where a thread may have run on a CPU that is not recorded, nothing is known of its waits."""
    if last_cpu() == 0:
        raise Skip('one CPU')
    with spinners(0, 2) as tids:
        record(tmp + '/t.fxt', '-d', '1', '-C', '0')
    rows = compare(tmp + '/t.fxt')
    tids = [tid for tid in tids if tid in rows]
    expect(tids, 'neither of the two ran')
    for tid in tids:
        equal((rows[tid]['max_wait_ns'], rows[tid]['max_wait_complete']), (None, False), 'two on one CPU')
    text = run('report', '-n', '1000', tmp + '/t.fxt').stdout.decode()
    expect(all(re.search(rf' - +{tid}  sh ', text) for tid in tids), text)


@test
def waits_that_do_not_end(tmp):
    """A real-time thread takes the CPU; who waits for it does so at the end, too."""
    with spinners(last_cpu(), 2) as tids:
        p = start(tmp + '/t.fxt', '-d', '600')
        time.sleep(0.2)         # both run
        os.sched_setscheduler(tids[1], os.SCHED_FIFO, os.sched_param(50))
        time.sleep(0.2)         # after 0.95 s others get the CPU again
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=6 * PATIENCE)
        equal(p.returncode, 0, err.decode())
    row, t = compare(tmp + '/t.fxt').get(tids[0]), Trace(tmp + '/t.fxt')
    ran = t.running(tids[0]) + [(t.events['stop'][0], 0)]
    waits = [after[0] - before[1] for before, after in zip(ran, ran[1:])]
    if waits and max(waits) > waits[-1]:
        note(f'others got the CPU after all, {waits[-1]} ns before the end')
        return
    expect(row and not row['max_wait_complete'] and row['max_wait_ns'], f'starved to the end: {row}')
    if not t.gaps:      # some kernels hide switches, and then the end does not tell
        expect(row['max_wait_ns'] > 100e6, f'starved to the end: {row}')


@test
def waits_of_selected_threads(tmp):
    with spinners(last_cpu(), 2) as tids:
        record(tmp + '/t.fxt', '-d', '1', '-p', str(tids[0]))
        record(tmp + '/c.fxt', '-d', '500ms', '--comm', 'sh*')
    rows = compare(tmp + '/t.fxt')
    equal(list(rows), [tids[0]], 'threads of the report: none but the selected one')
    expect(rows[tids[0]]['max_wait_ns'], f'it shares a CPU: {rows[tids[0]]}')
    expect(b'\nfilter:           pid %d (' % tids[0] in run('report', tmp + '/t.fxt').stdout, 'the filter is not named')
    compare(tmp + '/c.fxt')


@test
def waits_of_all(tmp):
    record(tmp + '/t.fxt', '-d', '2s', '--', helper('pingpong'), '5000', str(last_cpu()))
    rows = compare(tmp + '/t.fxt')
    # Born while it records, and gone before it ends; others may wait for the first or the last time outside of it.
    own = [row for row in rows.values() if row['thread'] == 'pingpong']
    equal(len(own), 3, f'threads of the command, of {len(rows)}')
    t = Trace(tmp + '/t.fxt')
    unknown = {row['tid'] for row in own if not row['max_wait_complete']}
    if unknown and not t.gaps:
        lost = {what: n for what, n in json.loads(run('report', '-q', '--json', tmp + '/t.fxt').stdout)['lost'].items() if n}
        marked = [item for _, _, item in t.in_order if item.mark and (not isinstance(item, Wakeup) or item.tid in unknown)]
        raise AssertionError(f'nothing is missing, yet a wait is not known: {lost}; {marked}; {own}')


@test
def waits_in_converted_text(tmp):
    done = 0
    for path in sorted(glob.glob(os.path.join(HERE, '../corpus/ftrace/*.txt'))):
        r = run('convert', '-q', '-o', tmp + '/c.fxt', path)
        if r.returncode:
            continue
        t = Trace(tmp + '/c.fxt')
        if not t.switches:
            continue
        try:
            compare(tmp + '/c.fxt', t)
        except AssertionError as e:
            raise AssertionError(f'{os.path.basename(path)}: {e}') from e
        done += 1
    expect(done > 3, f'{done} samples with switches')


@test
def facts_of_the_recording(tmp):
    """Where and when it was made, and what each CPU did."""
    begin = int(time.time())
    record(tmp + '/t.fxt', '-d', '300ms', '--', helper('pingpong'), '2000')
    r = json.loads(run('report', '-q', '--json', tmp + '/t.fxt').stdout)
    equal((r['host'], r['kernel']), (os.uname().nodename, os.uname().release), 'host and kernel')
    date = calendar.timegm(time.strptime(r['date'], '%Y-%m-%dT%H:%M:%SZ'))
    expect(begin <= date <= time.time(), f'{r["date"]}, it is {time.time()}')
    t = Trace(tmp + '/t.fxt')
    for c in r['per_cpu']:
        found, bad = t.timeline(c['cpu'])
        equal(bad, {}, 'contradictions')
        busy, idle = (sum(to - ts for ts, to, tid in found if tid is not None and bool(tid) == runs)
                      for runs in (True, False))
        equal((c['busy_ns'], c['idle_ns']), (busy, idle), f'time of CPU {c["cpu"]}')
        switches = sum(s.cpu == c['cpu'] for s in t.real())
        equal(c['switches'], switches, f'switches of CPU {c["cpu"]}')
        expect(abs(c['switches_per_s'] - switches * 1e9 / r['duration_ns']) < 0.01, f'rate: {c}')
    equal({c['cpu'] for c in r['per_cpu']}, {s.cpu for s in t.switches}, 'CPUs')
    woken = collections.Counter(w.tid for w in t.wakeups)
    for row in r['busiest']:
        expect(abs(row['wakeups_per_s'] - woken[row['tid']] * 1e9 / r['duration_ns']) < 0.01, f'wakeups: {row}')


if __name__ == '__main__':
    sys.exit(main('reports'))
