#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""FXT written as Trace Event JSON, judged by independent readers of both formats.

    json_out_test.py BUILD_DIR [NAME...]

Traces of the samples of ftrace text, of a recording and of all kinds of records: what fxtread.py
finds in the FXT file is what json_reader.py finds in the JSON, and the scheduling is the same
once kfxt convert has read it back. Prints TAP and the totals.
"""
import collections
import glob
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
import fxtread  # noqa: E402
import json_reader  # noqa: E402
from cases import case, equal, equal_multisets, run  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
GLOBAL = 4200000004     # koid of the process of what belongs to the whole trace
IDLE = -2**31
LETTERS = {1: 'R', 2: 'T', 3: 'S', 4: 'Z', 5: 'X'}
PROCESS_CPUS = 4200000005
LOST_CPUS = 4200070000
EXACT = 2**53
def convert(source, to, *options, code=0, **how):
    r = subprocess.run([KFXT, 'convert', '-o', to, *options, source], capture_output=True, timeout=120, **how)
    if r.returncode != code:
        raise AssertionError(f'{source}: exit code {r.returncode}: {r.stderr.decode()}')
    return r.stderr.decode()


def traces(tmp):
    """FXT files of all samples: (name, path)."""
    for name in ('golden/all_records', 'golden/states-6.1', 'corpus/fxt/recording', 'corpus/fxt/lossy'):
        path = os.path.join(tmp, os.path.basename(name) + '.fxt')
        with gzip.open(os.path.join(TESTS, name + '.fxt.gz')) as packed, open(path, 'wb') as out:
            shutil.copyfileobj(packed, out)
        yield name, path
    for facts in sorted(glob.glob(TESTS + '/corpus/ftrace/*.facts.json')):
        sample = facts[:-len('.facts.json')]
        path = os.path.join(tmp, os.path.basename(sample) + '.fxt')
        convert(sample, path)
        yield os.path.basename(sample), path


# ---- what FXT says, as JSON has it --------------------------------------------------------


def json_value(kind, value):
    if kind in ('int64', 'uint64', 'koid') and abs(value) > EXACT:
        return str(value)
    if kind == 'pointer':
        return f'{value:#x}'
    if kind == 'blob':
        return value.hex()
    if kind == 'double' and (value != value or abs(value) == float('inf')):
        return str(value)
    return value


def json_args(rec):
    return {name: json_value(kind, value) for name, kind, value in rec['arguments']}


def frozen(args):
    """To be compared: decimals of JSON are the doubles they stand for."""
    return tuple(sorted((k, v if isinstance(v, (int, str, type(None))) else float(v)) for k, v in args.items()))


class Expected:
    """Events of an FXT file, by fxtread.py, as json_reader.py is to find them."""

    def __init__(self, path):
        self.slices, self.instants, self.samples, self.flows, self.asyncs = [], [], [], [], []
        self.processes, self.threads = {}, {}
        self.switches, self.wakeups = [], []
        log, timed = None, []
        for order, rec in enumerate(fxtread.read(path)):
            if rec['type'] not in ('event', 'log', 'kernel_object', 'context_switch', 'thread_wakeup'):
                continue
            if log and rec['type'] != 'kernel_object' and not self.shows(log, rec):
                self.add_log(log, {'message': log['log_message']})
                log = None
            if rec['type'] == 'log':
                log = rec
            elif rec['type'] == 'event' and log:
                self.add_log(log, json_args(rec))
                log = None
            elif rec['type'] == 'event':
                timed.append((rec['timestamp'], order, rec))
            elif rec['type'] == 'kernel_object':
                self.add_name(rec)
            elif rec['type'] == 'context_switch':
                self.switches.append(rec)
            elif rec['type'] == 'thread_wakeup':
                self.wakeups.append(rec)
        if log:
            self.add_log(log, {'message': log['log_message']})
        self.take(rec for _, _, rec in sorted(timed, key=lambda t: t[:2]))
        self.drop_idle({rec['thread'] for _, _, rec in timed})

    def drop_idle(self, used):
        """Importers name the kernel's process and the idle threads in every trace: here if they are used."""
        lost = any(LOST_CPUS <= thread < LOST_CPUS + 10000 for _, thread in used)
        if self.switches or self.wakeups or lost:
            return
        if all(thread for _, thread in used):
            self.threads.pop(0, None)
        if all(process for process, _ in used) and all(process for process, _ in self.threads.values()):
            self.processes.pop(0, None)

    @staticmethod
    def shows(log, rec):
        return (rec['type'] == 'event' and rec['event_type'] == 'instant' and rec['category'] == 'log' and
                rec['timestamp'] == log['timestamp'] and rec['thread'] == log['thread'] and bool(rec['arguments']))

    def add_log(self, log, args):
        name = log['log_message'].encode()[:80].decode(errors='ignore')
        self.instants.append((*log['thread'], log['timestamp'], 'log', name, 't', frozen(args)))

    def add_name(self, rec):
        args = json_args(rec)
        if not rec['name']:     # there is nothing to be said
            return
        if rec['kernel_object_type'] == 1:
            self.processes[rec['koid']] = rec['name']
        elif rec['kernel_object_type'] == 2:
            self.threads[rec['koid']] = (args.get('process'), rec['name'])

    def take(self, records):
        stacks, flows = collections.defaultdict(list), {}
        for rec in records:
            kind, at = rec['event_type'], (*rec['thread'], rec['timestamp'])
            args, what = json_args(rec), (rec['category'], rec['name'])
            if kind == 'duration_complete':
                self.slices.append((*at, rec['end_time'] - at[2], *what, frozen(args)))
            elif kind == 'duration_begin':
                stacks[rec['thread']].append((at, what, args))
            elif kind == 'duration_end' and stacks[rec['thread']]:
                begun, what, first = stacks[rec['thread']].pop()
                self.slices.append((*begun, at[2] - begun[2], *what, frozen({**first, **args})))
            elif kind in ('instant', 'duration_end'):
                self.instants.append((*at, *what, 'g' if at[0] == GLOBAL else 't', frozen(args)))
            elif kind == 'counter':
                self.add_counter(rec, at)
            elif kind.startswith('flow'):
                self.add_flow(rec, kind, at, flows)
            else:
                phase = {'async_begin': 'b', 'async_instant': 'n', 'async_end': 'e'}[kind]
                self.asyncs.append((phase, *at, *what, hex(rec['async_correlation_id']), frozen(args)))
        self.slices += [(*at, None, *what, frozen(args)) for stack in stacks.values() for at, what, args in stack]

    def add_flow(self, rec, kind, at, flows):
        """All of one have category and name of the first."""
        ident = rec['flow_correlation_id']
        what = flows.get(ident) if kind != 'flow_begin' else None
        flows[ident] = what = what or (rec['category'], rec['name'])
        self.flows.append(({'flow_begin': 's', 'flow_step': 't', 'flow_end': 'f'}[kind], *at, *what, hex(ident), 'e'))
        if kind == 'flow_end':
            del flows[ident]

    def add_counter(self, rec, at):
        ident = hex(rec['counter_id']) if rec['counter_id'] or at[0] == 4200000003 else None
        self.samples += [(at[0], rec['name'], ident, name, at[2], float(json_value(kind, value)))
                         for name, kind, value in rec['arguments']
                         if kind in ('int32', 'uint32', 'int64', 'uint64', 'double')]


