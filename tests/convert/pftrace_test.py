#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on Perfetto traces, against facts of what their generator meant.

    pftrace_test.py BUILD_DIR [SAMPLE...]

Compares what the independent reader finds in the FXT file, and --stats=json, with each sample's
.facts.json; each sample is also cut in some places. Prints TAP and the totals.
"""
import collections
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
import fxtread  # noqa: E402
import fxtsamples  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
CORPUS = os.path.join(TESTS, 'corpus', 'pftrace')
CUTS = 12               # places in which a sample is cut
LONG = 32000            # bytes of a string that FXT has space for
ARGS = 15               # arguments of a record; what is beyond is in one more, as JSON
# How the import of ftrace text calls what the facts call otherwise.
FTRACE_NAMES = {'irq nvme0q1': 'IRQ (nvme0q1)', 'softirq BLOCK': 'BLOCK',
                'work 0xffffffff81000000': '0xffffffff81000000', 'plain text': 'text'}
NOT_IN_FACTS = ('lost events', 'WS')    # losses, which are drawn; requests of disks
# What the facts say must be dropped, and where that is counted.
DROPPED = {
    'needs state, none yet': 'needs state that was lost or never given',
    'needs state, lost with a packet': 'needs state that was lost or never given',
    'track event without a sequence': 'no sequence', 'track event without a time': 'no time',
    'unknown type of event': 'event of no known type', 'neither type nor phase': 'event of no known type',
    'time beyond 2^63': 'time beyond 2^63', 'bundle without a CPU': 'no CPU, or one beyond 4095',
    'clock 9 was never related to another one': 'clock that no snapshot relates to the trace\'s',
    'counter without a track': 'counter without a track',
    'counter on a track nobody described': 'counter on a track that is none',
    'counter without a value': 'counter without a value',
    'complete event of negative duration': 'negative duration',
    'delta without a thread descriptor': 'no thread',
    'track that is its own ancestor': 'track without its parent, or within itself',
    'parent that is not described': 'track without its parent, or within itself',
    'descriptor without a uuid': 'track descriptor without uuid',
}
OTHERWISE = {   # members of --stats=json that count it
    'unknown type of packet': ('input', 'packets_unknown'), 'end without a begin': ('output', 'unmatched_ends'),
    'kernel says it lost samples (a loss of 55, no sample)': ('input', 'lost_samples', 55),
    'call stack id 99 was never given': ('input', 'unknown_ids'),
    'ftrace event without time, pid or content': ('input', 'ftrace_dropped'),
    'compact arrays of different length, an index beyond the table: what is whole and in range '
    '(2 switches at 5 and 10) may be taken or dropped': ('input', 'bad_compact'),
}

Slice = collections.namedtuple('Slice', 'name ts dur place args')


def run(*args):
    return subprocess.run([KFXT, *args], capture_output=True, timeout=60)


class Fxt:
    """What the independent reader finds in a file, with its slices put together."""

    def __init__(self, path):
        reader = fxtread.read(path)
        self.slices, self.instants, self.logs, self.switches, self.wakeups = [], [], [], [], []
        self.counters = collections.defaultdict(list)
        self.names = {1: {}, 2: {}}     # by type: koid -> name
        self.objects = collections.Counter()
        self.arrows, self.flow_ends, self.flow_records = [], {}, 0
        self.open, self.open_async, self.last = collections.defaultdict(list), {}, {}
        for record in reader:
            if record['type'] == 'event':
                self.take_event(record)
            elif record['type'] == 'kernel_object':
                self.objects[record['kernel_object_type'], record['koid']] += 1
                self.names[record['kernel_object_type']][record['koid']] = record['name']
            elif record['type'] == 'context_switch':
                self.switches.append(record)
            elif record['type'] == 'thread_wakeup':
                self.wakeups.append(record)
            elif record['type'] == 'log':
                self.logs.append((record['timestamp'], record['log_message']))
        self.problems = reader.problems

    def begin(self, record):
        args = {name: value for name, _, value in record['arguments']}
        return [record['name'], record['timestamp'], None, record['thread'], args]

    def take_event(self, record):
        kind, at = record['event_type'], record['thread']
        if kind == 'instant':
            self.instants.append(self.begin(record))
            self.last[at] = record['name']
        elif kind == 'counter':
            for _, _, value in record['arguments']:
                self.counters[record['name']].append((record['timestamp'], value))
        elif kind.startswith('duration'):
            self.take_slice(kind, at, record)
        elif kind.startswith('async'):
            self.take_async(kind, record)
        else:
            self.take_flow(kind, at, record)

    def take_slice(self, kind, at, record):
        if kind == 'duration_end':
            slice_ = self.open[at].pop()
            slice_[2] = record['timestamp'] - slice_[1]
            slice_[4].update({name: value for name, _, value in record['arguments']})
            return
        slice_ = self.begin(record)
        self.slices.append(slice_)
        self.last[at] = slice_[0]
        if kind == 'duration_begin':
            self.open[at].append(slice_)
        else:
            slice_[2] = record['end_time'] - slice_[1]

    def take_async(self, kind, record):
        key = record['async_correlation_id']
        if kind == 'async_begin':
            self.open_async.setdefault(key, []).append(self.begin(record))
            self.slices.append(self.open_async[key][-1])
        elif kind == 'async_end':
            slice_ = self.open_async[key].pop()
            slice_[2] = record['timestamp'] - slice_[1]
        else:
            self.instants.append(self.begin(record))

    def take_flow(self, kind, at, record):
        key = record['flow_correlation_id']
        self.flow_records += 1
        here = self.open[at][-1][0] if self.open[at] else self.last.get(at)
        if kind != 'flow_begin':
            self.arrows.append((self.flow_ends[key], here))
        self.flow_ends[key] = here


class Sample:
    def __init__(self, name, tmp):
        self.name = name
        self.path = os.path.join(CORPUS, name + '.pftrace')
        with open(os.path.join(CORPUS, name + '.facts.json'), encoding='utf-8') as file:
            self.facts = json.load(file)
        self.out = os.path.join(tmp, 'out.fxt')
        self.done = run('convert', '--stats=json', '-o', self.out, self.path)
        self.strict = run('convert', '-q', '--strict', '-o', os.path.join(tmp, 'strict.fxt'), self.path)
        self.stats = json.loads(self.done.stdout) if self.done.stdout else {}
        self.fxt = Fxt(self.out)
        self.is_ftrace = self.facts['sched'] > 0
        self.is_damaged = any(why in DROPPED or 'ftrace' in why or 'compact' in why
                              for why in self.facts.get('must_drop_and_count', {}))


def equal(got, want, what=''):
    if got != want:
        raise AssertionError(f'{what}: got {str(got)[:600]}, expected {str(want)[:600]}')


CHECKS = []


def check(fn):
    CHECKS.append(fn)
    return fn


@check
def exit_codes(s):
    equal(s.done.returncode, 0, s.done.stderr.decode())
    equal(s.strict.returncode, 3 if s.is_damaged else 0, 'strict')
    equal(b' at byte ' in s.done.stderr, s.is_damaged, s.done.stderr)


@check
def file_is_clean(s):
    equal(s.fxt.problems, [])
    verified = run('verify', s.out)
    equal(verified.returncode, 0, (verified.stdout + verified.stderr).decode())


@check
def packets(s):
    given = s.stats['input']
    equal(sum(given['dropped'].values()) + sum(given[k] for k in given if k.startswith('packets_')) -
          given['packets_lost_before'], given['packets'], 'sum')
    empty = 1 if s.name == 'damage' else 0
    equal(given['packets'], s.facts['packets'] + empty)


@check
def accounted(s):
    """What is handed on is what the builder got."""
    given, made = s.stats['input'], s.stats['output']
    equal(made['records'], given['handed_on'])


@check
def dropped(s):
    want, want_other = collections.Counter(), {}
    for why, times in s.facts.get('must_drop_and_count', {}).items():
        if why in DROPPED:
            want[DROPPED[why]] += times
        elif why in OTHERWISE:
            part, key, *value = OTHERWISE[why]
            want_other[part, key] = value[0] if value else times
    equal(s.stats['input']['dropped'], dict(want))
    for (part, key), times in want_other.items():
        equal(s.stats[part][key], times, key)


@check
def first_dropped(s):
    """The place of what is dropped is that of a packet."""
    with open(s.path, 'rb') as file:
        data = file.read()
    for drop in s.stats['input']['first_dropped']:
        equal(data[drop['offset']], 0x0a, drop)


@check
def slices(s):
    states = [x for x in s.facts.get('state_list', []) if x[2]]
    made = [x for x in s.fxt.slices if x[0] not in NOT_IN_FACTS]
    equal(len(made), s.facts['slices'] + len(states), 'total')
    got = collections.defaultdict(list)
    for x in s.fxt.slices:
        got[x[0]].append(x[2])
    for name, durations in s.facts.get('slice_durations', {}).items():
        have = sorted(got[FTRACE_NAMES.get(name, name)])
        known = sorted(x for x in durations if x is not None)
        for x in known:
            equal(x in have, True, (name, have, x))
            have.remove(x)
        equal(len(have), durations.count(None), name)


@check
def states(s):
    rows = s.facts.get('state_list', [])
    for (_, ts, name), (_, end, _) in zip(rows, rows[1:]):
        equal([name, ts, end - ts] in [x[:3] for x in s.fxt.slices], True, name)


@check
def samples_of_events(s):
    for x in s.facts['sample']:
        of = s.fxt.slices if 'dur' in x else s.fxt.instants
        name = FTRACE_NAMES.get(x['name'], x['name'])
        equal((name, x['ts'], x.get('dur')) in [(y[0], y[1], y[2] if x.get('dur') is not None else None) for y in of],
              True, x)


@check
def instants(s):
    if s.is_ftrace:
        return
    made = s.stats['output']
    extra = made['logs'] + made['unmatched_ends'] + s.stats['input']['packets_lost_before']
    losses = s.name == 'samples-and-logs'
    equal(len(s.fxt.instants) - extra, s.facts['instants'] + losses)


@check
def counters(s):
    # The facts have none of perf: see stacks().
    equal(sum(len(rows) for key, rows in s.fxt.counters.items() if '.perf.' not in key), s.facts['counters'], 'total')
    if s.name == 'ftrace-verbose':
        return
    for name, values in s.facts.get('counter_values', {}).items():
        plain = name.split(' ', 1)[1] if name[0].isdigit() else name
        have = [x for key, rows in s.fxt.counters.items() if key == plain or key.startswith(plain + ' (') for x in rows]
        for ts, value in values:
            equal((ts, value) in have, True, (name, ts, value, have))


@check
def counters_of_ftrace(s):
    if s.name != 'ftrace-verbose':
        return
    values = s.facts['counter_values']
    equal(s.fxt.counters['marker counter'][:20], [tuple(x) for x in values['marker counter']])
    want = sorted(x[1] for key, rows in values.items() if key.endswith('kHz') for x in rows)
    equal(sorted(x[1] for x in s.fxt.counters['cpu_frequency']), want)


@check
def flows(s):
    # One that ends and never began is counted, and not drawn.
    lonely = s.facts.get('must_drop_and_count', {}).get('flow ended that never began', 0)
    made = s.stats['output']
    others = sum(made[key] for key in ('switches', 'wakeups', 'names', 'slices', 'counters', 'instants', 'logs',
                                       'samples', 'stacks', 'no_op_wakes', 'duplicate_wakes', 'incomplete'))
    equal(made['records'] - others - s.fxt.flow_records, lonely)
    equal(sorted(s.fxt.arrows), sorted((a, b) for _, a, b in s.facts.get('flow_list', [])))


def plain(value):
    """As the facts have it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


