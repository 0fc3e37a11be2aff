#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on real samples, against facts that were computed without any importer.

    convert_test.py BUILD_DIR [SAMPLE...]

Compares --stats=json, and what the independent reader finds in the FXT file, with
each sample's .facts.json. Prints TAP, a table sample x facts met, and the totals.
"""
import bz2
import collections
import glob
import json
import lzma
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, 'live')]
import fxtread  # noqa: E402
from trace import Trace  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
CORPUS = os.path.join(TESTS, 'corpus', 'ftrace')
ACCOUNTED = ('switches', 'wakeups', 'names', 'slices', 'counters', 'instants', 'logs', 'stacks',
             'no_op_wakes', 'duplicate_wakes', 'incomplete')


class Sample:
    """One converted sample: its facts, kfxt's counts, the FXT file."""

    def __init__(self, path, tmp):
        self.name = os.path.basename(path)
        with open(path + '.facts.json') as f:
            self.facts = json.load(f)
        self.fxt = os.path.join(tmp, self.name + '.fxt')
        r = subprocess.run([KFXT, 'convert', '--stats=json', '-o', self.fxt, path],
                           capture_output=True, timeout=60)
        if r.returncode:
            raise AssertionError(f'exit code {r.returncode}: {r.stderr.decode()}')
        stats = json.loads(r.stdout)
        self.input, self.output = stats['input'], stats['output']

    def printed(self, ts):
        """A time stamp as the text had it."""
        if self.facts.get('printed_time', '').startswith('integer'):
            return str(ts)
        return f'{ts // 10**9}.{ts % 10**9 // 1000:06d}'


CHECKS = {}


def check(key):
    """The decorated function compares what @key of the facts says; it gets (sample, fact)."""
    def add(fn):
        CHECKS[key] = fn
        return fn
    return add


def equal(got, want):
    if got != want:
        raise AssertionError(f'got {str(got)[:700]}, wanted {str(want)[:700]}')


@check('records')
def records(s, want):
    accept = s.facts.get('accept_records', [want])
    # Of the text alone, not of JSON events around it.
    got = s.input['records'] - s.input.get('handed_on', 0)
    if got not in accept:
        raise AssertionError(f'got {got}, wanted one of {accept}')


@check('records_by_kernel_event')
def records_by_event(s, want):
    equal(s.input['records_by_event'], want)


@check('records_by_printed_name')
def records_by_printed_name(s, want):
    if 'records_by_kernel_event' in s.facts or s.facts['header'].get('latency_header'):
        return
    plain = collections.Counter()
    for name, n in want.items():
        name = name.split(':')[-1]
        plain['print' if name == 'tracing_mark_write' else name] += n
    equal(s.input['records_by_event'], dict(plain))


def loose(s):
    """These formats cut or shift times that the facts have rounded: 1 us a stamp is theirs."""
    header = s.facts['header']
    return header.get('latency_header') or header.get('tracer_line') == 'function_graph'


def microseconds(text):
    return int(text.replace('.', ''))


@check('per_cpu')
def per_cpu(s, want):
    got = {cpu: {'records': c['records'], 'first': s.printed(c['first_ts']), 'last': s.printed(c['last_ts'])}
           for cpu, c in s.input['per_cpu'].items() if 'first_ts' in c}
    if not got:
        return      # function_graph without any column of times
    want = {cpu: {k: c[k] for k in ('records', 'first', 'last')} for cpu, c in want.items()}
    if not loose(s):
        equal(got, want)
        return
    equal({c: got[c]['records'] for c in got}, {c: want[c]['records'] for c in want})
    # Relative times count from the first record of all.
    zero = [min(microseconds(c['first']) for c in x.values()) for x in (got, want)]
    for cpu in want:
        for key in ('first', 'last'):
            apart = microseconds(got[cpu][key]) - zero[0] - microseconds(want[cpu][key]) + zero[1]
            if abs(apart) > 1:
                raise AssertionError(f'CPU {cpu}: {key} is {apart} us off')


@check('threads_left_column')
def threads(s, want):
    names = collections.defaultdict(set)
    for tid, name in want:
        text = bytes.fromhex(name['hex']).decode(errors='replace') if isinstance(name, dict) else name
        names[tid].add(text.strip())
    got = {t[0]: t[1].strip() for t in s.input['threads']}
    if s.facts['header'].get('tracer_line') == 'function_graph':
        # The text names a thread only where a column or a switch block does.
        equal(sorted(set(got) - set(names)), [])
        return
    equal(sorted(got), sorted(names))
    for tid, name in got.items():
        cut = s.facts['header'].get('latency_header')
        known = {n[:8] for n in names[tid]} if cut else names[tid]
        if name and name not in known and name not in {n[:8].strip() for n in known}:
            raise AssertionError(f'thread {tid} is {name!r}, wanted one of {known}')