def found_asyncs(trace):
    return [(e['ph'], e['pid'], e['tid'], json_reader.time_ns(e['ts']), e['cat'], e['name'], e['id'],
             frozen(e.get('args', {}))) for e in trace.events if e['ph'] in 'bne']


def check_events(expected, trace):
    equal_multisets([(s.pid, s.tid, s.ts, s.dur, s.cat, s.name, frozen(s.args)) for s in trace.slices],
                    expected.slices, 'slices')
    equal_multisets([(*i[:-1], frozen(i.args)) for i in trace.instants if i.scope in 'tg'], expected.instants, 'instants')
    equal_multisets([(*s[:-1], float(s.value)) for s in trace.samples], expected.samples, 'counters')
    equal_multisets([tuple(f) for f in trace.flows], expected.flows, 'flows')
    equal_multisets(found_asyncs(trace), expected.asyncs, 'async')
    equal(trace.processes, expected.processes, 'processes')
    equal({tid: (pid, name) for (pid, tid), name in trace.threads.items()},
          {tid: (tid if pid is None else pid, name) for tid, (pid, name) in expected.threads.items()}, 'threads')


def check_fields(e):
    """What each phase needs, of the types that viewers take."""
    # Ids that a reader might round are in quotes.
    for key in 'pid', 'tid':
        equal(type(e[key]) is (int if int(e[key]) <= EXACT else str) and int(e[key]) >= 0, True, e)
    equal(isinstance(e['name'], str) and isinstance(e.get('args', {}), dict), True, e)
    equal(e['ph'] in 'XBEibnestfCTM', True, e)
    equal('cat' in e and 'ts' in e or e['ph'] == 'M', True, e)
    equal('dur' in e, e['ph'] in 'XT', e)
    equal(bool(re.fullmatch('0x[0-9a-f]+', e.get('id', ''))), e['ph'] in 'bnestf' or e['ph'] == 'C' and 'id' in e, e)
    equal(e.get('bp'), 'e' if e['ph'] in 'stf' else None, e)
    equal(e.get('s') in ('t', 'g'), e['ph'] == 'i', e)
    if e['ph'] == 'C':
        equal(bool(e['args']) and all(type(v) in (int, float) for v in e['args'].values()), True, e)