@check
def args(s):
    found = {x[0]: x[4] for x in s.fxt.slices + s.fxt.instants if x[0] in s.facts.get('args', {})}
    for name, want in s.facts.get('args', {}).items():
        got = dict(found[name])
        if name in ODD:
            continue
        for extra in (json.loads(got.pop('more')).items() if 'more' in got else ()):
            got.setdefault(*extra)
        for key, value in want.items():
            if key == 'note':
                continue
            equal(plain(got.get(key, 'missing')), value, (name, key))


# Looked at in odd_args().
ODD = ('json', 'log', 'located', 'inline stack', 'interned stack', 'long text', 'bad utf8', 'unknown name')


@check
def odd_args(s):
    if s.name != 'te-args':
        return
    got = {x[0]: x[4] for x in s.fxt.instants}
    equal(got['json'], {'j': '{"k":[1,2,{"x":null}]}'})
    equal(got['log']['message'], 'disk is full')
    equal((got['log']['source.file_name'], got['log']['source.line_number']), ('disk.c', 42))
    equal(got['located']['source.function_name'], 'write_all')
    equal(got['inline stack'], {'stack': 'leaf\nrun\nmain'})
    equal(got['interned stack'], {'stack': 'poll\nmain'})
    equal(got['unknown name'], {})
    equal(set(got['long text']['s']), {'x'})
    equal(0 < len(got['long text']['s']) <= LONG, True)
    equal(got['bad utf8']['s'][0] + got['bad utf8']['s'][-1], 'ab')


