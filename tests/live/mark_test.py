#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of markers: what programs write to trace_marker, against what the kernel's own
tracer has of it, and kfxt mark.

    mark_test.py BUILD_DIR [NAME...]

Markers come to kfxt in two ways, as copies (6.16 and later) and by a program; each test runs
with all that the kernel has. Needs root and BPF. Prints TAP and, last, how many passed, failed
and were skipped. KFXT_TEST_SCALE: see harness.py.
"""
import collections
import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from account import is_lossy, lost_by  # noqa: E402
from harness import (KFXT, PATIENCE, SCALE, TRACEFS, UNMOUNT_OTHERS, Instance, Skip, children_of, equal, expect, load,  # noqa: E402
                     main, note, run, scaled, switches_of, test, tracefs_twice, until, verify, wait_for_begin)
import fxtread  # noqa: E402, where trace.py found it

COPIES = os.path.exists(TRACEFS + '/options/copy_trace_marker')
MARKER = TRACEFS + '/trace_marker'
TYPES = {'duration_begin': 'B', 'duration_end': 'E', 'async_begin': 'S', 'async_end': 'F', 'counter': 'C',
         'instant': 'I'}
PSEUDO = 4_200_000_000          # ids above are no threads of Linux

# Writes the lines of its file, of two threads by turns, each on a CPU of the writer's choice; tells its threads.
WRITE = r'''
import os, sys, threading
fd = os.open('/sys/kernel/tracing/trace_marker', os.O_WRONLY)
cpus, turn = sorted(os.sched_getaffinity(0)), threading.Condition()
def work(me, lines):
    for n, line in enumerate(lines):
        with turn:
            turn.wait_for(lambda: len(done) % 2 == me)
            os.sched_setaffinity(0, {cpus[(n // 3 + me) % len(cpus)]})
            os.write(fd, line.replace('PID', str(os.getpid())).encode())
            done.append(me)
            turn.notify()
    told[me] = threading.get_native_id()
done, told, lines = [], [0, 0], open(sys.argv[1]).read().splitlines()
threads = [threading.Thread(target=work, args=(me, lines)) for me in (0, 1)]
for t in threads: t.start()
for t in threads: t.join()
print(os.getpid(), *told)
'''

Event = collections.namedtuple('Event', 'ts form process thread category name args id')


def by_each_way(fn):
    """A test for each way that markers come."""
    for way in ['copies'] * COPIES + ['program']:
        call = functools.partial(fn, way=way)
        call.__name__ = f'{fn.__name__} by_{way}'
        test(call)
    return fn


def command(way, *args):
    """kfxt record; where the kernel has copies, these are hidden from it to test the other way."""
    args = [KFXT, 'record', '-e', 'marker', *args]
    if way == 'program' and COPIES:
        hide = f'{UNMOUNT_OTHERS}; for dir in {TRACEFS}/options /sys/kernel/debug; do mount -t tmpfs none $dir; done; exec "$@"'
        args = ['unshare', '-m', 'sh', '-c', hide, 'sh', *args]
    return args


def record(way, trace, *args):
    """Records into @trace, which must be without fault; what the command printed, and kfxt."""
    r = subprocess.run(command(way, '-o', trace, *args), capture_output=True, timeout=6 * PATIENCE)
    equal(r.returncode, 0, f'exit code of record {args} ({r.stderr.decode()})')
    verify(trace)
    return r.stdout.decode(), r.stderr.decode()


def start(way, trace, *args):
    """A recorder that runs when this returns."""
    recorder = subprocess.Popen(command(way, '-o', trace, *args), stderr=subprocess.PIPE)
    wait_for_begin(recorder, trace)
    return recorder


def stop(recorder, trace):
    recorder.send_signal(signal.SIGINT)
    err = recorder.communicate(timeout=PATIENCE)[1].decode()
    equal(recorder.returncode, 0, err)
    verify(trace)
    return err


def events(trace):
    """All but the recorder's own, in order of time."""
    found = []
    for rec in fxtread.read(trace):
        if rec['type'] == 'event' and rec['category'] not in ('kfxt', 'log', 'function', 'usdt'):
            args = {name: value for name, _, value in rec['arguments']}
            found.append(Event(rec['timestamp'], TYPES[rec['event_type']], *rec['thread'], rec['category'],
                               rec['name'], args, rec.get('id')))
    return sorted(found, key=lambda e: e.ts)