def check_shape(path):
    """What no reader stumbles over: strict JSON, an event a line, in order, parents first."""
    with open(path, 'rb') as f:
        data = f.read()
    whole = json.loads(data.decode('utf-8'))
    lines = data.decode().split('\n')
    equal(lines[-1], '', 'the end')
    for line in lines[1:-2]:
        raw = json.loads(line.rstrip(','), parse_float=str)
        bad = [raw[key] for key in ('ts', 'dur') if key in raw and not re.fullmatch(r'[0-9]+\.[0-9]{3}', str(raw[key]))]
        equal(bad, [], 'times')
    equal(len(lines) - 3, len(whole['traceEvents']), 'lines')
    equal([json.loads(line.rstrip(',')) for line in lines[1:-2]], whole['traceEvents'], 'an event a line')
    escapes = set(re.findall(r'\\(?:u....|.)', data.decode()))
    equal([e for e in escapes if e[1] == 'u' and not re.match(r'\\u00[01]', e)], [], 'characters that need no escape')
    for event in whole['traceEvents']:
        check_fields(event)
    timed = [e for e in json_reader.read(path).events if e['ph'] != 'M']
    equal(whole['traceEvents'][:len(whole['traceEvents']) - len(timed)],
          [e for e in whole['traceEvents'] if e['ph'] == 'M'], 'metadata first')
    keys = [(e['ts'], 0 if e['ph'] in 'XB' else 1,
             -e.get('dur', EXACT) if e['ph'] in 'XB' else 0) for e in timed]
    equal(keys, sorted(keys), 'order')


def check_by_node(paths):
    if not shutil.which('node'):
        return
    script = ('for (const p of process.argv.slice(1))'
              ' console.log(JSON.parse(require("fs").readFileSync(p, "utf8")).traceEvents.length)')
    r = subprocess.run(['node', '-e', script, *paths], capture_output=True, timeout=120)
    equal(r.returncode, 0, r.stderr.decode()[:500])
    equal([int(n) for n in r.stdout.split()], [len(json_reader.read(p).events) for p in paths])


