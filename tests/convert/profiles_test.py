#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Stack samples in reports and other formats, judged by the samples the traces were made from.

    profiles_test.py BUILD_DIR [NAME...]

Prints TAP and the totals.
"""
import collections
import fnmatch
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS]
import stacks_made  # noqa: E402
from cases import Skipped, case, equal, equal_multisets, run  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
KINDS = {0: None, 1: 'native', 2: 'kernel', 3: 'interpreted', 4: 'jit'}
PROCESSES = {100: 'app', 200: 'the server', 0: 'kernel'}
THREADS = {100: 'main', 101: 'worker', 200: 'wor;ker', 201: 'worker', 7: 'kworker/0:1'}
SOURCES = ('cpu', 'off-cpu', 'waker')


def kfxt(*args, code=0):
    r = subprocess.run([KFXT, *args], capture_output=True, timeout=120)
    if r.returncode != code:
        raise AssertionError(f'kfxt {args}: exit code {r.returncode}: {r.stderr.decode()}')
    return r


def report(*args):
    return json.loads(kfxt('report', '--json', *args).stdout)['stacks']


def write(tmp, trace, name='t.fxt'):
    path = os.path.join(tmp, name)
    with open(path, 'wb') as f:
        f.write(trace.fxt())
    return path


def made(tmp, seed=1, **how):
    trace = stacks_made.random_trace(seed, **how)
    return trace, write(tmp, trace)


# ---- what the samples say -----------------------------------------------------------------

def label(f):
    return f.name, f.mapping or None, KINDS[f.kind]


def group(by, s):
    return {'thread': (THREADS.get(s.tid), s.tid, PROCESSES.get(s.pid), s.pid), 'process': (PROCESSES.get(s.pid), s.pid),
            'comm': (THREADS.get(s.tid),)}[by]


def tree_of(samples, by=None, inverted=False):
    """{path: [total samples, total ns, self samples, self ns]}"""
    nodes = collections.defaultdict(lambda: [0, 0, 0, 0])
    for s in samples:
        path = [label(f) for f in s.frames]
        path = ([group(by, s)] if by else []) + (path[::-1] if inverted else path)
        for end in range(1, len(path) + 1):
            node = nodes[tuple(path[:end])]
            node[0] += 1
            node[1] += s.weight
        nodes[tuple(path)][2] += 1
        nodes[tuple(path)][3] += s.weight
    return nodes


def tree_reported(source):
    """The same of what kfxt report printed."""
    paths, nodes = [], {}
    for n in source['nodes']:
        own = tuple(n[k] for k in ('thread', 'tid', 'process', 'pid') if k in n) or \
            (n['function'], n['mapping'], n['kind'])
        paths.append((paths[n['parent']] if n['parent'] is not None else ()) + (own,))
        nodes[paths[-1]] = [n['total_samples'], n['total_ns'], n.get('self_samples'), n.get('self_ns')]
    return nodes


def check_tree(reported, samples, by=None, inverted=False):
    expected = dict(tree_of(samples, by, inverted))
    got = tree_reported(reported)
    if inverted:
        expected = {path: values[:2] + [None, None] for path, values in expected.items()}
    equal(set(got), set(expected), 'paths')
    for path, values in expected.items():
        equal(got[path], values, str(path))
    equal(reported['all_samples'], len(samples))
    equal(reported['all_ns'], sum(s.weight for s in samples))
    own = [s.frames[s.frames[0].mapping == 'waker':] for s in samples]
    cut = [s.weight for s, frames in zip(samples, own) if frames and frames[0].name == '[cut]']
    equal((reported['cut_samples'], reported['cut_ns']), (len(cut), sum(cut)), 'cut')
    bare = [s.weight for s, frames in zip(samples, own) if s.pid and all(f.kind == 2 for f in frames)]
    equal((reported['no_user_part_samples'], reported['no_user_part_ns']), (len(bare), sum(bare)), 'without user part')


def of(trace, source):
    return [s for s in trace.samples if s.source == source]


# ---- report -------------------------------------------------------------------------------

@case
def report_adds_up_all_samples(tmp):
    trace, path = made(tmp)
    for reported, source in zip(report('--stacks', path), SOURCES, strict=True):
        equal(reported['source'], source)
        check_tree(reported, of(trace, source))
        times = [s.ts for s in of(trace, source)]
        equal((reported['from_ns'], reported['to_ns']), (min(times), max(times)), 'times')
        equal(report(f'--stacks={source}', path), [reported])


@case
def report_groups_and_inverts(tmp):
    trace, path = made(tmp, seed=2, samples=700)
    for by in ('thread', 'process', 'comm'):
        for source in SOURCES:
            reported, = report(f'--stacks={source}', '--by', by, path)
            equal((reported['by'], reported['inverted']), (by, False))
            check_tree(reported, of(trace, source), by)
            reported, = report(f'--stacks={source}', '--by', by, '--inverted', path)
            check_tree(reported, of(trace, source), by, inverted=True)
    reported, = report('--stacks=cpu', '--inverted', path)
    check_tree(reported, of(trace, 'cpu'), inverted=True)


@case
def report_selects(tmp):
    trace, path = made(tmp, seed=3)
    cpu = of(trace, 'cpu')
    first, last = 1_500_000_000, 2_200_000_000
    check_tree(report('--stacks=cpu', '--from', '1.5', '--to', '2200ms', path)[0],
               [s for s in cpu if first <= s.ts <= last])
    for glob in ('work*', 'wor?ker', 'kworker/0:1'):
        check_tree(report('--stacks=cpu', '--comm', glob, path)[0],
                   [s for s in cpu if fnmatch.fnmatch(THREADS.get(s.tid, ''), glob)])
    for pid in (0, 200, 300):
        check_tree(report('--stacks=cpu', '--pid', str(pid), path)[0], [s for s in cpu if s.pid == pid])


@case
def report_without_a_period_is_of_samples(tmp):
    trace, path = made(tmp, seed=4, samples=100, period_ns=0)
    reported, = report('--stacks=cpu', path)
    equal(reported['shares_of'], 'samples')
    roots = [n for n in reported['nodes'] if n['parent'] is None]
    equal({n['total_ns'] for n in roots}, {None})
    equal(sum(n['total_samples'] for n in roots), len(of(trace, 'cpu')))
    equal(abs(sum(n['total_percent'] for n in roots) - 100) < 0.01, True)
    text = kfxt('report', '--stacks=cpu', path).stdout.decode()
    equal((' ms' in text, 'shares are of samples' in text), (False, True), text)


@case
def report_in_text_has_the_heaviest_lines(tmp):
    trace, path = made(tmp, seed=5)
    reported, = report('--stacks=off-cpu', path)
    text = kfxt('report', '--stacks=off-cpu', '-n', '25', path).stdout.decode()
    numbers = [m.groups() for m in re.finditer(r'^ *([\d.]+)% +([\d.]+) +([\d.]+) +(\d+)  ', text, re.M)]
    expected = [(f"{n['total_percent']:.2f}", f"{n['total_ns'] / 1e6:.3f}", f"{n['self_ns'] / 1e6:.3f}",
                 str(n['total_samples'])) for n in reported['nodes'][:25]]
    equal(sorted(numbers), sorted(expected))
    equal(report('--stacks=off-cpu', '-n', '25', path)[0]['nodes'], reported['nodes'][:25])
    head = f"off-cpu: {reported['all_samples']} samples, {reported['all_ns'] / 1e6:.3f} ms, {reported['cut_samples']} cut"
    equal(text.startswith(head), True, text[:200])
    equal(f"{reported['no_user_part_samples']} without user part" in text, True, text[:200])
    equal(f"{len(reported['nodes']) - 25} more lines" in text, True, text[-100:])


@case
def a_chain_of_calls_is_not_indented(tmp):
    trace = stacks_made.Trace()
    trace.process(10, 'app')
    trace.thread(10, 10, 'app')
    frames = [stacks_made.Frame(name) for name in ('_start', 'main', 'serve')]
    for leaf, cnt in (('parse', 3), ('send\x1b[2J', 1)):
        for i in range(cnt):
            trace.sample('cpu', 1_000_000_000 + i, 10, 10, frames + [stacks_made.Frame(leaf), stacks_made.kernel('entry')])
    text = kfxt('report', '--stacks', write(tmp, trace)).stdout.decode()
    lines = [line[45:] for line in text.splitlines()[4:]]
    equal(lines, ['- _start', '  main', '  serve', '  - parse', '    [k] entry', r'  - send\x1b[2J', '    [k] entry'], text)


@case
def report_says_why_there_is_nothing(tmp):
    trace = stacks_made.Trace()
    trace.process(10, 'app')
    path = write(tmp, trace)
    equal('no stack samples (kfxt record' in kfxt('report', '--stacks', path, code=1).stderr.decode(), True)
    trace.sample('cpu', 5, 10, 10, [stacks_made.Frame('main')])
    path = write(tmp, trace)
    equal('no waker samples in it' in kfxt('report', '--stacks=waker', path, code=1).stderr.decode(), True)
    equal('no stack samples selected' in kfxt('report', '--stacks', '--from', '9', path, code=1).stderr.decode(), True)
    for args in (['--stacks=gpu'], ['--stacks', '--by', 'cpu'], ['--inverted'], ['--pid', '1'], ['--comm', 'x']):
        kfxt('report', *args, path, code=2)


@case
def damaged_packets_cost_their_samples_only(tmp):
    trace, path = made(tmp, seed=6, samples=400)
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    begin = data.index(b'function_')
    for at in range(begin, len(data), 997):
        broken = os.path.join(tmp, 'broken.fxt')
        with open(broken, 'wb') as f:
            f.write(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:])
        r = subprocess.run([KFXT, 'report', '--json', '--stacks', broken], capture_output=True, timeout=60)
        equal(r.returncode in (0, 1), True, r.stderr)
        if r.stdout:
            found = sum(s['all_samples'] for s in json.loads(r.stdout)['stacks'])
            equal(0 < found <= len(trace.samples), True, found)


def inlined_place(program):
    """An address in outer() at which addr2line finds inner(), too."""
    symbols = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    start = int(next(line for line in symbols.splitlines() if line.endswith(' T outer')).split()[0], 16)
    for at in range(start, start + 64):
        lines = subprocess.run(['addr2line', '-f', '-i', '-e', program, hex(at)], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        if lines[::2] == ['inner', 'outer']:
            return at
    raise Skipped('the compiler has no address in inner()')


@case
def report_finds_inlined_functions(tmp):
    if not all(shutil.which(tool) for tool in ('cc', 'nm', 'addr2line')):
        raise Skipped('no compiler, nm or addr2line')
    program, source = os.path.join(tmp, 'program'), os.path.join(tmp, 'program.c')
    with open(source, 'w', encoding='utf-8') as f:
        f.write('static inline __attribute__((always_inline)) int inner(volatile int *x) { return *x * *x + *x; }\n'
                '__attribute__((noinline)) int outer(volatile int *x) { return inner(x) + 1; }\n'
                'int main(int argc, char **argv) { (void)argv; return outer(&argc); }\n')
    subprocess.run(['cc', '-O2', '-g', '-no-pie', '-o', program, source], check=True)
    at = inlined_place(program)
    trace = stacks_made.Trace()
    frames = [stacks_made.Frame('main', '/nowhere', 1, '', 0x4000), stacks_made.Frame('outer', program, 1, '', at)]
    trace.sample('cpu', 1000, 10, 10, frames)
    trace.sample('cpu', 2000, 10, 10, [frames[0], stacks_made.Frame('program+0x1126', program, 1, '', at)])
    trace.sample('cpu', 3000, 10, 10, [frames[0], stacks_made.Frame('outer', program, 1, 'ff' * 20, at)])
    path = write(tmp, trace)

    def leaves(*args):
        nodes = report('--stacks', *args, path)[0]['nodes']
        return sorted((n['function'], n['self_samples']) for n in nodes if n['self_samples'])
    equal(leaves(), [('outer', 2), ('program+0x1126', 1)])
    # A file with another build id is another program.
    equal(leaves('--inlines'), [('inner (inlined)', 2), ('outer', 1)])
    kfxt('report', '--inlines', path, code=2)
    without = {k: v for k, v in os.environ.items() if k != 'DEBUGINFOD_URLS'}
    r = subprocess.run([KFXT, 'report', '--stacks', '--debuginfod', path], env=without, capture_output=True, text=True,
                       timeout=60)
    equal((r.returncode, 'inner (inlined)' in r.stdout, 'DEBUGINFOD_URLS is not set' in r.stderr), (0, True, True), r.stderr)


# ---- formats ------------------------------------------------------------------------------

def convert(path, to, *args, code=0):
    return kfxt('convert', '-o', to, *args, path, code=code).stderr.decode()


def folded_of(samples):
    lines, times = collections.Counter(), samples[0].source != 'cpu'
    for s in samples:
        marks = {2: '_[k]', 4: '_[j]'}
        path = [PROCESSES.get(s.pid, '?'), THREADS.get(s.tid, '?')] + [f.name + marks.get(f.kind, '') for f in s.frames]
        lines[';'.join(name.replace(';', ':') for name in path)] += s.weight if times else 1
    return {line: (value + 500) // 1000 if times else value for line, value in lines.items()}


def read_folded(path):
    with open(path, encoding='utf-8') as f:
        pairs = [line.rsplit(' ', 1) for line in f.read().splitlines()]
    equal(len(dict(pairs)), len(pairs), 'a line is there twice')
    return {line: int(value) for line, value in pairs}


@case
def folded_has_each_stack(tmp):
    trace, path = made(tmp, seed=7)
    for source in SOURCES:
        out = os.path.join(tmp, source + '.folded')
        text = convert(path, out, f'--stacks={source}')
        equal(read_folded(out), folded_of(of(trace, source)), source)
        equal(f'{len(trace.samples) - len(of(trace, source))} left out' in text, True, text)
    chosen = os.path.join(tmp, 'x.folded')
    text = convert(path, chosen)
    equal('x.folded: stacks of cpu (--stacks chooses others)' in text, True, text)
    equal(read_folded(chosen), folded_of(of(trace, 'cpu')))


@case
def the_only_source_needs_no_choice(tmp):
    trace = stacks_made.random_trace(8, samples=100)
    trace.samples = of(trace, 'waker')
    path, out = write(tmp, trace), os.path.join(tmp, 'x.folded')
    text = convert(path, out)
    equal(('--stacks' in text, ' 0 left out' in text), (False, True), text)
    equal(read_folded(out), folded_of(trace.samples))
    text = convert(path, out, '--stacks=cpu', code=1)
    equal('no cpu stack samples in it (--stacks chooses others)' in text, True, text)
    equal(read_folded(out), folded_of(trace.samples), 'the file that was there')


@case
def profiles_without_samples_are_refused(tmp):
    trace = stacks_made.Trace()
    trace.process(10, 'app')
    path, out = write(tmp, trace), os.path.join(tmp, 'x.folded')
    equal('no stack samples in it' in convert(path, out, code=1), True)
    equal(os.path.exists(out), False)
    convert(path, out, '--stacks=gpu', code=2)
    convert(path, os.path.join(tmp, 'x.json'), '--stacks=cpu', code=2)


def first(message, number, default=0):
    return next((v for n, v in message if n == number), default)


class Pprof:
    """A message Profile of profile.proto."""

    def __init__(self, path):
        with gzip.open(path) as f:
            top = list(stacks_made.fields(f.read()))
        self.strings = [v.decode() for n, v in top if n == 6]
        self.samples = [self.sample(list(stacks_made.fields(v))) for n, v in top if n == 2]
        self.types = [self.type_of(v) for n, v in top if n == 1]
        self.period_type = self.type_of(first(top, 11, b''))
        self.period, self.duration, self.time = first(top, 12), first(top, 10), first(top, 9)
        self.default = self.strings[first(top, 14)]
        self.mappings = self.by_id(top, 3)
        self.functions = self.by_id(top, 5)
        self.locations = self.by_id(top, 4)

    def type_of(self, data):
        message = list(stacks_made.fields(data))
        return self.strings[first(message, 1)], self.strings[first(message, 2)]

    @staticmethod
    def by_id(top, number):
        messages = [list(stacks_made.fields(v)) for n, v in top if n == number]
        equal(len({first(m, 1) for m in messages}), len(messages), 'ids')
        return {first(m, 1): m for m in messages}

    def sample(self, message):
        labels = {}
        for n, v in message:
            if n == 3:
                label = list(stacks_made.fields(v))
                key = self.strings[first(label, 1)]
                equal(key in labels, False, key)
                labels[key] = self.strings[first(label, 2)] if first(label, 2) else first(label, 3)
        return stacks_made.varints(first(message, 1, b'')), tuple(stacks_made.varints(first(message, 2))), labels

    def frame(self, location):
        """As stacks_made.Frame, without its kind."""
        m = self.locations[location]
        line = list(stacks_made.fields(first(m, 4)))
        function, mapping = self.functions[first(line, 1)], self.mappings.get(first(m, 2), [])
        equal(first(function, 2), first(function, 3), 'names')
        return (self.strings[first(function, 2)], self.strings[first(mapping, 5)], self.strings[first(mapping, 6)],
                first(m, 3), self.strings[first(function, 4)], first(line, 2))


def pprof_of(samples, weights=True):
    """(frames innermost first, labels) to values."""
    found = collections.defaultdict(lambda: [0, 0])
    for s in samples:
        frames = tuple((f.name, f.mapping, f.build_id, f.rel_pc, f.source, f.line) for f in reversed(s.frames))
        labels = {'comm': THREADS.get(s.tid), 'tid': s.tid, 'process': PROCESSES.get(s.pid), 'pid': s.pid}
        key = frames, tuple(sorted((k, v) for k, v in labels.items() if v is not None))
        found[key][0] += 1
        found[key][1] += s.weight
    return {key: tuple(values if weights else values[:1]) for key, values in found.items()}


def check_pprof(path, samples, weights=True):
    p, found = Pprof(path), {}
    equal(p.strings[0], '')
    for locations, values, labels in p.samples:
        key = tuple(p.frame(i) for i in locations), tuple(sorted(labels.items()))
        equal(key in found, False, 'a stack is there twice')
        found[key] = values
    equal_multisets(found.items(), pprof_of(samples, weights).items(), 'samples')
    equal(p.duration, max(s.ts for s in samples) - min(s.ts for s in samples))
    return p


@case
def pprof_has_each_stack(tmp):
    trace, path = made(tmp, seed=9)
    for source in SOURCES:
        out = os.path.join(tmp, source + '.pprof')
        convert(path, out, f'--stacks={source}')
        p = check_pprof(out, of(trace, source))
        if source == 'cpu':
            equal(p.types, [('samples', 'count'), ('cpu', 'nanoseconds')])
            equal((p.period_type, p.period, p.default), (('cpu', 'nanoseconds'), trace.period_ns, 'cpu'))
        else:
            equal(p.types, [('contentions', 'count'), ('delay', 'nanoseconds')])
            equal((p.period, p.default), (0, 'delay'))
        equal(p.time, 0)
        # The program comes first.
        equal(p.strings[first(p.mappings[1], 5)] != '[kernel]', True)


@case
def pprof_of_unknown_period_counts_samples(tmp):
    trace, path = made(tmp, seed=10, samples=200, period_ns=0)
    out = os.path.join(tmp, 'x.pb.gz')
    convert(path, out)
    p = check_pprof(out, of(trace, 'cpu'), weights=False)
    equal((p.types, p.default, p.period), ([('samples', 'count')], 'samples', 0))
    for options in (['-o', '-', '--output-format=pprof'], ['-o', os.path.join(tmp, 'x.pprof')]):
        data = kfxt('convert', *options, path).stdout
        if not data:
            with open(options[1], 'rb') as f:
                data = f.read()
        with open(out, 'rb') as f:
            equal(gzip.decompress(data), gzip.decompress(f.read()), str(options))


@case
def pprof_has_the_wall_clock_of_a_recording(tmp):
    wall, began = 1_700_000_000_123_456_789, 5_000
    trace = stacks_made.Trace()
    trace.event('kfxt', 'start', began, {'realtime_ns': wall})
    trace.sample('cpu', 7_000, 10, 10, [stacks_made.Frame('main')])
    out = os.path.join(tmp, 'x.pprof')
    convert(write(tmp, trace), out)
    equal(Pprof(out).time, wall + 2_000)


@case
def pprof_has_the_place_of_a_process(tmp):
    """For servers that take the profiles of many hosts: cgroup, container and unit, as far as it has them."""
    trace = stacks_made.Trace()
    places = {10: {'cgroup': '/system.slice/db.service', 'unit': 'db.service'},
              20: {'cgroup': '/docker/3f4a', 'container': '3f4a'}, 30: {}}
    for pid, texts in places.items():
        trace.process(pid, 'app', **texts)
        trace.sample('cpu', 7_000 + pid, pid, pid, [stacks_made.Frame('main')])
    out = os.path.join(tmp, 'x.pprof')
    convert(write(tmp, trace), out)
    found = {labels['pid']: {k: labels[k] for k in ('cgroup', 'container', 'unit') if k in labels} for _, _, labels in Pprof(out).samples}
    equal(found, places)


@case
def names_that_are_not_utf8_are_repaired(tmp):
    trace = stacks_made.Trace()
    trace.thread(10, 10, b'a\xff;b')
    trace.sample('cpu', 7_000, 10, 10, [stacks_made.Frame(b'caf\xc3\xa9'), stacks_made.Frame(b'\xe9t\n\xe9')])
    path = write(tmp, trace)
    convert(path, os.path.join(tmp, 'x.pprof'))
    p = Pprof(os.path.join(tmp, 'x.pprof'))
    equal([p.frame(i)[0] for i in p.samples[0][0]], ['?t\n?', 'caf\u00e9'])
    equal(p.samples[0][2]['comm'], 'a?;b')
    convert(path, os.path.join(tmp, 'x.folded'))
    equal(read_folded(os.path.join(tmp, 'x.folded')), {'?;a?:b;caf\u00e9;?t??': 1})


def check_speedscope(path, samples, weights=True):
    with open(path, encoding='utf-8') as f:
        top = json.load(f)
    equal(top['$schema'], 'https://www.speedscope.app/file-format-schema.json')
    frames = [(f['name'], f.get('file'), f.get('line')) for f in top['shared']['frames']]
    found, by_thread = {}, collections.defaultdict(list)
    for p in top['profiles']:
        equal((p['type'], p['unit'], p['startValue']), ('sampled', 'nanoseconds' if weights else 'none', 0))
        equal(p['endValue'], sum(p['weights']))
        equal(p['name'] in found, False, p['name'])
        found[p['name']] = [([frames[i] for i in stack], w) for stack, w in zip(p['samples'], p['weights'], strict=True)]
    for s in sorted(samples, key=lambda s: s.ts):
        name = f"{PROCESSES.get(s.pid, '?')}: {THREADS.get(s.tid, '?')} ({s.tid})"
        by_thread[name].append(([(f.name, f.source or f.mapping or None, f.line or None) for f in s.frames],
                                s.weight if weights else 1))
    equal(set(found), set(by_thread))
    for name, expected in by_thread.items():
        equal(found[name], expected, name)


@case
def speedscope_has_each_sample_in_order(tmp):
    trace, path = made(tmp, seed=12)
    for source in SOURCES:
        out = os.path.join(tmp, source + '.speedscope.json')
        convert(path, out, f'--stacks={source}')
        check_speedscope(out, of(trace, source))
    convert(path, out + '.gz', '--stacks=waker')
    with gzip.open(out + '.gz') as packed, open(out, 'rb') as plain:
        equal(packed.read(), plain.read())


@case
def speedscope_of_unknown_period_counts_samples(tmp):
    trace, path = made(tmp, seed=13, samples=100, period_ns=0)
    out = os.path.join(tmp, 'x.speedscope.json')
    convert(path, out)
    check_speedscope(out, of(trace, 'cpu'), weights=False)


@case
def profiles_that_cannot_be_written_are_reported(tmp):
    path = made(tmp, seed=14, samples=3000)[1]
    for name in ('folded', 'pprof', 'speedscope'):
        text = convert(path, '/dev/full', f'--output-format={name}', code=1)
        equal('/dev/full: cannot write: No space left on device' in text, True, text)


@case
def pprof_is_read_by_its_own_tool(tmp):
    if not shutil.which('go'):
        raise Skipped('no go')
    trace, path = made(tmp, seed=11)
    out = os.path.join(tmp, 'x.pprof')
    convert(path, out, '--stacks=off-cpu')
    r = subprocess.run(['go', 'tool', 'pprof', '-raw', out], capture_output=True, text=True, timeout=120,
                       env={**os.environ, 'HOME': tmp})
    equal(r.returncode, 0, r.stderr)
    lines = re.findall(r'^ +(\d+) +(\d+): [\d ]+$', r.stdout, re.M)
    equal(sorted((int(a), int(b)) for a, b in lines), sorted(pprof_of(of(trace, 'off-cpu')).values()))


# ---- diff ---------------------------------------------------------------------------------

def functions_of(samples):
    """{(name, kind): [self samples, self ns, total samples, total ns]}"""
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for s in samples:
        leaf = s.frames[-1]
        found[leaf.name, KINDS[leaf.kind]][0] += 1
        found[leaf.name, KINDS[leaf.kind]][1] += s.weight
        for key in {(f.name, KINDS[f.kind]) for f in s.frames}:
            found[key][2] += 1
            found[key][3] += s.weight
    return found


def close(got, expected, what):
    equal(abs(got - expected) < 0.00011, True, f'{what}: {got}, expected {expected}')


def check_values(got, n, before, after, totals, source):
    """Of one function; @n: where in the lists its samples are, its time is next."""
    shares = []
    for side, values, total in zip(('before', 'after'), (before, after), totals):
        equal((got[side]['samples'], got[side]['ns']), (values[n], values[n + 1]))
        shares.append(100 * values[n + 1] / sum(s.weight for s in total))
        close(got[side]['percent'], shares[-1], side)
    close(got['delta'], shares[1] - shares[0], 'delta')
    if source == 'cpu':
        close(got['sigma'], sum(p * (100 - p) / len(t) for p, t in zip(shares, totals)) ** .5, 'sigma')
    else:
        equal(got['sigma'], None)


@case
def diff_has_each_function(tmp):
    (a, before), (b, after) = ((t, write(tmp, t, f'{seed}.fxt')) for seed, t in
                               ((i, stacks_made.random_trace(i, samples=500 * i)) for i in (1, 2)))
    for source in SOURCES:
        for sort in ('self', 'total'):
            args = ['--total'] if sort == 'total' else []
            got = json.loads(kfxt('diff', '--json', f'--stacks={source}', *args, before, after).stdout)
            equal((got['schema'], got['source'], got['sorted_by']), (2, source, sort))
            totals = of(a, source), of(b, source)
            equal([got[side]['samples'] for side in ('before', 'after')], [len(t) for t in totals])
            sides = [functions_of(t) for t in totals]
            equal({(f['function'], f['kind']) for f in got['functions']}, set(sides[0]) | set(sides[1]))
            for f in got['functions']:
                values = [side.get((f['function'], f['kind']), [0] * 4) for side in sides]
                check_values(f['self'], 0, *values, totals, source)
                check_values(f['total'], 2, *values, totals, source)
            deltas = [abs(f[sort]['delta']) for f in got['functions']]
            equal(deltas, sorted(deltas, reverse=True))


@case
def diff_folds_both_traces(tmp):
    traces = [stacks_made.random_trace(i, samples=300) for i in (3, 4)]
    paths = [write(tmp, t, f't{i}.fxt') for i, t in enumerate(traces)]
    for source in SOURCES:
        sides = [folded_of(of(t, source)) for t in traces]
        expected = {line: tuple(side.get(line, 0) for side in sides) for line in {**sides[0], **sides[1]}}
        text = kfxt('diff', '--folded', f'--stacks={source}', *paths).stdout.decode()
        rows = [line.rsplit(' ', 2) for line in text.splitlines()]
        equal({row[0]: (int(row[1]), int(row[2])) for row in rows}, expected)
        equal(len(rows), len(expected))


@case
def diff_finds_what_became_slower(tmp):
    paths = []
    for i, shares in enumerate(((70, 20, 10), (40, 50, 10))):
        trace = stacks_made.Trace()
        trace.process(10, 'app')
        trace.thread(10, 10, 'app')
        trace.thread(11, 10, 'logger')
        for leaf, cnt in zip(('work_a', 'work_b', 'work_c'), shares):
            for n in range(cnt):
                trace.sample('cpu', 1000 + n, 10, 10, [stacks_made.Frame('main'), stacks_made.Frame(leaf)])
        trace.sample('cpu', 2000, 10, 11, [stacks_made.Frame('log')])
        paths.append(write(tmp, trace, f't{i}.fxt'))
    text = kfxt('diff', '--comm', 'app', '-n', '2', *paths).stdout.decode()
    lines = text.splitlines()
    equal(lines[0], f'before  {paths[0]}: 100 cpu samples, 1000.000 ms')
    equal(lines[4:], ['  before    after    delta   sigma  function',
                      '  20.00%   50.00%   +30.00    6.40  work_b',
                      '  70.00%   40.00%   -30.00    6.71  work_a',
                      '1 more function that changed by at most 0.00 (-n, --json)'])
    text = kfxt('diff', '--folded', '--comm', 'app', *paths).stdout.decode()
    equal(sorted(text.splitlines()), ['app;app;main;work_a 70 40', 'app;app;main;work_b 20 50', 'app;app;main;work_c 10 10'])


@case
def diff_says_why_there_is_nothing(tmp):
    cpu, waker = (stacks_made.random_trace(5, samples=50) for _ in range(2))
    cpu.samples, waker.samples = of(cpu, 'cpu'), of(waker, 'waker')
    paths = [write(tmp, cpu, 'a.fxt'), write(tmp, waker, 'b.fxt')]
    equal('no source of stack samples that both' in kfxt('diff', *paths, code=1).stderr.decode(), True)
    equal('b.fxt: no cpu samples in it' in kfxt('diff', '--stacks=cpu', *paths, code=1).stderr.decode(), True)
    waker.samples = []
    equal('no stack samples' in kfxt('diff', paths[0], write(tmp, waker), code=1).stderr.decode(), True)
    for args in (['--stacks=gpu', *paths], ['--folded', '--json', *paths], ['-', '-'], paths[:1], ['--folded', '-n', '1', *paths]):
        kfxt('diff', *args, code=2)
    with open(paths[0], 'rb') as f:
        r = subprocess.run([KFXT, 'diff', '-', paths[0]], stdin=f, capture_output=True, text=True)
    equal((r.returncode, '+' in r.stdout.replace('+0.00', '')), (0, False), r.stderr + r.stdout)


if __name__ == '__main__':
    sys.exit(run('profiles'))
