#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Property test: kfxt and a second reader find the same in Trace Event JSON that is made up.

    json_property_test.py BUILD_DIR [SEED...]

Files of json_made.py go through kfxt convert, and what fxtread.py finds in the FXT is compared with
what json_reader.py finds in the JSON: slices with thread, time, length, name and arguments,
instants, counters, async slices, flows, and all counts. Where they differ the seed is printed and
the least number of events that still differ is kept in BUILD_DIR. FILES=2000 for more seeds.
"""
import collections
import decimal
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import fxtread  # noqa: E402
import json_lenient  # noqa: E402
import json_made  # noqa: E402
import json_reader  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
FILES = int(os.environ.get('FILES', 200))
INVENTED = 4250000000   # koids from here on are not ids of the file
LINUX_IDS = 4194304
ARGS = 15               # of an FXT record
NUMBERS = ('int32', 'uint32', 'int64', 'uint64', 'double')
CHECKS = []


def check(fn):
    CHECKS.append(fn)
    return fn


def equal(got, want, what):
    if got != want:
        raise AssertionError(f'{what}: kfxt {str(got)[:600]}, expected {str(want)[:600]}')


def equal_multisets(got, want, what):
    got, want = collections.Counter(got), collections.Counter(want)
    if got != want:
        raise AssertionError(f'{what}: kfxt alone has {str(list((got - want).elements()))[:600]}, '
                             f'the second reader alone {str(list((want - got).elements()))[:600]}')


# ---- arguments ----------------------------------------------------------------------------


def flat(value, path=''):
    """Of nested values each that is none, by its path."""
    is_list = isinstance(value, list)
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if is_list else []
    if not inner:
        yield path, value
    for key, v in inner:
        yield from flat(v, f'{path}[{key}]' if is_list else f'{path}.{key}' if path else key)


def of_json(value):
    """A value as FXT has it: integers of 64 bits, doubles that keep every digit, else the text."""
    if isinstance(value, dict) or isinstance(value, list):
        return 'string', '{}' if isinstance(value, dict) else '[]'
    if value is None or isinstance(value, bool):
        return 'null' if value is None else 'bool', value
    if isinstance(value, int):
        return ('int64', value) if -2**63 <= value < 2**63 else ('string', str(value))
    if isinstance(value, decimal.Decimal):
        number, digits = float(value), len(value.as_tuple().digits)
        if not value.text.strip('-0123456789'):
            return 'int64', int(value)
        exact = abs(number) < float('inf') and decimal.Decimal(f'{number:.{digits - 1}e}') == value
        return ('double', number) if exact and digits <= 17 else ('string', value.text)
    return 'string', str(value)


def args_of(args):
    """None: more than one record holds."""
    found = {path: of_json(value) for path, value in flat(args)} if args else {}
    return tuple(sorted(found.items())) if len(found) <= ARGS else None


def of_fxt(record):
    return tuple(sorted((name, (kind, value)) for name, kind, value in record['arguments']))


# ---- both sides ---------------------------------------------------------------------------


class Fxt:
    """What is in the FXT file."""

    def __init__(self, path):
        reader = fxtread.read(path)
        self.events, self.names, self.processes = collections.defaultdict(list), {}, {}
        for record in reader:
            if record['type'] == 'event':
                self.events[record['event_type']].append(record)
            elif record['type'] == 'kernel_object' and record['kernel_object_type'] == 2:
                self.names[record['koid']] = record['name']
            elif record['type'] == 'kernel_object' and record['kernel_object_type'] == 1:
                self.processes[record['koid']] = record['name']
        self.problems = reader.problems

    def slices(self):
        """With their duration; None: they do not end by themselves."""
        return [(r, r['end_time'] - r['timestamp']) for r in self.events['duration_complete']] + \
               [(r, None) for r in self.events['duration_begin']]

    def asyncs(self):
        """(begin, end) by id and name, the last begun first."""
        begun, found = collections.defaultdict(list), []
        for r in self.events['async_begin']:
            begun[r['async_correlation_id']].append(r)
        for r in self.events['async_end']:
            found.append((begun[r['async_correlation_id']].pop(), r))
        equal(len(self.events['async_begin']), len(found), 'async slices that end')
        return found


class Case:
    def __init__(self, data, tmp):
        self.path, self.out = os.path.join(tmp, 'made.json'), os.path.join(tmp, 'made.fxt')
        with open(self.path, 'wb') as file:
            file.write(data)
        self.trace = json_reader.Trace(data.decode('utf-8', 'replace'))
        self.done = self.run('convert', '--stats=json', '-o', self.out, self.path)
        self.input = json.loads(self.done.stdout)['input'] if self.done.stdout else {}
        self.fxt = Fxt(self.out) if self.done.returncode == 0 else None
        self.shift = self.input.get('shifted_s', 0) * 10**9
        self.tracks = {}        # (process, thread) of FXT -> what it is in the file

    @staticmethod
    def run(*args):
        return subprocess.run([os.path.join(BUILD, 'kfxt'), *args], capture_output=True, timeout=60)

    def check(self):
        equal(self.done.returncode in (0, 1), True, self.done.stderr.decode(errors='replace'))
        for fn in CHECKS:
            fn(self)

    def is_on(self, record, what):
        """A track of FXT is one thing of the file, with its ids if they can be koids."""
        at = record['thread']
        equal(self.tracks.setdefault(at, what), what, f'track {at}')
        for koid, ident in zip(at, what[1:]):
            if koid < INVENTED:
                equal((koid, type(ident)), (ident, int), 'koid')


def nr_of(args):
    """The number that most events have as an argument."""
    return args.get('n') if isinstance(args.get('n'), int) else None


# ---- checks -------------------------------------------------------------------------------


@check
def counts(c):
    trace, stats = c.trace, c.input
    if 'events' not in stats:
        equal((c.done.returncode, len(trace.events)), (1, 0), 'exit')
        return
    found = trace.text.counts
    equal(stats['events'], len(trace.text.events), 'events')
    equal(stats['by_phase'], {p if p.isascii() else 'other': n for p, n in trace.by_phase.items()}, 'phases')
    equal(stats['unusable'], dict(trace.unusable), 'unusable')
    for key, kind in (('damaged', 'damaged event'), ('not_objects', 'not an object'), ('stray_commas', 'stray comma'),
                      ('missing_commas', 'missing comma')):
        equal(stats[key], found[kind], kind)
    equal(stats['unmatched_ends'], trace.unmatched['end'], 'unmatched ends')


@check
def exit_code(c):
    trace, found = c.trace, c.trace.text.counts
    if c.fxt is None:
        return
    said = {'ends early': b'ends early at byte', 'trailing data': b'something follows the JSON at byte'}
    problem = said.get(trace.error)
    # The first problem is said.
    equal(problem is None or problem in c.done.stderr or found['another array'] > 0, True, c.done.stderr)
    bad = (problem or trace.unusable or found['bad escape'] or found['damaged event'] or found['not an object'] or
           found['another array'] or found['damaged args'])
    strict = c.run('convert', '-q', '--strict', '-o', c.out + '.strict', c.path)
    equal(strict.returncode, 3 if bad else 0, f'--strict {strict.stderr}')


@check
def whole(c):
    if c.fxt:
        equal(c.fxt.problems, [], 'problems of the file')
        verified = c.run('verify', c.out)
        equal(verified.returncode, 0, (verified.stdout + verified.stderr).decode(errors='replace'))


@check
def slices(c):
    if not c.fxt:
        return
    threads = {nr_of(s.args): (s.pid, s.tid) for s in c.trace.slices}
    for r, _ in c.fxt.slices():
        nr = dict((name, value) for name, _, value in r['arguments']).get('n')
        if nr in threads and nr is not None:
            c.is_on(r, ('thread', *threads[nr]))
    equal_multisets([(r['timestamp'], dur, r['category'], r['name']) for r, dur in c.fxt.slices()],
                    [(s.ts + c.shift, s.dur, s.cat, s.name) for s in c.trace.slices], 'slices')
    by_nr = {nr_of(s.args): s for s in c.trace.slices}
    for r, dur in c.fxt.slices():
        nr = dict((name, value) for name, _, value in r['arguments']).get('n')
        if nr is not None:
            s = by_nr[nr]
            equal((r['timestamp'], dur, r['name']), (s.ts + c.shift, s.dur, s.name), f'slice {nr}')


@check
def lanes(c):
    if c.fxt:
        on_lane = sum(c.fxt.names[r['thread'][1]].endswith(')') for r, _ in c.fxt.slices())
        equal(on_lane, c.trace.overlapping(), 'overlapping')


@check
def instants(c):
    if not c.fxt:
        return
    expected = [(i.ts + c.shift, i.cat, i.name) for i in c.trace.instants]
    by_nr = {nr_of(i.args): i for i in c.trace.instants if nr_of(i.args)}
    found = []
    for r in c.fxt.events['instant']:
        nr = dict((name, value) for name, _, value in r['arguments']).get('n')
        i = by_nr.get(nr)
        if i:
            what = ('global',) if i.scope == 'g' else ('process', i.pid) if i.scope == 'p' else ('thread', i.pid, i.tid)
            c.is_on(r, what)
            equal((r['timestamp'], r['category'], r['name']), (i.ts + c.shift, i.cat, i.name), f'instant {nr}')
            found.append(nr)
    equal_multisets(found, list(by_nr), 'instants')
    scopes = collections.Counter(i.scope for i in c.trace.instants)
    equal(c.input['as_marks'], scopes['mark'], 'marks')
    equal(c.input['as_instants'], scopes.total() - scopes['mark'] - scopes['end'], 'instants')
    have = collections.Counter((r['timestamp'], r['category'], r['name']) for r in c.fxt.events['instant'])
    equal(collections.Counter(expected) - have, collections.Counter(), 'instants that are missing')


def full_name(name, koid, word, ident):
    """With the id of the file where the koid is another; of a string the id alone if there is no name."""
    if koid < INVENTED:
        return name
    if name:
        return f'{name} [{word} {ident}]'
    is_number = isinstance(ident, int) and -2**63 <= ident < 2**63
    return f'{word} {ident}' if is_number else str(ident)


@check
def names(c):
    """Of what has slices or instants."""
    for (process, thread), what in c.tracks.items():
        if what[0] != 'thread':
            continue
        pid, tid = what[1:]
        equal(c.fxt.processes[process], full_name(c.trace.processes.get(pid, ''), process, 'pid', pid), f'process {pid}')
        name = c.fxt.names[thread]
        if not name.endswith(')'):
            equal(name, full_name(c.trace.threads.get((pid, tid), ''), thread, 'tid', tid), f'thread {pid} {tid}')


@check
def arguments(c):
    """Of what has a number, all of them, if one record has space for them."""
    if not c.fxt:
        return
    events = [*c.trace.slices, *c.trace.instants]
    by_nr = {nr_of(e.args): args_of(e.args) for e in events if nr_of(e.args)}
    for kind in ('duration_complete', 'duration_begin', 'instant'):
        for r in c.fxt.events[kind]:
            found = of_fxt(r)
            nr = dict(found).get('n', (None, None))[1]
            args = by_nr.get(nr)
            if args is not None and len(found) <= len(args):
                equal(found, args, f'arguments of {nr}')


@check
def counters(c):
    if not c.fxt:
        return
    found = [(r['timestamp'], r['name'], name, float(value)) for r in c.fxt.events['counter']
             for name, kind, value in r['arguments'] if kind in NUMBERS]
    equal_multisets(found, [(s.ts + c.shift, s.name, s.series, float(s.value)) for s in c.trace.samples], 'counters')
    series = {(r['thread'][0], r['name'], r['counter_id'], name) for r in c.fxt.events['counter']
              for name, _, _ in r['arguments']}
    equal(len(series), len({s[:4] for s in c.trace.samples}), 'series')


@check
def asyncs(c):
    if not c.fxt:
        return
    last = max((r['timestamp'] for records in c.fxt.events.values() for r in records), default=0)
    found = collections.Counter((b['timestamp'], e['timestamp'], b['name']) for b, e in c.fxt.asyncs())
    ended = collections.Counter((a.ts + c.shift, a.ts + a.dur + c.shift, a.name) for a in c.trace.asyncs
                                if a.dur is not None)
    equal(ended - found, collections.Counter(), 'async slices that are missing')
    opened = collections.Counter((a.ts + c.shift, a.name) for a in c.trace.asyncs if a.dur is None)
    rest = found - ended
    equal(collections.Counter((begin, name) for begin, _, name in rest.elements()), opened, 'those that do not end')
    equal(all(end <= last for _, end, _ in rest), True, 'their end')


@check
def flows(c):
    if not c.fxt:
        return
    equal(c.input['as_flows'], len(c.trace.flows), 'flows')
    drawn, begun = c.trace.drawn_flows()
    equal(len(c.fxt.events['flow_step']) + len(c.fxt.events['flow_end']), drawn, 'arrows')
    equal(len(c.fxt.events['flow_begin']), begun, 'flows begun')


@check
def states(c):
    if c.fxt:
        equal(c.input['as_states'], len(c.trace.states), 'states')


# ---- running ------------------------------------------------------------------------------


def problem_of(data, tmp):
    try:
        Case(data, tmp).check()
    except (AssertionError, KeyError, IndexError, ValueError, subprocess.TimeoutExpired) as error:
        return f'{type(error).__name__}: {error}'
    return None


def shrink(data, problem, tmp):
    """The fewest lines that make a problem of that kind still; most events have a line."""
    kind = problem.split('kfxt')[0]
    lines = data.split(b'\n')
    size = max(1, len(lines) // 2)
    while size:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + size:]
            if (problem_of(b'\n'.join(fewer), tmp) or '').startswith(kind):
                lines = fewer
            else:
                at += size
        size //= 2
    return b'\n'.join(lines)


def run_one(seed, tmp):
    data = json_made.make(seed)
    problem = problem_of(data, tmp)
    if not problem:
        return True
    data = shrink(data, problem, tmp)
    path = os.path.join(BUILD, f'json-{seed}.json')
    with open(path, 'wb') as file:
        file.write(data)
    print(f'not ok - seed {seed}\n# {problem}\n# {len(data)} bytes that do it are {path}: {problem_of(data, tmp)}')
    return False


def main():
    seeds = [int(seed) for seed in sys.argv[2:]] or range(FILES)
    with tempfile.TemporaryDirectory() as tmp:
        passed = sum(run_one(seed, tmp) for seed in seeds)
    print(f'json_property: {passed} passed, {len(seeds) - passed} failed, 0 skipped')
    return passed < len(seeds)


if __name__ == '__main__':
    sys.exit(main())