@case
def events_and_names_are_those_of_the_trace(tmp):
    paths = []
    for name, fxt in traces(tmp):
        paths.append(fxt[:-4] + '.json')
        convert(fxt, paths[-1])
        check_shape(paths[-1])
        try:
            check_events(Expected(fxt), json_reader.read(paths[-1]))
        except AssertionError as error:
            raise AssertionError(f'{name}: {error}') from error
    check_by_node(paths)


# ---- scheduling ---------------------------------------------------------------------------


def scheduling(path):
    """Switches and wakeups that both sides must have: what is made up at each end and at gaps aside."""
    expected = Expected(path)
    found = []
    for rec in expected.switches:
        args = {name: value for name, _, value in rec['arguments']}
        out, into = rec['outgoing_thread_id'], rec['incoming_thread_id']
        if args.get('mark') == 'state' or out == into == 0:
            continue
        if out == into:
            continue
        state = args.get('linux_state') or LETTERS[rec['outgoing_thread_state']]
        found.append((rec['timestamp'], rec['cpu_number'], out, into, state if out else '-',
                      args['outgoing_weight'], args['incoming_weight']))
    for rec in expected.wakeups:
        args = {name: value for name, _, value in rec['arguments']}
        mark = args.get('mark')
        found.append((rec['timestamp'], rec['cpu_number'], rec['waking_thread_id'], args['waker'], args['weight'],
                      None if mark == 'gap' else mark))
    return found


@case
def scheduling_comes_back(tmp):
    """FXT to JSON with ftrace text to FXT."""
    total = 0
    for name, fxt in traces(tmp):
        if name in ('golden/all_records', 'golden/states-6.1'):     # made up, and nothing but states
            continue
        first = scheduling(fxt)
        if not first:
            continue
        convert(fxt, fxt + '.json')
        convert(fxt + '.json', fxt + '.again.fxt')
        equal_multisets(scheduling(fxt + '.again.fxt'), first, name)
        total += len(first)
        equal(subprocess.run([KFXT, 'verify', '-q', fxt + '.again.fxt']).returncode, 0, name)
    if total < 3000:
        raise AssertionError(f'only {total} records')


def losses(path):
    """(CPU, begin, end, events lost) of the slices on the tracks of CPUs."""
    return [(rec['thread'][1] - LOST_CPUS, rec['timestamp'], rec['end_time'],
             sum(value for name, _, value in rec['arguments'] if name != 'cpu'))
            for rec in fxtread.read(path) if rec['type'] == 'event' and rec['thread'][1] - LOST_CPUS in range(10000)]


def gaps(path):
    """(CPU, time) of each switch that begins or ends a gap."""
    return [(rec['cpu_number'], rec['timestamp']) for rec in fxtread.read(path) if rec['type'] == 'context_switch'
            and ('mark', 'string', 'gap') in rec['arguments']]


@case
def losses_come_back(tmp):
    """Of a recording that lost events: the gaps begin and end where they did, with as many events lost.

    A gap ends with the first line of its CPU. Wakeups in it are lines of another CPU, unless all are in gaps.
    """
    ends = {(1, 13519984587118): (1, 13519984581029)}
    fxt = dict(traces(tmp))['corpus/fxt/lossy']
    convert(fxt, fxt + '.json')
    said = convert(fxt + '.json', fxt + '.again.fxt')
    first = [(cpu, begin, ends.get((cpu, end), (cpu, end))[1], lost) for cpu, begin, end, lost in losses(fxt)]
    equal(sorted(losses(fxt + '.again.fxt')), sorted(first), 'lost')
    equal(sorted(gaps(fxt + '.again.fxt')), sorted(ends.get(gap, gap) for gap in gaps(fxt)), 'gaps')
    equal(', 267 lost, ' in said and sum(lost[3] for lost in losses(fxt)), 267, said)
    # It is no recording any more: what is known of the recorder's counts is in arguments of instants only.
    r = subprocess.run([KFXT, 'report', fxt + '.again.fxt'], capture_output=True)
    equal((r.returncode, b'unknown: not recorded by kfxt' in r.stdout), (0, True), r.stdout)


