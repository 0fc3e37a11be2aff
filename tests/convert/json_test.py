#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on Trace Event JSON, against facts that were computed without any importer.

    json_test.py BUILD_DIR [SAMPLE...]

Compares --stats=json, and what the independent reader finds in the FXT file, with each sample's
.facts.json; each sample is also cut in many places. Prints TAP and the totals.
"""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
import fxtread  # noqa: E402
import json_reader  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
CORPUS = os.path.join(TESTS, 'corpus', 'json')
INVENTED = 4250000000   # koids from here on are not the ids of the file
DAMAGE = ('damaged event', 'not an object', 'missing comma', 'stray comma', 'bad escape')
CUTS = 12               # places in which a sample is cut
DEPTH = 500             # deeper slices are on a second track: viewers draw no more
DEEP = {'deep.json': 600 - DEPTH}
# A slice whose end is beyond 2^63 ns, all times being moved because some are negative, ends there.
BEYOND = {'precision.json': 10**9 - (2**63 - 1 - 9223372036854775000)}
KINDS = ('as_slices', 'as_async', 'as_counters', 'as_instants', 'as_flows', 'as_names', 'as_samples',
         'as_states', 'as_marks', 'not_converted', 'empty')

Slice = collections.namedtuple('Slice', 'ts dur name process thread')


def run(*args):
    return subprocess.run([KFXT, *args], capture_output=True, timeout=60)


class Fxt:
    """What the independent reader finds in a file."""

    def __init__(self, path):
        reader = fxtread.read(path)
        self.slices, self.events, self.begins, self.async_ends = [], collections.Counter(), 0, []
        self.names = {1: {}, 2: {}}     # by type: koid -> name
        self.samples = self.switched_in = 0
        self.open_async = {}
        for record in reader:
            if record['type'] == 'event':
                self.take_event(record)
            elif record['type'] == 'kernel_object':
                self.names[record['kernel_object_type']][record['koid']] = record['name']
            elif record['type'] == 'context_switch':
                self.switched_in += record['incoming_thread_id'] != 0
        self.problems = reader.problems

    def take_event(self, record):
        kind = record['event_type']
        self.events[kind] += 1
        if kind in ('duration_complete', 'duration_begin'):
            dur = record['end_time'] - record['timestamp'] if kind == 'duration_complete' else None
            self.slices.append(Slice(record['timestamp'], dur, record['name'], *record['thread']))
        elif kind == 'counter':
            self.samples += len(record['arguments'])
        elif kind == 'async_begin':
            self.open_async.setdefault(record['async_correlation_id'], []).append(record['timestamp'])
        elif kind == 'async_end':
            begin = self.open_async[record['async_correlation_id']].pop()
            self.async_ends.append(record['timestamp'] - begin)

    def name(self, kind, koid, number):
        """As in the file: what is added to names for the sake of ids is taken away."""
        name = self.names[kind][koid]
        word = 'pid' if kind == 1 else 'tid'
        for end in (f' [{word} {number}]', f'{word} {number}'):
            if name.endswith(end):
                return name[:-len(end)]
        return name


class Sample:
    def __init__(self, path, tmp):
        self.name = os.path.basename(path)
        self.path = path
        with open(path + '.facts.json', encoding='utf-8') as file:
            self.facts = json.load(file)
        self.out = os.path.join(tmp, 'out.fxt')
        self.done = run('convert', '--stats=json', '-o', self.out, path)
        self.strict = run('convert', '-q', '--strict', '-o', os.path.join(tmp, 'strict.fxt'), path)
        self.input = json.loads(self.done.stdout)['input'] if self.done.stdout else {}
        self.fxt = Fxt(self.out) if self.done.returncode == 0 else None
        self.shift = self.input.get('shifted_s', 0) * 10**9


def equal(got, want, what=''):
    if got != want:
        raise AssertionError(f'{what}: got {str(got)[:500]}, expected {str(want)[:500]}')


def named(facts, key):
    return {tuple(fact[k] for k in key): fact['name'] for fact in facts if fact['name'] is not None}


CHECKS = []


def check(fn):
    CHECKS.append(fn)
    return fn


@check
def exit_codes(s):
    equal(s.done.returncode, s.facts['exit'], s.done.stderr.decode())
    equal(s.strict.returncode, s.facts['exit_strict'], 'strict')


@check
def second_reader(s):
    """json_reader.py finds what the facts say, of damage what it counts by kind."""
    trace = json_reader.read(s.path)
    for key, found in trace.facts().items():
        want = s.facts[key]
        if key in ('flows', 'damage'):
            kinds = ('arrows', 'without_start', 'ids') if key == 'flows' else DAMAGE
            want, found = [want.get(k, 0) for k in kinds], [found.get(k, 0) for k in kinds]
        elif key == 'thread_states':
            want = want['total']
        elif key == 'by_phase':
            want = {k: v for k, v in want.items() if k != 'empty'}
        equal(found, want, key)
    equal({(pid,): name for pid, name in trace.processes.items()}, named(s.facts['processes'], ['pid']), 'processes')
    equal(trace.threads, named(s.facts['threads'], ['pid', 'tid']), 'threads')


@check
def problem(s):
    said = {'ends early': b'ends early at byte', 'trailing data': b'something follows the JSON at byte'}
    if s.facts['error'] in said:
        equal(said[s.facts['error']] in s.done.stderr, True, s.done.stderr)


@check
def messages(s):
    said = s.done.stderr.decode()
    equal('null' in said, False, said)
    words = {'no-trace-events.json': 'JSON without traceEvents, not Trace Event JSON (a CPU profile of V8)',
             'jsonl.json': '(one event a line)', 'types.json': 'bad time (event 16; the first of 8;',
             'damage-values.json': 'not a JSON value (event 4, byte 244; the first of 8;'}
    equal(words.get(s.name, '') in said, True, said)


@check
def file_is_clean(s):
    if s.fxt:
        equal(s.fxt.problems, [])
        verified = run('verify', s.out)
        equal(verified.returncode, 0, (verified.stdout + verified.stderr).decode())


@check
def events(s):
    if 'events' not in s.input:
        return
    equal(s.input['events'], s.facts['events'])
    phases = dict(s.facts['by_phase'])
    phases.pop('empty', None)
    equal(s.input['by_phase'], phases)
    equal(s.input['unusable'], s.facts['unusable'])
    equal(sum(s.input[kind] for kind in KINDS) + sum(s.input['unusable'].values()), s.input['events'], 'sum')


@check
def accounted(s):
    """What is handed on is what the builder got."""
    if s.fxt:
        equal(json.loads(s.done.stdout)['output']['records'], s.input['records'])


@check
def damage(s):
    facts = s.facts['damage']
    if 'events' in s.input:
        equal(s.input['damaged'], facts.get('damaged event', 0))
        equal(s.input['not_objects'], facts.get('not an object', 0))
        equal(s.input['missing_commas'], facts.get('missing comma', 0))
        equal(s.input['stray_commas'], facts.get('stray comma', 0))


@check
def slices(s):
    if not s.fxt:
        return
    facts, got = s.facts, s.fxt.slices
    equal(json.loads(s.done.stdout)['output']['deep_slices'], DEEP.get(s.name, 0), 'deep')
    equal(len(got), facts['slices_total'], 'total')
    equal(sum(x.dur is not None for x in got), facts['slices_finished'], 'finished')
    equal(sum(x.dur or 0 for x in got) + BEYOND.get(s.name, 0), facts['slices_dur_sum_ns'], 'sum')
    equal(s.input['unmatched_begins'], facts['unmatched']['begin'], 'begins')
    equal(s.input['unmatched_ends'], facts['unmatched']['end'], 'ends')


def slice_key(x):
    return x[0], -1 if x[1] is None else x[1], x[2]


@check
def first_slices(s):
    if not s.fxt:
        return
    want = sorted(((x['ts_ns'] + s.shift, x['dur_ns'], x['name']) for x in s.facts['slices']), key=slice_key)
    have = collections.Counter((x.ts, x.dur, x.name[:200]) for x in s.fxt.slices)
    for item in want:
        if s.name in BEYOND and item[0] + item[1] >= 2**63:
            item = (item[0], 2**63 - 1 - item[0], item[2])
        equal(have[item] > 0, True, item)
        have[item] -= 1


@check
def threads_of_slices(s):
    """A slice is on the thread of its ids, where these can be koids; lanes of it are threads, too."""
    if not s.fxt:
        return
    lane = {koid for koid, name in s.fxt.names[2].items() if name.endswith('(2)')}
    for x in s.facts['slices']:
        places = {(y.process, y.thread) for y in s.fxt.slices if y.thread not in lane and
                  (y.ts, y.dur, y.name[:200]) == (x['ts_ns'] + s.shift, x['dur_ns'], x['name'])}
        if not places:
            continue    # it is on a lane
        ok = any((process >= INVENTED or process == x['pid']) and (thread >= INVENTED or thread == x['tid'])
                 for process, thread in places)
        equal(ok, True, (x, places))


@check
def overlapping(s):
    if s.fxt:
        lanes = {koid for koid, name in s.fxt.names[2].items() if name.split(' [')[0].endswith(')') and '(' in name}
        equal(sum(x.thread in lanes for x in s.fxt.slices), s.facts['slices_overlapping'] + DEEP.get(s.name, 0))


@check
def instants(s):
    if s.fxt:
        equal(s.input['as_instants'], sum(s.facts['instants'].values()))


@check
def counters(s):
    if s.fxt:
        equal(s.fxt.samples, s.facts['counters']['samples'])


@check
def asyncs(s):
    if not s.fxt:
        return
    facts, objects = s.facts['async'], s.facts['by_phase'].get('N', 0)
    equal(s.fxt.events['async_begin'], facts['slices'] + objects, 'begins')
    equal(len(s.fxt.async_ends), facts['slices'] + objects, 'ends')
    # Those that never end are closed where the trace ends.
    ended = facts['slices'] - s.facts['unmatched']['async_begin']
    if not objects:
        equal(sum(s.fxt.async_ends[:ended]), facts['dur_sum_ns'], 'sum')


@check
def flows(s):
    if s.fxt:
        arrows = s.facts['flows'].get('arrows', 0)
        drawn = s.fxt.events['flow_step'] + s.fxt.events['flow_end']
        equal(drawn, arrows, 'arrows')
        unmatched = s.facts['flows'].get('without_start', 0)
        equal(json.loads(s.done.stdout)['output']['unmatched_flows'], unmatched, 'without a begin')


@check
def states(s):
    if s.fxt and s.facts['thread_states']['total']:
        equal(s.input['as_states'], s.facts['thread_states']['total'])
        equal(s.fxt.switched_in, s.facts['thread_states']['on_cpu'])


@check
def names(s):
    if not s.fxt:
        return
    for fact in s.facts['processes']:
        pid = fact['pid']
        if isinstance(pid, int) and pid in s.fxt.names[1] and fact['name']:
            equal(s.fxt.name(1, pid, pid)[:200], fact['name'][:200], fact)
    for fact in s.facts['threads']:
        found = {s.fxt.name(2, koid, fact['tid'])[:200] for koid in s.fxt.names[2]}
        if fact['name']:
            equal(fact['name'][:200] in found, True, (fact, found))


@check
def cut_anywhere(s):
    """No crash, no more than the whole has, and the output is clean."""
    if not s.fxt:
        return
    opener = gzip.open if s.path.endswith('.gz') else open
    with opener(s.path, 'rb') as file:
        data = file.read()
    cut, out = s.out + '.json', s.out + '.cut'
    for i in range(1, CUTS):
        with open(cut, 'wb') as file:
            file.write(data[:len(data) * i // CUTS])
        done = run('convert', '--stats=json', '-o', out, cut)
        equal(done.returncode in (0, 1), True, done.stderr.decode())
        if done.returncode:
            continue
        equal(json.loads(done.stdout)['input']['events'] <= s.input['events'], True, i)
        equal(run('verify', '-q', out).returncode, 0, f'cut at {len(data) * i // CUTS}')


def main():
    samples = sys.argv[2:] or sorted(glob.glob(os.path.join(CORPUS, '*.facts.json')))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for facts in samples:
            path = os.path.join(CORPUS, os.path.basename(facts).removesuffix('.facts.json'))
            sample = Sample(path, tmp)
            for fn in CHECKS:
                try:
                    fn(sample)
                    passed += 1
                    print(f'ok - {sample.name}: {fn.__name__}')
                except (AssertionError, KeyError, IndexError) as error:
                    failed += 1
                    print(f'not ok - {sample.name}: {fn.__name__}\n# {type(error).__name__}: {error}')
    print(f'json: {passed} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
