#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Trace Event JSON to FXT and back, judged by an independent reader of JSON.

    json_round_test.py BUILD_DIR [SAMPLE...]

What json_reader.py finds in a sample and in what comes back is the same: slices, async slices, instants,
counters, flows, states and names, with times and tracks, and as many arrows connect; after a
second round no name has two ids. The differences that docs/design.md describes are expected exactly, sample by sample:
a new one fails, and so does one that is no more. Prints TAP and the totals.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
import json_reader  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
CORPUS = os.path.join(TESTS, 'corpus', 'json')
INVENTED = 4200000000   # ids from here on are none of the source
REPEATED = re.compile(r'\[[pt]id .*\[[pt]id ')
LANE = re.compile(r'^(.*) \([0-9]+\)$')
# Not converted at all, with reasons that json_test.py checks.
REFUSED = {'empty-array.json', 'empty-object.json', 'jsonl.json', 'no-trace-events.json', 'not-json.txt'}


class Ids:
    """Processes and threads by the ids and names of the source: kfxt keeps an id that cannot be a koid in the name."""

    def __init__(self, trace):
        self.trace = trace

    @staticmethod
    def split(word, koid, name):
        """(id of the source, name without it)"""
        if not isinstance(koid, int) or koid < INVENTED:
            return json_reader.text_of(koid), name
        found = re.match(rf'(?:(.*) \[)?{word} (.*?)\]?$', name)
        return (found[2], found[1] or '') if found else (name or str(koid), '')

    def process(self, pid):
        return self.split('pid', pid, self.trace.processes.get(pid, ''))

    def thread(self, pid, tid):
        name = self.trace.threads.get((pid, tid), '')
        lane = LANE.match(name) if isinstance(tid, int) and tid >= INVENTED else None
        return self.split('tid', tid, lane[1] if lane else name)

    def at(self, pid, tid):
        return self.process(pid)[0], self.thread(pid, tid)[0]

    def names(self):
        """(is a thread, ids, name) of all that have a name."""
        processes = [('process', *self.process(pid)) for pid in self.trace.processes]
        threads = [('thread', *self.at(*at), self.thread(*at)[1]) for at in self.trace.threads]
        return {(*item[:-1], short(item[-1])) for item in processes + threads if item[-1]}


def short(name):
    return name if len(name) < 100 else f'{name[:4]}... of {len(name)}'


def found_in(path, shift=0):
    """What a file has, comparable: multisets of tuples by kind."""
    trace = json_reader.read(path)
    ids = Ids(trace)
    at = ids.at
    found = {
        'slices': [(*at(s.pid, s.tid), s.ts - shift, s.dur, short(s.cat), short(s.name)) for s in trace.slices],
        # An end without a begin is an instant, as it is here, and so is a memory dump.
        'instants': [(*at(i.pid, i.tid), i.ts - shift, i.cat, i.name, 't' if i.scope in ('end', 'mark') else i.scope)
                     for i in trace.instants],
        'async': [(a.ts - shift, a.dur, a.name) for a in trace.asyncs],
        'counters': [(ids.process(s.pid)[0], s.ts - shift, s.name, s.series, float(s.value)) for s in trace.samples],
        'flows': [(*at(f.pid, f.tid), f.ts - shift, f.ph, f.cat, f.name) for f in trace.flows],
        'arrows': dict(zip(('drawn', 'begun'), trace.drawn_flows())),
        'states': [(*at(s.pid, s.tid), s.ts - shift, s.dur, s.name) for s in trace.states],
        'names': ids.names(),
    }
    return {kind: collections.Counter(items) for kind, items in found.items()}


# ---- differences: by sample and kind what is missing, and what is there instead -----------------

# An instant of the whole trace, and one of a process, have tracks of their own.
SCOPES = {'instants': ([('10', '10', 834001, '', 'proc', 'p'), ('10', '11', 834000, '', 'all', 'g')],
                       [('10', 'process', 834001, '', 'proc', 't'), ('global', 'global', 834000, '', 'all', 'g')])}
KERNEL = [('process', '0', 'kernel'), ('thread', '0', '0', 'swapper')]
# What has no meaning in FXT is shown as an instant.
METADATA = ('num_cpus own_thing process_labels process_uptime_seconds stackFrames trace_buffer_overflowed '
            'TraceConfig typeNames')