@check('tgid_of_left_column')
def tgids(s, want):
    got = {str(t[0]): t[2] or 0 for t in s.input['threads']}
    equal(got, want)


@check('lost')
def lost(s, want):
    equal({'notices': s.input['lost_notices'], 'events': s.input['lost_events']}, want)


@check('physical_lines')
def lines(s, want):
    equal(s.input['lines'], want['total'])
    if 'continuation' in want:
        equal(s.input['continuation_lines'], want['continuation'])


@check('function_graph')
def function_graph(s, want):
    by_event = s.input['records_by_event']
    equal((by_event.get('funcgraph_entry', 0), by_event.get('funcgraph_exit', 0)),
          (want['entries'], want['exits']))


@check('markers_by_kind')
def markers(s, want):
    """Markers of atrace's forms, found again in the FXT file as what they mean."""
    got = collections.Counter()
    for rec in fxtread.read(s.fxt):
        if rec['type'] == 'event':
            got[rec['event_type']] += 1
            got[rec['category']] += 1
    equal(got['counter'], want['C'])
    equal(got['async_begin'], want['S'] + want['G'])
    equal(got['clock_sync'], want['clock_sync'])
    equal(s.input['records_by_event']['print'], sum(want.values()))
    # A begin without a process id is text to everyone.
    with open(os.path.join(CORPUS, s.name), errors='replace') as f:
        begins = len(re.findall(r'tracing_mark_write: B\|\d*\|', f.read()))
    equal(got['duration_begin'], begins)


@check('sched_switch')
def switches(s, want):
    equal(s.output['switches'], want)
    equal(len(Trace(s.fxt).real()), want)


@check('on_cpu_intervals')
def on_cpu_intervals(s, want):
    """From the FXT file: how often and how long each thread ran between two switches of one CPU."""
    if s.facts['header'].get('tracer_line') == 'function_graph' and not timed(s):
        return
    unit = 1 if s.facts.get('printed_time', '').startswith('integer') else 1000
    got = collections.defaultdict(lambda: [0, 0])
    last = {}
    for sw in Trace(s.fxt).real():
        before = last.get(sw.cpu)
        if before and before.into == sw.out:
            got[str(sw.out)][0] += 1
            got[str(sw.out)][1] += (sw.ts - before.ts) // unit
        last[sw.cpu] = sw
    if not loose(s):
        equal(dict(got), want['by_tid'])
        return
    equal({t: n for t, (n, _) in got.items()}, {t: n for t, (n, _) in want['by_tid'].items()})
    for tid, (n, total) in want['by_tid'].items():
        if abs(total - got[tid][1]) > n:
            raise AssertionError(f'{tid} ran {got[tid][1]} us in {n} intervals, wanted {total}')


def timed(s):
    return any('first_ts' in c for c in s.input['per_cpu'].values())


def accounted(s, _):
    """Records in = records accounted for out."""
    equal(s.output['records'], s.input['records'])
    equal(sum(s.output[k] for k in ACCOUNTED), s.output['records'])


TYPES = {'trace_info': 'metadata', 'provider_info': 'metadata', 'provider_section': 'metadata',
         'context_switch': 'scheduling', 'thread_wakeup': 'scheduling'}


def independent_reader(s, _):
    """It finds no fault, and as many records of each type as kfxt says it wrote."""
    reader, got = fxtread.read(s.fxt), collections.Counter()
    for rec in reader:
        got[TYPES.get(rec['type'], rec['type'])] += 1
    equal(reader.problems, [])
    equal(dict(got), s.output['fxt_records_by_type'])


def verified(s, _):
    r = subprocess.run([KFXT, 'verify', s.fxt], capture_output=True)
    if r.returncode:
        raise AssertionError(r.stdout.decode()[-1200:])


CASES = []


def case(fn):
    """The decorated function is a test of its own; it gets a directory."""
    CASES.append(fn)
    return fn


def convert(data, tmp, *options):
    """What kfxt says of @data and the path of the trace."""
    path, out = os.path.join(tmp, 'in'), os.path.join(tmp, 'out.fxt')
    with open(path, 'wb') as f:
        f.write(data)
    if os.path.exists(out):
        os.unlink(out)
    return subprocess.run([KFXT, 'convert', *options, '-o', out, path], capture_output=True, timeout=60), out