def write_markers(way, tmp, lines, *options):
    """Both threads write @lines during a recording: (events, process, [thread, thread])."""
    with open(tmp + '/lines', 'w') as f:
        f.write('\n'.join(lines))
    out, _ = record(way, tmp + '/t.fxt', *options, '--', sys.executable, '-c', WRITE, tmp + '/lines')
    process, *threads = map(int, out.split())
    found = events(tmp + '/t.fxt')
    t = load(tmp + '/t.fxt')
    equal((t.ledger_sum('events'), t.ledger_sum('lost_events')), (len(found), 0), 'events in the ledger and lost')
    return [e for e in found if e.process == process], process, threads


def own_names(trace):
    """Of the markers of this process, which are those of kfxt mark that it runs: others write markers, too."""
    return [e.name for e in events(trace) if e.process == os.getpid()]


def of_thread(found, tid):
    return [(e.form, e.category, e.name, e.args) for e in found if e.thread == tid]


# ---- what is recorded -------------------------------------------------------------------

FORMS = {
    'B|PID|outer': ('B', 'atrace', 'outer', {}),
    'B|PID|inner | with a bar': ('B', 'atrace', 'inner | with a bar', {}),
    'E|PID': ('E', 'atrace', 'inner | with a bar', {}),
    'C|PID|count|-5': ('C', 'atrace', 'count', {'value': -5}),
    'C|PID|odd|7|kfxt': ('C', 'atrace', 'odd', {'value': 7}),
    'I|PID|now': ('I', 'atrace', 'now', {}),
    'E': ('E', 'atrace', 'outer', {}),
    'N|PID|track|there': ('I', 'atrace', 'there', {'track': 'track'}),
    'plain text, äö': ('I', 'ftrace', 'print', {'text': 'plain text, äö'}),
    'E|PID ': ('I', 'ftrace', 'print', None),      # there is nothing to end
    'x' * 1000: ('I', 'ftrace', 'print', {'text': 'x' * 1000}),
    'trace_event_clock_sync: realtime_ts=1234567890123':
        ('I', 'clock_sync', 'trace_event_clock_sync', {'realtime_ts': 1234567890123}),
    'B|PID|never ended': ('B', 'atrace', 'never ended', {}),
}


@by_each_way
def every_form_of_two_threads(tmp, way):
    found, process, threads = write_markers(way, tmp, FORMS)
    stop_ns = load(tmp + '/t.fxt').events['stop'][0]
    for tid in threads:
        wanted = [w if w[3] is not None else (*w[:3], {'text': f'E|{process} '}) for w in FORMS.values()]
        wanted.append(('E', 'atrace', 'never ended', {}))
        equal(of_thread(found, tid), wanted, f'markers of {tid}')
        equal({e.process for e in found if e.thread == tid}, {process}, 'their process')
        equal([e.ts for e in found if e.thread == tid][-1], stop_ns, 'where the slice that is open at the end does')


@by_each_way
def async_pairs(tmp, way):
    lines = ['S|PID|load|a', 'S|PID|load|b', 'G|PID|track|work|c', 'F|PID|load|b', 'H|PID|track|c', 'S|PID|open|d']
    found, _, threads = write_markers(way, tmp, lines)
    # Both threads begin and end the same cookies of one process by turns: while one is open, another begin is an instant.
    pairs = collections.defaultdict(list)
    for e in found:
        pairs[e.id].append((e.form, e.name))
    for ident, pair in pairs.items():
        expect(ident is None or pair[0][0] == 'S' and len(pair) <= 2 and len({n for _, n in pair}) == 1,
               f'id {ident}: {pair}')
    equal({e.thread for e in found}, set(threads), 'threads')
    equal(collections.Counter(e.form for e in found if e.name == 'open'), {'S': 1, 'I': 1, 'F': 1}, 'begun and closed at the end')


@by_each_way
def nested_slices_across_cpus(tmp, way):
    count = scaled(400) + 5
    lines = [line for n in range(count) for line in (f'B|PID|{n}', f'B|PID|in {n}', 'E|PID', 'E|PID')]
    found, _, threads = write_markers(way, tmp, lines)
    wanted = [(form, name) for n in range(count)
              for form, name in (('B', f'{n}'), ('B', f'in {n}'), ('E', f'in {n}'), ('E', f'{n}'))]
    for tid in threads:
        equal([(e.form, e.name) for e in found if e.thread == tid], wanted, f'slices of {tid}')