MEMBERS = 'androidProcessDump metadata otherData powerTraceAsString traceAnnotations unknown'
NODE = ('21665', 'process', 1882027300000, '__metadata')
DIFFERENCES = {
    'array-basic.json': SCOPES, 'array-open-nocomma.json.gz': SCOPES, 'array-open.json': SCOPES,
    'bom-crlf.json': SCOPES, 'damage-cut-between.json': SCOPES, 'damage-cut-in-event.json': SCOPES, 'damage-trailing-data.json': SCOPES,
    'order-shuffled.json': SCOPES,
    # What never ends is ended where the trace ends; a step or an end outside of a slice is an instant.
    'async-legacy.json': {
        'async': ([(58000, None, 'op')], [(58000, 13000, 'op')]),
        'instants': ([], [('1', '1', 56000, 'net', 'op', 't'), ('1', '1', 57000, 'net', 'op', 't')])},
    'async-scopes.json': {
        'async': ([(60000, None, 'never ends')], [(60000, 8000, 'never ends')]),
        'instants': ([], [('1', '1', 61000, 'net', 'never began', 't'), ('1', '1', 62000, 'net', 'alone', 't'),
                          ('1', '1', 64000, 'net', 'op', 't')])},
    # Without bp an end is at the next slice; those without a begin are not there, after an end there is one more.
    'flows-v1.json': {
        'flows': ([('1', '2', 35000, 'f', 'f', 'fl'), ('1', '2', 126000, 'f', 'f', 'fl'),
                   ('1', '2', 129000, 'f', 'g', 'fl')],
                  [('1', '1', 12000, 's', 'f', 'fl'), ('1', '2', 40000, 'f', 'f', 'fl')])},
    # Members of slices become events, all of a flow with the name of the first.
    'flows-v2.json': {
        'flows': ([], [('1', '1', 10000, 's', 't', 'p1'), ('1', '1', 40000, 's', 't', 'p2'),
                       ('1', '2', 20000, 't', 't', 'p1'), ('1', '2', 50000, 't', 't', 'p2'),
                       ('2', '3', 30000, 't', 't', 'p1'), ('2', '3', 50000, 't', 't', 'p2')])},
    # Long texts are cut.
    'huge-strings.json': {
        'slices': ([('1', '1', 1000, 1000, 'CCCC... of 33000', 'NNNN... of 40000')],
                   [('1', '1', 1000, 1000, 'CCCC... of 1024', 'NNNN... of 2048')]),
        'names': ([('process', '1', 'PPPP... of 5000')], [('process', '1', 'PPPP... of 2048')])},
    'metadata.json': {'instants': ([], [('1', 'process', 10000, 'metadata', name, 't') for name in METADATA.split()])},
    # The text says what runs and who that is, and is not compared itself; members are instants.
    'object-full.json': {
        'states': ([], [('10', '10', 100000100000, 300000, 'Running'), ('10', '10', 100000400000, 0, 'S')]),
        'instants': ([], [('global', 'global', 100000100000, 'metadata', name, 'g') for name in MEMBERS.split()]),
        'names': ([], [*KERNEL, ('process', '10', 'app'), ('thread', '10', '10', 'app')])},
    'phases-all.json': {'instants': ([], [('1', '1', 116000, 'c', 'n', 't'), ('1', 'process', 100000, 'c', 'n', 't')])},
    'real-clang-14.json': {'instants': ([], [('global', 'global', 0, 'metadata', 'beginningOfTime', 'g')])},
    # All times are later by a second, and none is later than 2^63 ns.
    'precision.json': {
        'slices': ([('1', '12', 0, 9223372036854775000, '', '0')], [('1', '12', 0, 9223372035854775807, '', '0')])},
    'real-node-20.json': {'instants': ([], [(*NODE, 'node', 't')] * 2 + [(*NODE, 'version', 't')] * 2)},
    # Samples of the member and of V8 are samples of the member (stacks_test.py); others are instants.
    'samples.json': {
        'instants': ([], [('1', '1', 100000, 'v8', 'Profile', 't'), ('234', '645', 123000, 'foo', 'sample', 't'),
                          ('234', '645', 124000, '', 'sample2', 't')])},
    # A thread that waits does not change what for, and has no end of its last state but that of the trace.
    'thread-states.json': {
        'states': ([('100', '101', 6000000, 10000000, 'S'), ('100', '101', 16000000, 8000000, 'D'),
                    ('100', '102', 1250000, 10000, 'R+')],
                   [('100', '101', 6000000, 18000000, 'S'), ('100', '101', 30000500, 0, 'R'),
                    ('100', '102', 1250000, 28750500, 'R+')]),
        'names': ([], KERNEL)},
}


def compare(first, again, expected):
    """What differs and was not expected to, or the other way round."""
    wrong = []
    for kind in first:
        missing, new = (collections.Counter(items) for items in expected.get(kind, ([], [])))
        for what, got, wanted in (('missing', first[kind] - again[kind], missing),
                                  ('new', again[kind] - first[kind], new)):
            if got != wanted:
                wrong.append(f'{kind} {what}: {str(sorted(got.elements(), key=str))[:1500]}, '
                             f'expected {str(sorted(wanted.elements(), key=str))[:1500]}')
    return wrong


def convert(source, to, *options):
    return subprocess.run([KFXT, 'convert', '-q', '--stats=json', '-o', to, *options, source], capture_output=True,
                          timeout=120)


def round_trip(name, tmp):
    """Of one sample: None if it came back, '' if it is refused as it is to be, else what is wrong."""
    fxt, back = os.path.join(tmp, 't.fxt'), os.path.join(tmp, 't.json')
    done = convert(os.path.join(CORPUS, name), fxt)
    if name in REFUSED or done.returncode:
        return None if (name in REFUSED) == (done.returncode == 1) else f'exit {done.returncode}: {done.stderr}'
    shift = json.loads(done.stdout)['input']['shifted_s'] * 10**9
    done = convert(fxt, back, '--sched=states')
    if done.returncode:
        return f'exit {done.returncode}: {done.stderr}'
    with open(back, encoding='utf-8') as file:
        json.load(file)
    again = os.path.join(tmp, 'again.json')
    if convert(back, fxt).returncode or convert(fxt, again, '--sched=states').returncode:
        return 'what came back is refused'
    trace = json_reader.read(again)
    names = [name for name in (*trace.processes.values(), *trace.threads.values()) if REPEATED.search(str(name))]
    if names:
        return f'after a second round: {names}'
    wrong = compare(found_in(os.path.join(CORPUS, name)), found_in(back, shift), DIFFERENCES.get(name, {}))
    return '; '.join(wrong) or None


def main():
    samples = sys.argv[2:] or [os.path.basename(facts).removesuffix('.facts.json')
                               for facts in sorted(glob.glob(CORPUS + '/*.facts.json'))]
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name in samples:
            wrong = round_trip(name, tmp)
            failed += wrong is not None
            print(f'ok - {name}' if wrong is None else f'not ok - {name}\n# {wrong}')
    print(f'json_round: {len(samples) - failed} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