def sample_bytes(name):
    with open(os.path.join(CORPUS, name), 'rb') as f:
        return f.read()


@case
def other_files_are_named(tmp):
    """What is no ftrace text is named, with the command that makes text of it; nothing is written."""
    text = sample_bytes('sched-6.1.txt')
    database = os.path.join(tmp, 'a.db')
    with sqlite3.connect(database) as db:
        db.execute('create table a (b)')
    with open(database, 'rb') as f:
        database = f.read()
    utf = text.decode(errors='replace')
    for data, name, hint in (
            (lzma.compress(text), 'compressed with xz', 'xz -dc FILE | kfxt convert -'),
            (lzma.compress(text, lzma.FORMAT_ALONE), 'compressed with lzma', 'xz -dc FILE | kfxt convert -'),
            (bz2.compress(text), 'compressed with bzip2', 'bzip2 -dc FILE | kfxt convert -'),
            (b'\x04\x22\x4d\x18\x64\x40\xa7' + text, 'compressed with lz4', 'lz4 -dc FILE | kfxt convert -'),
            (b'PERFILE2\x68\0\0\0\0\0\0\0', 'a perf.data file', 'perf script -i FILE | kfxt convert -'),
            (b'\x17\x08\x44tracing6\0', 'a trace.dat file', 'trace-cmd report -i FILE | kfxt convert -'),
            (utf.encode('utf-16'), 'UTF-16 text', 'iconv -f UTF-16 -t UTF-8 FILE'),
            (utf.encode('utf-16-le'), 'UTF-16 text', 'iconv -f UTF-16LE -t UTF-8 FILE'),
            (utf.encode('utf-16-be'), 'UTF-16 text', 'iconv -f UTF-16BE -t UTF-8 FILE'),
            (utf.encode('utf-32'), 'UTF-32 text', 'iconv -f UTF-32 -t UTF-8 FILE'),
            (b'PK\3\4\x14\0', 'a zip archive', 'unzip -p FILE'),
            (bytes.fromhex('1000044678541600') * 2, 'a Fuchsia trace already', 'kfxt report FILE'),
            (database, 'an SQLite database', 'convert the trace it was'),
            (b'\n\x09\x40\xe8\x07\x50\x01\x58\x01' * 9, 'looks like a Perfetto trace', 'open it in ui.perfetto.dev')):
        r, out = convert(data, tmp)
        said = r.stderr.decode()
        equal((r.returncode, said.count('\n'), os.path.exists(out)), (1, 1, False))
        if f'in: {name}' not in said or f'({hint}' not in said:
            raise AssertionError(f'{name}: {said}')
    # A line of blanks and a thread whose name has a control character are text all the same.
    r, out = convert(b'\n' + text.replace(b'<idle>', b'<\x01dle>'), tmp)
    equal((r.returncode, r.stderr.count(b'852 records')), (0, 1))


def stats_of(r):
    return json.loads(r.stdout)['output']


def is_clean(fxt):
    equal(subprocess.run([KFXT, 'verify', fxt], capture_output=True).stdout.decode().splitlines()[-1], 'clean')


def without_headers(text):
    return b''.join(line for line in text.splitlines(True) if not line.startswith(b'#'))


@case
def a_trace_twice_loses_nothing(tmp):
    """With its header and without: twice the switches, the second ones later by whole seconds."""
    for path in sorted(glob.glob(CORPUS + '/*.txt')):
        text = sample_bytes(path).rstrip(b'\n') + b'\n'
        for text in text, without_headers(text):
            once = stats_of(convert(text, tmp, '--stats=json')[0])
            if not once['switches']:
                continue
            r, fxt = convert(text + text, tmp, '--stats=json')
            twice = stats_of(r)
            equal([path] + [twice[k] for k in ('switches', 'wakeups', 'out_of_order')],
                  [path, once['switches'] * 2, once['wakeups'] * 2, 0])
            is_clean(fxt)
    text = without_headers(sample_bytes('sched-6.1.txt'))
    r, fxt = convert(text + text, tmp, '--strict')
    equal(r.returncode, 0)
    if ':853: a second trace overlaps the first in time: shifted by 2 s' not in r.stderr.decode():
        raise AssertionError(r.stderr.decode())
    real = Trace(fxt).real()
    # The koid of an id that was used again differs in its upper digits.
    equal([(s.ts - 2 * 10**9, s.cpu, s.out % 10**7, s.state) for s in real[195:]],
          [(s.ts, s.cpu, s.out, s.state) for s in real[:195]])


