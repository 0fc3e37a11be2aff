#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of recordings written as Trace Event JSON: what each source records, and the scheduling, there and back;
stack samples also as a Perfetto trace and as profiles.

    export_test.py BUILD_DIR [NAME...]

What fxtread.py finds in the recording is what json_reader.py finds in the JSON; read back, the switches and
wakeups are the same. Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
KFXT_TEST_SCALE: see harness.py.
"""
import functools
import json
import os
import signal
import subprocess
import sys
import time

sys.path[:0] = [os.path.dirname(__file__), os.path.dirname(__file__) + '/..', os.path.dirname(__file__) + '/../convert']
import collections  # noqa: E402
import fxtsamples  # noqa: E402
import json_out_test as json_out  # noqa: E402
import json_reader  # noqa: E402
from trace import Trace  # noqa: E402
from harness import (PATIENCE, TRACEFS, command_of, equal, expect, helper, last_cpu, main, note, record,  # noqa: E402
                     run, scaled, start, stop_while, test, verify)

BUSY = ['sh', '-c', 'find /usr/share -type f | head -n 300 | xargs cat | gzip >"$0"; sync "$0"; '
        f'"$1" {scaled(500)} 0; echo "B|$$|x" >{TRACEFS}/trace_marker || :; '
        'echo "<6>kfxt test" >/dev/kmsg || :; kill -CONT $$']
# What each is to have: kinds of events, and a part of the category or name of one.
SOURCES = {
    'nothing': ([], 'slices', 'did not run'),
    'log': (['-e', 'log'], 'instants', 'kfxt test'),
    'marker': (['-e', 'marker'], 'slices', 'x'),
    'signal': (['-e', 'signal'], 'instants', 'signal'),
    'migrate': (['-e', 'migrate'], 'instants', None),
    'irq': (['-e', 'irq'], 'slices', 'irq'),
    'workqueue': (['-e', 'workqueue'], 'slices', 'workqueue'),
    'power': (['-e', 'power'], 'samples', None),
    'block': (['-e', 'block'], 'asyncs', None),
    'psi': (['-e', 'psi'], 'samples', 'pressure'),
    'syscalls': (['-e', 'syscalls:openat'], 'slices', 'openat'),
    'tracepoints': (['-e', 'sched:sched_process_exec'], 'instants', 'sched_process_exec'),
    'functions': (['-u', 'libc:setlocale', '--returns'], 'slices', 'setlocale'),
}


def seems_awake(records, thread, ts):
    """Whether by the last record of it before @ts the thread runs or could run: what is later is lost in a gap."""
    awake = False
    for record in records:
        if record[0] >= ts:
            break
        if len(record) == 6:        # a wakeup
            awake |= record[2] == thread
        elif thread in record[2:4]:
            awake = record[3] == thread or record[4] == 'R'
    return awake


def compare_scheduling(first, again):
    """The same, but across gaps: what is implied, and wakeups of threads that ran and slept unreported."""
    records = sorted(json_out.scheduling(first), key=lambda record: record[0])
    before, after = collections.Counter(records), collections.Counter(json_out.scheduling(again))
    has_gaps = bool(json_out.gaps(first))
    missing, new = ([item for item in items.elements() if not has_gaps or item[-1] != 'implied']
                    for items in (before - after, after - before))
    if has_gaps:
        missing = [item for item in missing if len(item) != 6 or not seems_awake(records, item[2], item[0])]
    equal((missing[:4], new[:4]), ([], []), 'switches and wakeups that did not come back, or were not there')
    return sum(before.values())


def names_of(trace, kind):
    if kind == 'asyncs':
        return [e['name'] for e in trace.events if e['ph'] in 'bne']
    return [f'{getattr(item, "cat", "")} {item.name}' for item in getattr(trace, kind)]


def there_and_back(tmp, name):
    options, kind, part = SOURCES[name]
    fxt, path, again = tmp + '/t.fxt', tmp + '/t.json', tmp + '/again.fxt'
    record(fxt, *options, '--', *BUSY, tmp + '/out', helper('pingpong'))
    verify(fxt)
    json_out.convert(fxt, path)
    json_out.check_shape(path)
    trace = json_reader.read(path)
    json_out.check_events(json_out.Expected(fxt), trace)
    names = names_of(trace, kind)
    expect(part is None or any(part in found for found in names), f'no {part} in {names[:9]}')
    json_out.convert(path, again)
    verify(again)
    note(f'{name}: {compare_scheduling(fxt, again)} records of scheduling, {len(names)} {kind}')
    for form in 'slices', 'states':
        json_out.convert(fxt, path, '--sched=' + form)
        json_out.check_shape(path)


for source in SOURCES:
    fn = functools.partial(there_and_back, name=source)
    fn.__name__ = source
    test(fn)


@test
def losses(tmp):
    """The smallest of rings, and a recorder that is stopped again and again."""
    fxt, path, again = tmp + '/t.fxt', tmp + '/t.json', tmp + '/again.fxt'
    p = start(fxt, '-m', '4K', '--', helper('pingpong'), str(10 ** 9), str(last_cpu()), stdout=subprocess.DEVNULL)
    for _ in range(5):
        stop_while(p, command_of(p), scaled(3000))
        time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=3 * PATIENCE)[1].decode()
    equal(p.returncode, 0, err)
    lost = sum(item[3] for item in json_out.losses(fxt))
    expect(lost > scaled(100), f'only {lost} events were lost: the test proves nothing')
    json_out.convert(fxt, path)
    json_out.convert(path, again)
    verify(again)
    equal(sum(item[3] for item in json_out.losses(again)), lost, 'lost')
    begins = [sorted(item[:2] for item in json_out.losses(path)) for path in (again, fxt)]
    equal(*begins, 'gaps')
    note(f'{compare_scheduling(fxt, again)} records of scheduling, {lost} events lost')


def samples_of(fxt, users):
    """How often there is each sample; threads of the kernel belong to no process of @users, or to one of the format's own."""
    read = fxtsamples.read(fxt)
    equal(read.problems, [], f'problems of samples in {fxt}')
    return collections.Counter((s.source, s.ts, s.cpu, s.process if s.process in users else 0, s.thread, s.weight,
                                tuple((f.name, f.mapping or '') for f in s.frames)) for s in read.samples)


