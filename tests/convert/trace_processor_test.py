#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What Perfetto's trace_processor_shell finds in the traces that kfxt writes, if it is on PATH.

    trace_processor_test.py BUILD_DIR [NAME...]

Samples become FXT, Perfetto packets and Trace Event JSON. All must load without a statistic of an error; of
packets the scheduling, states, priorities and wakers are compared with what the independent reader finds in the
FXT. Without the program that is one skipped test; the comparison itself is tried with one that answers from a
table. Prints TAP and the totals.
"""
import collections
import csv
import glob
import io
import json
import os
import shutil
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
import fxtread  # noqa: E402
from cases import Skipped, case, equal, run  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
SHELL = 'trace_processor_shell'
FORMS = ('fxt', 'pftrace', 'json')
NEAR_NS = 16            # equal times of one thread are written apart
ID_STEP = 10_000_000    # from one life of a thread id to the next
WRITTEN_ON_PURPOSE = ('ftrace_cpu_has_data_loss', 'traced_buf_trace_writer_packet_loss')

# Each begins with its name, by which the program of the self-test knows it.
QUERIES = {
    'errors': "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
    'sched': 'select s.ts, s.dur, s.cpu, t.tid, s.end_state, s.priority from sched s join thread t using (utid) '
             'where t.tid != 0 order by s.ts, s.cpu',
    'blocked': "select s.ts, t.tid from thread_state s join thread t using (utid) where s.state = 'D' order by s.ts",
    'wakers': 'select s.ts, t.tid, w.tid from thread_state s join thread t using (utid) '
              "join thread w on s.waker_utid = w.utid where s.state = 'R' order by s.ts",
}


class TraceProcessor:
    def __init__(self, shell, tmp):
        self.shell, self.sql = shell, os.path.join(tmp, 'query.sql')

    def rows(self, path, name):
        """Numbers as such, all else as text."""
        with open(self.sql, 'w', encoding='ascii') as file:
            file.write(f'-- {name}\n{QUERIES[name]};\n')
        done = subprocess.run([self.shell, '-q', self.sql, path], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise AssertionError(f'{path}: {SHELL}: exit {done.returncode}: {done.stderr[-300:]}')
        rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
        return [tuple(int(x) if x.lstrip('-').isdigit() else x for x in row) for row in rows if row]


class Truth:
    """Scheduling by the records of an FXT file; what a mark begins or ends is left out, its time is not exact."""

    def __init__(self, path):
        self.sched, self.blocked, self.wakers, since = [], [], [], {}
        records = [r for r in fxtread.read(path) if 'timestamp' in r]
        for r in sorted(records, key=lambda r: r['timestamp']):
            args = {name: value for name, _, value in r.get('arguments', ())}
            if r['type'] == 'context_switch':
                self.take_switch(r, args, since)
            elif r['type'] == 'thread_wakeup' and 'mark' not in args and args.get('waker'):
                self.wakers.append((r['timestamp'], r['waking_thread_id'] % ID_STEP, args['waker'] % ID_STEP))

    def take_switch(self, r, args, since):
        cpu, ts, out = r['cpu_number'], r['timestamp'], r['outgoing_thread_id']
        begun = since.pop(cpu, None)
        if 'mark' in args:
            return
        state = args.get('linux_state') or ('R' if r['outgoing_thread_state'] == 0 else 'S')
        if out and begun and begun[1] == out and ts > begun[0]:
            self.sched.append((begun[0], ts - begun[0], cpu, out % ID_STEP, state, begun[2]))
        if out and state == 'D':
            self.blocked.append((ts, out % ID_STEP))
        since[cpu] = ts, r['incoming_thread_id'], args['incoming_weight']


def find_all(what, expected, rows, numbers):
    """Each row that is expected is there; the first @numbers of its columns are times."""
    by_rest = collections.defaultdict(list)
    for row in rows:
        by_rest[row[numbers:]].append(row[:numbers])
    for row in expected:
        near = [times for times in by_rest[row[numbers:]]
                if all(abs(a - b) <= 2 * NEAR_NS for a, b in zip(times, row[:numbers]))]
        if not near:
            raise AssertionError(f'{what}: {row} is not among {len(rows)} rows')
        by_rest[row[numbers:]].remove(near[0])


def judge(tp, made):
    """All forms of one sample."""
    for form in FORMS:
        errors = [row for row in tp.rows(made[form], 'errors')
                  if not (form == 'pftrace' and row[0] in WRITTEN_ON_PURPOSE)]
        equal(errors, [], made[form])
    truth = Truth(made['fxt'])
    find_all('sched', truth.sched, tp.rows(made['pftrace'], 'sched'), 2)
    find_all('blocked', truth.blocked, tp.rows(made['pftrace'], 'blocked'), 1)
    find_all('wakers', truth.wakers, tp.rows(made['pftrace'], 'wakers'), 1)
    return truth


def make(source, tmp):
    """The paths of a sample's forms; None: there is no trace in it."""
    name = os.path.basename(source).rsplit('.', 1)[0]
    made = {form: os.path.join(tmp, f'{name}.{form}') for form in FORMS}
    for form, origin in zip(FORMS, (source, made['fxt'], made['fxt'])):
        done = subprocess.run([KFXT, 'convert', '-q', '-o', made[form], origin], capture_output=True, timeout=120)
        if done.returncode:
            return None
    return made