@case
def what_is_out_of_order_is_said(tmp):
    """With its count and the line of the first, and --strict fails; nothing is taken for a new trace."""
    lines = without_headers(sample_bytes('sched-6.1.txt')).splitlines(True)
    late = next(i for i in range(400, 500) if b' sched_switch: ' in lines[i])
    moved = lines[:late] + lines[late + 50:late + 52] + lines[late:late + 50] + lines[late + 52:]
    for text, least in (lines[::-1], 193), (moved, 1):
        r, fxt = convert(b''.join(text), tmp, '--strict', '--stats=json')
        stats = stats_of(r)
        equal((r.returncode, stats['shifted_traces']), (3, 0))
        if stats['out_of_order'] < least or f': {stats["out_of_order"]} scheduling records are' not in r.stderr.decode():
            raise AssertionError(f'{stats["out_of_order"]}: {r.stderr.decode()}')
        is_clean(fxt)
        equal(convert(b''.join(text), tmp)[0].returncode, 0)


@case
def traces_of_one_time_stay_there(tmp):
    """Those of each CPU, and one of markers beside one of switches: no time is changed."""
    text = sample_bytes('sched-6.1.txt')
    lines = without_headers(text).splitlines(True)
    header = b'# tracer: nop\n#\n'
    marks = [line.split(b': ')[0] + b': tracing_mark_write: I|7|x\n' for line in lines]
    for parts in [[x for x in lines if b' [%03d] ' % cpu in x] for cpu in (0, 1)], [lines, marks]:
        r, fxt = convert(b''.join(header + b''.join(p) for p in parts), tmp, '--stats=json')
        stats = stats_of(r)
        equal((stats['shifted_traces'], stats['records']), (0, sum(map(len, parts))))
        equal(b'shown' in r.stderr, False)
        is_clean(fxt)


@case
def names_that_are_cut_are_counted(tmp):
    """Those of counters and of instants, at 2048 bytes, and none of these."""
    head, name = b'# tracer: nop\n#\n', b'n' * 2049
    for mark, cut in (b'C|7|%s|1', 1), (b'I|7|%s', 1), (b'B|7|%s', 1), (b'C|7|%.2048s|1', 0), (b'I|7|%.2048s', 0):
        r, fxt = convert(head + b' a-7 [000] ..... 1.000000: tracing_mark_write: ' + mark % name + b'\n', tmp, '--stats=json')
        stats = stats_of(r)
        equal((mark, stats['records'], stats['cut_names']), (mark, 1, cut))
        is_clean(fxt)


def main():
    wanted = sys.argv[2:]
    paths = sorted(p[:-len('.facts.json')] for p in glob.glob(CORPUS + '/*.facts.json'))
    totals, table = collections.Counter(), []
    with tempfile.TemporaryDirectory() as tmp:
        for path in paths:
            if wanted and os.path.basename(path) not in wanted:
                continue
            row = run_sample(path, tmp, totals)
            table.append(row)
        for fn in CASES if not wanted else ():
            run_case(fn, tmp, totals)
    print('#')
    for name, met, total in table:
        print(f'# {name:36} {met:3} of {total:3} facts met')
    print(f'convert: {totals["passed"]} passed, {totals["failed"]} failed, 0 skipped')
    return 1 if totals['failed'] else 0


def run_sample(path, tmp, totals):
    name, met, total = os.path.basename(path), 0, 0
    try:
        sample = Sample(path, tmp)
        checks = [(key, fn, sample.facts[key]) for key, fn in CHECKS.items() if key in sample.facts]
        checks += [(fn.__name__, fn, None) for fn in (accounted, independent_reader, verified)]
    except Exception as e:  # noqa: BLE001: one sample must not end the others
        totals['failed'] += 1
        print(f'not ok - {name} converts\n# {e}')
        return name, 0, 1
    for key, fn, fact in checks:
        total += 1
        try:
            fn(sample, fact)
            met += 1
            print(f'ok - {name}: {key}')
        except Exception as e:  # noqa: BLE001
            print(f'not ok - {name}: {key}\n# {type(e).__name__}: {e}')
    totals['passed'] += met
    totals['failed'] += total - met
    return name, met, total


def run_case(fn, tmp, totals):
    try:
        fn(tmp)
        totals['passed'] += 1
        print(f'ok - {fn.__name__}')
    except Exception as e:  # noqa: BLE001
        totals['failed'] += 1
        print(f'not ok - {fn.__name__}\n# {type(e).__name__}: {e}')


if __name__ == '__main__':
    sys.exit(main())