@case
def cpus_and_states_add_up(tmp):
    """The other two forms: each thread runs as long as by the switches of the trace, on the same CPUs."""
    fxt = dict(traces(tmp))['corpus/fxt/recording']
    slices, states = fxt + '.slices.json', fxt + '.states.json'
    convert(fxt, slices, '--sched=slices')
    convert(fxt, states, '--sched=states')
    runs, since = collections.Counter(), {}
    for rec in sorted(Expected(fxt).switches, key=lambda r: r['timestamp']):
        if any(name == 'mark' and value == 'state' for name, _, value in rec['arguments']):
            continue
        cpu = rec['cpu_number']
        if cpu in since and since[cpu][1]:
            runs[since[cpu][1], cpu] += rec['timestamp'] - since[cpu][0]
        since[cpu] = rec['timestamp'], rec['incoming_thread_id']
    found = collections.Counter()
    for s in json_reader.read(slices).slices:
        if s.pid == PROCESS_CPUS:
            found[s.args['tid'], s.tid] += s.dur
    equal(+found, +runs, 'slices')
    trace, found, ends = json_reader.read(states), collections.Counter(), {}
    for s in trace.states:
        if s.ts < ends.get(s.tid, 0):
            raise AssertionError(f'states of {s.tid} overlap at {s.ts}')
        ends[s.tid] = s.ts + s.dur
        if s.name == 'Running':
            found[s.tid, s.args['cpu']] += s.dur
    equal(+found, +runs, 'states')
    equal({s.name for s in trace.states} - {'Running', 'R', 'R+', 'S', 'D', 'I', 'T', 't', 'Z', 'X', 'P'}, set())
    for path in slices, states:
        check_shape(path)
        equal('systemTraceEvents' in json_reader.read(path).members, False)


@case
def text_and_fxt_give_the_same(tmp):
    """Ftrace text straight to JSON, and by way of an FXT file; packed or not."""
    text = os.path.join(TESTS, 'corpus', 'ftrace', 'sched-6.1.txt')
    paths = [os.path.join(tmp, name) for name in ('a.fxt', 'a.json', 'b.json', 'c.json.gz', 'd.json.zst')]
    convert(text, paths[0])
    convert(text, paths[1])
    for path in paths[2:]:
        convert(paths[0], path)
    with open(paths[1], 'rb') as a, open(paths[2], 'rb') as b, gzip.open(paths[3]) as c:
        data = a.read()
        equal([b.read() == data, c.read() == data], [True, True])
    equal(subprocess.run(['zstd', '-dcq', paths[4]], capture_output=True).stdout == data, True)
    # Without a name of that kind a word says so; a pipe gets slices.
    r = subprocess.run([KFXT, 'convert', '-q', '-o', '-', '--output-format=json', paths[0]], capture_output=True)
    equal(r.returncode, 0)
    equal(sum(e['pid'] == PROCESS_CPUS for e in json.loads(r.stdout)['traceEvents']) > 100, True)
    with open(paths[0], 'rb') as f:
        r = subprocess.run([KFXT, 'convert', '-q', '-o', '-', '--output-format=json', '--sched=ftrace', '-'], stdin=f,
                           capture_output=True)
    equal(r.stdout == data, True)


@case
def words_that_are_wrong(tmp):
    """Each in a sentence, and nothing is written."""
    fxt, out = dict(traces(tmp))['corpus/fxt/recording'], os.path.join(tmp, 'out.json')
    for code, said, to, options in (
            (2, '--sched: x: not a form (ftrace, slices, states)', out, ['--sched=x']),
            (2, '--sched: only of Trace Event JSON', os.path.join(tmp, 'out.fxt'), ['--sched=slices']),
            (2, '--output-format: xml: not a format (fxt, json, perfetto, folded, pprof, speedscope)', out, ['--output-format=xml']),
            (1, 'a Fuchsia trace already', os.path.join(tmp, 'out.fxt'), [])):
        text = convert(fxt, to, *options, code=code)
        if said not in text or text.count('\n') != 1 or os.path.exists(to):
            raise AssertionError(f'{options}: {text}')
    text = convert(os.path.join(TESTS, 'run.sh'), out, '--input-format=fxt', code=1)
    equal(('no fxt record in it' in text, os.path.exists(out)), (True, False), text)
    r = subprocess.run([KFXT, 'record', '-d', '10ms', '-o', out], capture_output=True)
    equal((r.returncode, b'kfxt convert -o' in r.stderr, os.path.exists(out)), (2, True, False), r.stderr)