@check
def names(s):
    threads, processes = s.fxt.names[2], s.fxt.names[1]
    for tid, name in s.facts['thread_names'].items():
        if int(tid) in threads:
            equal(threads[int(tid)], name, tid)
    for pid, name in s.facts['process_names'].items():
        if pid not in ('2', '40'):  # threads of the kernel, which is one process
            equal(processes.get(int(pid)), name, pid)
    if not s.is_ftrace:
        equal(set(map(int, s.facts['thread_names'])) - set(threads), set())


@check
def one_object_each(s):
    """A thread that ftrace and a track name is one."""
    equal([key for key, times in s.fxt.objects.items() if times > 1], [])


@check
def recycled(s):
    if s.name != 'process-names':
        return
    equal([s.fxt.names[2][koid] for koid in (313, 10000313)], ['helper', 'second'])
    equal([s.fxt.names[1][koid] for koid in (303, 10000313)], ['sh', 'second'])


@check
def logs(s):
    want = sorted((x[0], x[-1]) for x in s.facts.get('log_list', []))
    got = [(ts, text.removeprefix('[    1.000000] ')) for ts, text in sorted(s.fxt.logs)]
    equal(got, want)


@check
def stacks(s):
    if s.name != 'samples-and-logs':
        return
    got = fxtsamples.read(s.out)
    equal(got.problems, [])
    equal(len(got.samples), s.facts['samples'])
    for x, want in zip(sorted(got.samples), s.facts['sample_list']):
        equal((x.ts, x.process, x.thread, x.cpu, x.user), (want['ts'], 700, want['tid'], want['cpu'],
                                                           want['mode'] == 'user'), want)
        equal([f.name for f in x.frames], want['stack, outermost first'] or [], want)
        if 'weight' in want:
            equal((x.source, x.weight), ('wall-time', want['weight']))
    # The generator counts a million more from sample to sample.
    timed = sorted((ts, value, key) for key, rows in s.fxt.counters.items() for ts, value in rows)
    equal(timed, [(x['ts'], i * 1000000, f"cpu{x['cpu']}.perf.cpu-clock") for i, x in enumerate(s.facts['sample_list'][:12])])