class Tracer:
    """What the kernel's own tracer has of the markers, by the boot clock: its text, ended by text()."""

    def __enter__(self):
        self.instance = Instance().__enter__() if COPIES else None
        if COPIES:
            self.instance.write('options/copy_trace_marker', '1')
        self.set_clock('boot')
        return self

    def set_clock(self, name):
        with open((self.instance.dir if COPIES else TRACEFS) + '/trace_clock', 'w') as f:
            f.write(name)

    def text(self):
        with open((self.instance.dir if COPIES else TRACEFS) + '/trace', 'rb') as f:
            return f.read()

    def __exit__(self, *_):
        if COPIES:
            self.instance.write('options/copy_trace_marker', '0')
            self.instance.__exit__()
        else:
            self.set_clock('local')


@by_each_way
def same_as_converted_text(tmp, way):
    """The kernel's text of the same markers, imported, has the same events at the same times."""
    with Tracer() as tracer:
        found, _, threads = write_markers(way, tmp, FORMS)
        text = tracer.text()
    with open(tmp + '/trace.txt', 'wb') as f:
        f.write(text)
    r = run('convert', '-o', tmp + '/c.fxt', tmp + '/trace.txt')
    equal(r.returncode, 0, r.stderr.decode())
    converted = events(tmp + '/c.fxt')
    for tid in threads:
        # The category of a counter is not taken over from a live one.
        ours, theirs = ([e for e in which if e.thread == tid and e.name != 'odd'] for which in (found, converted))
        equal(of_thread(ours, tid), of_thread(theirs, tid), f'markers of {tid}')
        # The last one is where either trace ends. Between the two times of one a thread may lose its CPU.
        apart = sorted(abs(a.ts - b.ts) for a, b in zip(ours[:-1], theirs[:-1]))
        middle, most = apart[len(apart) // 2], apart[len(apart) * 3 // 4]
        expect(middle < 20e3 / SCALE and (way == 'program' or most < 200e3 / SCALE), f'{apart} ns apart')
        note(f'{len(ours)} events, half of them less than {middle} ns apart, none more than {apart[-1]}')


def file_of(tmp, name, text):
    with open(f'{tmp}/{name}', 'w') as f:
        f.write(text)
    return f'{tmp}/{name}'


@by_each_way
def markers_of_a_script(tmp, way):
    script = file_of(tmp, 'script', f'''echo $$
{KFXT} mark --begin outer
{KFXT} mark "it's now"
{KFXT} mark --begin 'in ner'
sleep 0.2
{KFXT} mark --end 'in ner'
{KFXT} mark --counter queue=-17
{KFXT} mark --counter a=b=9223372036854775807
{KFXT} mark --end outer
{KFXT} mark --pid 1 'of another'
true
''')
    out, _ = record(way, tmp + '/t.fxt', '--', 'sh', script)
    shell = int(out)
    found = [e for e in events(tmp + '/t.fxt') if e.process in (shell, 1)]
    equal([(e.form, e.name, e.args.get('value')) for e in found],
          [('S', 'outer', None), ('I', "it's now", None), ('S', 'in ner', None), ('F', 'in ner', None),
           ('C', 'queue', -17), ('C', 'a=b', 9223372036854775807), ('F', 'outer', None), ('I', 'of another', None)],
          'markers of the script')
    equal({e.process for e in found[:-1]}, {shell}, 'the process they are of')
    equal((found[1].thread, found[-1].thread, found[-1].process), (shell, 1, 1), 'threads of instants')
    equal([found[0].id, found[2].id], [found[6].id, found[3].id], 'ids of begins and ends')
    expect(found[3].ts - found[2].ts > 200e6, 'the inner slice is shorter than the sleep in it')


@by_each_way
def beside_calls(tmp, way):
    """A slice of markers would be cut by that of the call it begins in: it has a track of its own."""
    lines = ['B|PID|outer', 'I|PID|now', 'E|PID']
    found, process, threads = write_markers(way, tmp, lines, '-u', 'libc:write', '--returns')
    t = load(tmp + '/t.fxt')
    for tid in threads:
        slices = [e for e in found if e.thread > PSEUDO and t.threads[e.thread] == (f'{tid} markers', process)]
        equal([(e.form, e.name) for e in slices], [('B', 'outer'), ('E', 'outer')], f'slices beside {tid}')
        equal(of_thread(found, tid), [('I', 'atrace', 'now', {})], f'instants of {tid}')


@by_each_way
def loss_is_counted(tmp, way):
    """Nobody empties the buffers for a while, and writing goes on undisturbed."""
    count = 3000
    recorder = start(way, tmp + '/t.fxt', '-m', '4K')
    recorder.send_signal(signal.SIGSTOP)
    fd = os.open(MARKER, os.O_WRONLY)
    for n in range(count):
        text = b'I|%d|%d' % (os.getpid(), n)
        equal(os.write(fd, text), len(text), 'bytes that the kernel took')
    os.close(fd)
    recorder.send_signal(signal.SIGCONT)
    err = stop(recorder, tmp + '/t.fxt')
    numbers = [int(e.name) for e in events(tmp + '/t.fxt') if e.thread == threading.get_native_id()]
    lost = load(tmp + '/t.fxt').ledger_sum('lost_events')
    equal(numbers, sorted(set(numbers)), 'their order')
    equal(len(numbers) + lost, count, f'{len(numbers)} in the trace, {lost} lost')
    reason = "overwritten in the kernel's ring" if way == 'copies' else 'rings full'
    expect(lost and lost_by(err, reason)['event'] == lost, err)


@by_each_way
def no_slice_crosses_a_gap(tmp, way):
    """What is open where markers are lost ends there: its end may have been one of them."""
    def write(*lines):
        for line in lines:
            os.write(fd, line.replace('PID', str(os.getpid())).encode())

    def drained():
        """The recorder has come around some times."""
        before = switches_of(recorder.pid)
        time.sleep(0.5 / SCALE)
        until(lambda: switches_of(recorder.pid) > before + 3, 'the recorder does not run')

    recorder = start(way, tmp + '/t.fxt', '-m', '4K')
    fd = os.open(MARKER, os.O_WRONLY)
    write('B|PID|before', 'E|PID', 'B|PID|outer', 'S|PID|async|1', 'B|PID|inner')
    drained()
    recorder.send_signal(signal.SIGSTOP)
    write(*['E|PID', 'B|PID|in the flood'] * 1500)
    recorder.send_signal(signal.SIGCONT)
    drained()
    write('B|PID|after', 'E|PID', 'F|PID|async|1', 'E|PID', 'E|PID')
    os.close(fd)
    stop(recorder, tmp + '/t.fxt')
    t, me = load(tmp + '/t.fxt'), threading.get_native_id()
    gaps = [g for g in t.gaps if g.args.get('events')]
    equal(sum(g.args['events'] for g in gaps), t.ledger_sum('lost_events'), 'lost, slices against ledger')
    slices, stack = [], []
    for e in events(tmp + '/t.fxt'):
        if e.thread == me and e.form in 'BS':
            stack.append(e)
        elif e.thread == me and e.form in 'EF':
            begin = next(b for b in reversed(stack) if (b.form, b.id) == ({'E': 'B', 'F': 'S'}[e.form], e.id))
            stack.remove(begin)
            slices.append((begin.name, begin.ts, e.ts))
    equal(stack, [], 'without an end')
    for name, begin, end in slices:
        for g in gaps:
            expect(not begin < g.begin < end and not begin < g.end < end, f'{name}, {begin} to {end}, crosses {g}')
    ends = {name: end for name, _, end in slices}
    open_ends = {ends[name] for name in ('outer', 'async', 'inner')}
    expect(len(open_ends) == 1 and ends['before'] < min(open_ends) <= min(g.begin for g in gaps), f'{slices}, {gaps}')
    expect(ends['after'] > max(g.end for g in gaps), 'what is behind the gap')
    texts = [e.name for e in events(tmp + '/t.fxt') if e.thread == me and e.ts > ends['after'] and e.form == 'I']
    equal(len(texts), 3, f'ends without a slice, as instants: {texts}')


@by_each_way
def tracing_is_off(tmp, way):
    """The kernel refuses, but makes copies. Without them none are found by another mount of tracefs."""
    with tracefs_twice(tmp):
        recorder = start(way, tmp + '/t.fxt')
    tries = []

    def refused():
        with open(TRACEFS + '/tracing_on', 'w') as f:
            f.write('0')
        tries.append(run('mark', f'while it is off {len(tries)}'))
        return tries[-1].returncode
    try:
        until(refused, 'each time somebody else has turned tracing on')
    finally:
        with open(TRACEFS + '/tracing_on', 'w') as f:
            f.write('1')
    stop(recorder, tmp + '/t.fxt')
    equal(tries[-1].returncode, 1, 'exit code of mark')
    expect("the kernel's tracing is off" in tries[-1].stderr.decode(), tries[-1].stderr.decode())
    equal(own_names(tmp + '/t.fxt'), [f'while it is off {n}' for n in range(len(tries) - (way == 'program'))],
          f'markers, {len(tries) - 1} of which were taken; all there are: {events(tmp + "/t.fxt")}')


@test
def by_default_where_it_costs_nothing(tmp):
    for options, wanted in ([], COPIES), (['-e', '!marker'], False), (['-e', 'marker', '-e', '!marker'], False):
        here = f'here {os.getpid()}'
        r = run('record', '-o', tmp + '/t.fxt', *options, '--', KFXT, 'mark', here)
        equal(r.returncode, 0, r.stderr.decode())
        verify(tmp + '/t.fxt')
        found = [e for e in events(tmp + '/t.fxt') if e.name == here]
        equal(len(found), int(wanted), f'markers with {options}: {events(tmp + "/t.fxt")}')


# ---- what is left ------------------------------------------------------------------------

def instances(*recorders):
    return [os.path.exists(f'{TRACEFS}/instances/kfxt-{r.pid}') for r in recorders]


def with_copies(fn):
    """A test of what there is only where the kernel makes copies."""
    @functools.wraps(fn)
    def check(tmp):
        if not COPIES:
            raise Skip('this kernel makes no copies')
        fn(tmp)
    return test(check)


@with_copies
def nothing_is_left(tmp):
    for ending in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL:
        recorder = start('copies', f'{tmp}/{ending.name}.fxt')
        equal(instances(recorder), [True], 'its instance while it records')
        if ending == signal.SIGTERM:        # a service manager ends all processes of a service
            for pid in children_of(recorder.pid):
                os.kill(pid, ending)
        recorder.send_signal(ending)
        recorder.wait(PATIENCE)
        recorder.stderr.close()
        until(lambda: instances(recorder) == [False], f'its instance after {ending.name}')
    failing = subprocess.Popen(command('copies', '-o', tmp + '/no/such.fxt'), stderr=subprocess.DEVNULL)
    equal(failing.wait(PATIENCE), 1, 'exit code without an output')
    until(lambda: not any(instances(recorder, failing)), 'instances of one that was killed and one that failed')
    both = [start('copies', f'{tmp}/{n}.fxt') for n in range(2)]
    equal(instances(*both), [True, True], 'instances of two at once')
    equal(run('mark', 'for both').returncode, 0, 'exit code of mark')
    for n, recorder in enumerate(both):
        stop(recorder, f'{tmp}/{n}.fxt')
        equal(own_names(f'{tmp}/{n}.fxt'), ['for both'], f'markers of {n}')
    until(lambda: not any(instances(*both)), 'instances at the end')


def late(fault, *args):
    """The command line of kfxt record, to which this happens as it makes its instance."""
    return ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=mkdir', '-e', f'inject=mkdir:{fault}', *command('copies', *args)]


@with_copies
def markers_begin_late(tmp):
    """Scheduling is recorded without waiting for them, and all say since when they are."""
    script = file_of(tmp, 'script', f'''{KFXT} mark early
echo $PPID > {tmp}/pid.tmp && mv {tmp}/pid.tmp {tmp}/pid
until [ "$(cat {TRACEFS}/instances/kfxt-$PPID/options/copy_trace_marker)" = 1 ]; do sleep 0.1; done
{KFXT} mark late
''')
    trace = tmp + '/t.fxt'
    # What makes the instance is stopped, until a marker was written: with a delay it might go on before.
    p = subprocess.Popen(late('signal=SIGSTOP', '-o', trace, '--strict', '--stats-file', tmp + '/s', '--', 'sh', script),
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until(lambda: os.path.exists(tmp + '/pid') or p.poll() is not None, 'the command has not begun', 3 * PATIENCE)
    with open(tmp + '/pid', encoding='utf-8') as f:
        helpers = [pid for pid, name in children_of(int(f.read())).items() if name == 'kfxt-markers']
    equal(len(helpers), 1, 'processes that make the instance')
    os.kill(helpers[0], signal.SIGCONT)
    err = p.communicate(timeout=3 * PATIENCE)[1].decode()
    verify(trace)
    t = load(trace)
    equal([e.name for e in events(trace)], ['late'], 'markers')
    with open(tmp + '/s', encoding='utf-8') as f:
        stats = json.load(f)
    equal(p.returncode, 3 if is_lossy(stats) else 4, f'exit code: {stats["total"]}: {err}')
    said = stats['late']
    equal([late['source'] for late in said], ['marker'], 'sources that are late')
    start_ns, stop_ns = t.events['start'][0], t.events['stop'][0]
    expect(0 < said[0]['after_ns'] < stop_ns - start_ns, f'{said}, of {stop_ns - start_ns} ns')
    first = min(s.ts for s in t.switches if s.ts >= start_ns and not s.mark)
    expect(first < start_ns + said[0]['after_ns'], f'first switch {first - start_ns} ns after the beginning, markers {said}')
    expect('marker: not recorded yet: ' in err and f"marker: recorded from {said[0]['after_ns'] / 1e9:.1f} s on" in err, err)
    expect('marker: recorded from ' in run('verify', trace).stdout.decode(), 'verify says so')


@with_copies
def markers_never_begin(tmp):
    """What the kernel still holds at the end is removed later, by a process that outlives the recorder."""
    begin = time.monotonic()
    r = subprocess.run(late('delay_exit=5000000', '-o', tmp + '/t.fxt', '--strict', '-d', '0.5'),
                       capture_output=True, timeout=3 * PATIENCE)
    err = r.stderr.decode()
    expect(r.returncode in (3, 4) and time.monotonic() - begin >= 0.5, f'exit code {r.returncode}: {err}')
    verify(tmp + '/t.fxt')
    expect('marker: not recorded: ' in err, err)
    expect('is still removed by another process' in err, err)
    left = re.search(r'(/\S*/instances/kfxt-\d+) is still removed', err).group(1)
    until(lambda: not os.path.exists(left), f'{left} is still there')


# ---- the command --------------------------------------------------------------------------

@test
def wrong_use(tmp):
    for args, why in ((['a\nb'], 'newline'), ([''], 'empty'), (['--begin', 'a|b'], 'bar'), (['x' * 1020], 'too long'),
                      (['--counter', 'x'], 'NAME=VALUE'), (['--counter', '=1'], 'NAME=VALUE'),
                      (['--counter', 'x=1z'], 'number'), (['--counter', 'x=9223372036854775808'], 'too large'),
                      (['--begin', '--end', 'x'], 'exclude each other'), ([], 'operand missing'), (['--pid', '0', 'x'], '--pid')):
        r = run('mark', *args)
        equal(r.returncode, 2, f'exit code of mark {args}')
        expect(why in r.stderr.decode() and r.stderr.count(b'\n') == 1, f'mark {args}: {r.stderr.decode()}')


@test
def rights(tmp):
    """That to open the file for writing, and no other."""
    user = ['setpriv', '--reuid', '12345', '--clear-groups', KFXT, 'mark', 'by a user']
    dir_mode, file_mode = os.stat(TRACEFS).st_mode, os.stat(MARKER).st_mode
    with contextlib.ExitStack() as stack:
        stack.callback(os.chmod, TRACEFS, dir_mode & 0o777)
        stack.callback(os.chmod, MARKER, file_mode & 0o777)
        os.chmod(TRACEFS, 0o700)
        r = subprocess.run(user, capture_output=True, timeout=PATIENCE)
        equal(r.returncode, 5, 'exit code without the right')
        expect('not permitted' in r.stderr.decode(), r.stderr.decode())
        os.chmod(TRACEFS, 0o711)
        os.chmod(MARKER, 0o222)
        r = subprocess.run(user, capture_output=True, timeout=PATIENCE)
        equal((r.returncode, r.stderr), (0, b''), 'exit code with it')


if __name__ == '__main__':
    sys.exit(main('mark'))