@case
def everything_is_counted(tmp):
    """Of FXT: each record in one count, and by kind what JSON has no place for."""
    left_out = {'golden/all_records': {'perfetto_packets': 2, 'blobs': 15, 'modules': 2, 'mappings': 2,
                                       'backtraces': 2, 'counter_values_that_are_no_numbers': 21},
                'golden/states-6.1': {'perfetto_packets': 4}, 'corpus/fxt/recording': {'perfetto_packets': 4},
                'corpus/fxt/lossy': {'perfetto_packets': 8}}
    for name, fxt in traces(tmp):
        if name not in left_out:
            continue
        r = subprocess.run([KFXT, 'convert', '--stats=json', '-o', fxt + '.json', fxt], capture_output=True)
        stats = json.loads(r.stdout)
        equal(sum(stats['input']['records_by_kind'].values()), sum(1 for _ in fxtread.read(fxt)), name)
        equal(stats['output']['left_out_by_kind'], left_out[name], name)
        equal(stats['output']['left_out'], sum(left_out[name].values()), name)
        said = f"{stats['input']['records']} records, {stats['output']['left_out']} left out"
        packets = f"{left_out[name]['perfetto_packets']} Perfetto packets"
        equal((said in r.stderr.decode(), packets in r.stderr.decode()), (True, True), r.stderr)


@case
def outputs_that_fail(tmp):
    """As of FXT: exit 1 and a sentence."""
    fxt = dict(traces(tmp))['corpus/fxt/recording']
    text = convert(fxt, '/dev/full', '--output-format=json', code=1)
    equal('/dev/full: cannot write: No space left on device' in text, True, text)
    text = convert(fxt, os.path.join(tmp, 'no', 'folder.json'), code=1)
    equal('cannot write: No such file or directory' in text, True, text)
    read, write = os.pipe()
    os.close(read)
    r = subprocess.run([KFXT, 'convert', '--output-format=json', '-o', '-', fxt], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    equal((r.returncode, b'Broken pipe' in r.stderr), (1, True), r.stderr)


@case
def damage_is_left_out(tmp):
    """What can be read is in the JSON; --strict fails."""
    fxt, out = dict(traces(tmp))['corpus/fxt/recording'], os.path.join(tmp, 'out.json')
    convert(fxt, out)
    events = len(json_reader.read(out).events)
    with open(fxt, 'rb') as f:
        data = bytearray(f.read())
    damaged = 0
    for start in range(1000, len(data) - 4096, 3000):
        broken = os.path.join(tmp, 'broken.fxt')
        with open(broken, 'wb') as f:
            f.write(data[:start] + b'\xff' * 64 + data[start + 64:])
        said = convert(broken, out)
        check_shape(out)
        if not events - 30 < len(json_reader.read(out).events) < events + 30:
            raise AssertionError(f'{start}: {len(json_reader.read(out).events)} of {events}')
        is_damaged = 'at byte' in said      # else it was in a string, or in an argument
        damaged += is_damaged
        convert(broken, out, '-q', '--strict', code=3 if is_damaged else 0)
    equal(damaged > 10, True, damaged)
    with open(broken, 'wb') as f:
        f.write(data[:len(data) // 2 | 3])
    text = convert(broken, out)
    equal('(what could be read was converted)' in text, True, text)
    check_shape(out)


if __name__ == '__main__':
    sys.exit(run('json_out'))