def profiles(tmp, fxt, samples):
    """Folded stacks and speedscope's: all samples of a source, and all of their time."""
    for source in 'cpu', 'off-cpu', 'waker':
        mine = {sample: n for sample, n in samples.items() if sample[0] == source}
        expected = sum(mine.values()), sum(n * sample[5] for sample, n in mine.items())
        json_out.convert(fxt, tmp + '/t.folded', '--stacks=' + source)
        with open(tmp + '/t.folded', encoding='utf-8') as f:
            folded = [int(line.rpartition(' ')[2]) for line in f]
        # Of sleeps they are microseconds, of each distinct stack rounded once.
        at_most = len(folded) if source != 'cpu' else 0
        expect(abs(sum(folded) - (expected[1] / 1000 if at_most else expected[0])) <= at_most, f'{source}: {sum(folded)} of {expected}')
        json_out.convert(fxt, tmp + '/t.speedscope.json', '--stacks=' + source)
        with open(tmp + '/t.speedscope.json', encoding='utf-8') as f:
            found = [p['weights'] for p in json.load(f)['profiles']]
        equal((sum(map(len, found)), sum(map(sum, found))), (expected[0], expected[1] or expected[0]), f'speedscope of {source}')


@test
def stack_samples(tmp):
    """Of all threads of the machine, by all ways out, and back."""
    fxt, again = tmp + '/t.fxt', tmp + '/again.fxt'
    record(fxt, '--stacks', '--sample=999', '--', helper('stacks'), 'sleep', str(scaled(100)))
    verify(fxt)
    users = set(Trace(fxt).processes)
    samples = samples_of(fxt, users)
    equal({sample[0] for sample in samples}, {'cpu', 'off-cpu', 'waker'}, 'sources')
    for form in 'json', 'pftrace':
        json_out.convert(fxt, f'{tmp}/t.{form}')
        json_out.convert(f'{tmp}/t.{form}', again)
        verify(again)
        back = samples_of(again, users)
        equal(((samples - back).most_common(3), (back - samples).most_common(3)), ([], []), f'not those of the recording, {form}')
    profiles(tmp, fxt, samples)
    note(f'{sum(samples.values())} samples')


@test
def record_refuses(tmp):
    """It writes FXT only, and says how to get JSON."""
    for name in 't.json', 't.json.gz', 't.json.zst':
        r = run('record', '-d', '10ms', '-o', f'{tmp}/{name}')
        equal((r.returncode, os.path.exists(f'{tmp}/{name}')), (2, False), r.stderr)
        expect(f'kfxt convert -o {tmp}/{name}' in r.stderr.decode(), r.stderr)


if __name__ == '__main__':
    sys.exit(main('exports'))