class Scheduling:
    """Intervals between the switches of each CPU, but those that only mark where knowledge begins or ends."""

    def __init__(self, switches):
        self.by_cpu, self.run_ns, self.ends = collections.Counter(), collections.Counter(), collections.Counter()
        self.intervals, self.idle_ns, since = [], 0, {}
        for x in sorted(switches, key=lambda x: x['timestamp']):
            said = {name: value for name, _, value in x['arguments']}
            if 'mark' in said:
                continue
            cpu, ts, out = x['cpu_number'], x['timestamp'], x['outgoing_thread_id']
            if cpu in since and out:
                end = said.get('linux_state') or ('R' if x['outgoing_thread_state'] == 0 else 'S')
                self.ends[end] += 1
                self.run_ns[str(out)] += ts - since[cpu]
                self.intervals.append((out, cpu, since[cpu], ts - since[cpu], end))
            elif cpu in since:
                self.idle_ns += ts - since[cpu]
            since[cpu] = ts
            self.by_cpu[str(cpu)] += 1


@check
def scheduling(s):
    if not s.is_ftrace:
        return
    got, extra = Scheduling(s.fxt.switches), 2 if s.name == 'ftrace-lost' else 0
    equal(sum(got.by_cpu.values()), s.facts['sched'] + extra, 'switches')
    if s.name == 'process-names':
        return
    equal(dict(got.by_cpu), {cpu: n + (extra if cpu == '0' else 0) for cpu, n in s.facts['switches_by_cpu'].items()})
    if s.name == 'ftrace-lost':
        return
    equal(len(got.intervals), s.facts['on_cpu_intervals'])
    equal(dict(got.run_ns), {k: v for k, v in s.facts['on_cpu_ns_by_tid'].items() if v}, 'by tid')
    equal(got.idle_ns, s.facts['idle_ns'], 'idle')
    equal(dict(got.ends), s.facts['end_states'], 'ends')
    for x in s.facts['sched_sample']:
        equal((x['thread'], x['cpu'], x['ts'], x['dur'], x['end_state']) in got.intervals, True, x)