def samples():
    found = []
    for folder, suffix in (('ftrace', 'txt'), ('json', 'json'), ('pftrace', 'pftrace'), ('fxt', 'fxt')):
        found += [path for path in sorted(glob.glob(os.path.join(TESTS, 'corpus', folder, '*.' + suffix)))
                  if '.facts.' not in path]
    return found


@case
def every_sample(tmp):
    shell = shutil.which(SHELL)
    if not shell:
        raise Skipped(f'there is no {SHELL} on PATH')
    tp, judged = TraceProcessor(shell, tmp), 0
    for source in samples():
        made = make(source, tmp)
        if made:
            judge(tp, made)
            judged += 1
    equal(judged > 20, True, f'{judged} samples')


# ---- the comparison itself ------------------------------------------------------

FAKE = '''#!{python}
import csv, json, os, sys
with open(sys.argv[2]) as file:
    name = file.readline().split()[1]
with open({table!r}) as file:
    rows = json.load(file)[os.path.basename(sys.argv[3])][name]
csv.writer(sys.stdout).writerows([['column'], *rows])
'''


def fake(tmp, made, truth, forms=FORMS, **changed):
    """A program that answers with the truth, but for what is changed, of files of these forms."""
    table, shell = os.path.join(tmp, 'table.json'), os.path.join(tmp, SHELL)
    answers = {'errors': [], 'sched': truth.sched, 'blocked': truth.blocked, 'wakers': truth.wakers}
    with open(table, 'w', encoding='ascii') as file:
        json.dump({os.path.basename(path): {**answers, **(changed if form in forms else {})} for form, path in made.items()},
                  file)
    with open(shell, 'w', encoding='ascii') as file:
        file.write(FAKE.format(python=sys.executable, table=table))
    os.chmod(shell, stat.S_IRWXU)
    return TraceProcessor(shell, tmp)


def fails(tp, made):
    try:
        judge(tp, made)
    except AssertionError:
        return True
    return False


@case
def comparison(tmp):
    """The truth is accepted, also some nanoseconds later; whatever else differs is not."""
    made = make(os.path.join(TESTS, 'corpus', 'pftrace', 'ftrace-compact.pftrace'), tmp)
    truth = Truth(made['fxt'])
    equal([len(rows) > 20 for rows in (truth.sched, truth.blocked, truth.wakers)], [True] * 3, 'rows')
    judge(fake(tmp, made, truth), made)
    judge(fake(tmp, made, truth, sched=[(ts + 3, *rest) for ts, *rest in truth.sched]), made)
    for what, at, value in (('sched', 0, 5), ('sched', 1, 7), ('sched', 2, 99), ('sched', 3, 1), ('sched', 4, 'x'),
                            ('sched', 5, 7), ('blocked', 0, 5), ('blocked', 1, 1), ('wakers', 1, 1), ('wakers', 2, 1)):
        rows = [list(row) for row in getattr(truth, what)]
        rows[7][at] = value
        equal(fails(fake(tmp, made, truth, **{what: rows}), made), True, (what, at))
        equal(fails(fake(tmp, made, truth, **{what: rows[:7] + rows[8:]}), made), True, (what, 'one less'))


@case
def statistics(tmp):
    """Errors fail, in any form, but for losses that packets report."""
    made = make(os.path.join(TESTS, 'corpus', 'pftrace', 'te-basic.pftrace'), tmp)
    truth = Truth(made['fxt'])
    judge(fake(tmp, made, truth), made)
    for form in FORMS:
        equal(fails(fake(tmp, made, truth, (form,), errors=[('misplaced_end_event', 1)]), made), True, form)
        equal(fails(fake(tmp, made, truth, (form,), errors=[(WRITTEN_ON_PURPOSE[0], 3)]), made), form != 'pftrace', form)


@case
def a_program_that_fails(tmp):
    made = make(os.path.join(TESTS, 'corpus', 'pftrace', 'te-basic.pftrace'), tmp)
    equal(fails(TraceProcessor(shutil.which('false'), tmp), made), True)


if __name__ == '__main__':
    sys.exit(run('trace_processor'))