@check
def wakeups(s):
    if 'wakings' not in s.facts:
        return
    made = s.stats['output']
    born = s.facts.get('ftrace_events_by_name', {}).get('sched_wakeup_new', 0)
    equal(made['wakeups'] + made['no_op_wakes'] + made['duplicate_wakes'], s.facts['wakings'] + born)
    got = {(x['timestamp'], x['waking_thread_id']): dict((name, value) for name, _, value in x['arguments'])
           for x in s.fxt.wakeups}
    for x in s.facts['wakings_sample']:
        said = got.get((x['ts'], x['woken']))
        if said:
            equal(said['waker'], 0 if x['in_irq'] else x['waker'], x)
    if s.name != 'ftrace-lost':
        equal(sum((x['ts'], x['woken']) in got for x in s.facts['wakings_sample']), len(s.facts['wakings_sample']))


@check
def losses(s):
    if s.name == 'damage':
        equal([(x[0], x[4]) for x in s.fxt.instants if x[0] == 'lost packets'], [('lost packets', {'sequence': 1})])
    equal(s.stats['input']['ftrace_losses'], s.facts.get('lost_notices', 0))
    if s.name == 'ftrace-lost':
        equal(sum(x[0] == 'lost events' for x in s.fxt.slices), s.facts['lost_notices'])
        marks = [value for x in s.fxt.switches for name, _, value in x['arguments'] if name == 'mark']
        equal(marks.count('gap') >= s.facts['lost_notices'], True, marks)


@check
def times(s):
    stamps = [x[1] for x in s.fxt.slices + s.fxt.instants] + [ts for rows in s.fxt.counters.values() for ts, _ in rows]
    stamps += [x['timestamp'] for x in s.fxt.switches + s.fxt.wakeups]
    if s.name != 'ftrace-lost':     # two switches of a bad bundle are before all
        equal(min(stamps) >= s.facts['first_ts'], True, (min(stamps), s.facts['first_ts']))
    equal(max(stamps) <= s.facts['last_ts'], True, (max(stamps), s.facts['last_ts']))


@check
def cut_anywhere(s):
    """No crash, no more packets than the whole has, and the output is clean."""
    with open(s.path, 'rb') as file:
        data = file.read()
    cut, out = s.out + '.pftrace', s.out + '.cut'
    for i in range(1, CUTS):
        with open(cut, 'wb') as file:
            file.write(data[:len(data) * i // CUTS])
        done = run('convert', '--stats=json', '-o', out, cut)
        equal(done.returncode in (0, 1), True, done.stderr.decode())
        if done.returncode:
            continue
        equal(json.loads(done.stdout)['input']['packets'] <= s.stats['input']['packets'], True, i)
        equal(run('verify', '-q', out).returncode, 0, f'cut at {len(data) * i // CUTS}')


@check
def cut_in_the_last_packet(s):
    """damage-cut.pftrace is damage.pftrace without its last 7 bytes."""
    if s.name != 'damage':
        return
    done = run('convert', '--stats=json', '-o', s.out, os.path.join(CORPUS, 'damage-cut.pftrace'))
    got, whole = json.loads(done.stdout)['input'], s.stats['input']
    equal((got['damaged_stretches'], got['packets']), (1, whole['packets'] - 1))
    equal('the file ends in a packet' in [x['reason'] for x in got['first_dropped']], True, got['first_dropped'])


def same_as_converted(path, out, code):
    """dump, report and verify of an input are those of the file that it is converted to."""
    equal(run('convert', '-q', '-o', out, path).returncode, 0)
    equal(run('dump', path).stdout == run('dump', out).stdout, True, 'dump')
    equal(run('report', '--json', path).stdout.count(b'"threads"') > 0, True, 'report')
    done = run('verify', path)
    equal((done.returncode, done.stdout), (code, run('verify', out).stdout), done.stderr)


@check
def read_directly(s):
    same_as_converted(s.path, s.out + '.direct', 3 if s.is_damaged else 0)


def other_formats(tmp):
    """The same of JSON and text, compressed and from a pipe, and what is refused."""
    out = os.path.join(tmp, 'other.fxt')
    same_as_converted(os.path.join(TESTS, 'corpus', 'json', 'nesting.json'), out, 0)
    same_as_converted(os.path.join(TESTS, 'corpus', 'ftrace', 'sched-6.1.txt'), out, 0)
    path = os.path.join(CORPUS, 'te-basic.pftrace')
    for pack in (['gzip', '-c'], ['zstd', '-qc'], ['cat']):
        with open(path, 'rb') as file:
            packed = subprocess.run(pack, stdin=file, capture_output=True, check=True).stdout
        done = subprocess.run([KFXT, 'dump', '-'], input=packed, capture_output=True, timeout=60)
        equal((done.returncode, done.stdout == run('dump', path).stdout), (0, True), pack)
    for data, why in ((b'# tracer: nop\n', b'no event of ftrace text'), (b'{"traceEvents":[]}', b'no event of Trace'),
                      (b'\x7fELF\0\0\0\0', b'not a Fuchsia trace'), (b'', b'it is empty'),
                      (b'\n\x02\x08\x01\n\x02\x08\x02', b'no event of a Perfetto trace')):
        for command in ('report', 'dump', 'verify'):
            done = subprocess.run([KFXT, command, '-'], input=data, capture_output=True, timeout=60)
            equal((done.returncode, done.stdout, why in done.stderr), (1, b'', True), (command, done.stderr))


def main():
    names_ = sys.argv[2:] or sorted(os.path.basename(x).removesuffix('.facts.json')
                                    for x in glob.glob(os.path.join(CORPUS, '*.facts.json')))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name in names_:
            sample = Sample(name, tmp)
            for fn in CHECKS:
                try:
                    fn(sample)
                    passed += 1
                    print(f'ok - {name}: {fn.__name__}')
                except (AssertionError, KeyError, IndexError) as error:
                    failed += 1
                    print(f'not ok - {name}: {fn.__name__}\n# {type(error).__name__}: {error}')
        try:
            other_formats(tmp)
            passed += 1
            print('ok - other formats are read directly')
        except AssertionError as error:
            failed += 1
            print(f'not ok - other formats are read directly\n# {error}')
    print(f'pftrace: {passed} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
