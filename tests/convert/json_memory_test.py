#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on Trace Event JSON that is larger than the memory it may take, in order and in none.

    json_memory_test.py BUILD_DIR

Compares what is resident with the limits, and the traces with each other. Prints TAP and the totals.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import fxtread  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
EVENTS = 200000         # some 40 MB
STRIDE = 190027         # has no divisor in common with EVENTS: the times come in an order like none
LIMIT_KIB = 64 << 10    # whatever the order
SORTED_KIB = 24 << 10   # in order: this process has as much before it becomes kfxt
TEXT = 'x' * 80
FRAMES, SAMPLES = 100000, 80000


def event(i):
    """Of each ten, one begins and the next one ends a slice."""
    phase = {3: 'B', 4: 'E'}.get(i % 10, 'X')
    more = f',"dur":{i % 3}.5' if phase == 'X' else ''
    return f'{{"ph":"{phase}","pid":1,"tid":{i % 7 + 1 if phase == "X" else 9},"ts":{i * 10},"name":"event {(i - (phase == "E")) % 100}"{more},' \
           f'"args":{{"number":{i},"text":"{TEXT}"}}}}'


def make(path, order):
    """Not as a whole: what is resident here counts for kfxt, too."""
    with open(path, 'w', encoding='ascii') as file:
        for n, i in enumerate(order):
            file.write((',\n' if n else '[') + event(i))
        file.write(',\n{"ph":"M","pid":1,"tid":1,"ts":5,"name":"thread_name","args":{"name":"t"}}]')


class Run:
    """A conversion: its counts, and the most KiB that were resident."""

    def __init__(self, path, out, piped):
        with open(path, 'rb') as file, open(out + '.stats', 'w+', encoding='utf-8') as stats:
            p = subprocess.Popen([KFXT, 'convert', '-q', '--stats=json', '-o', out, '-' if piped else path], stdout=stats,
                                 stdin=file if piped else subprocess.DEVNULL)
            _, p.returncode, usage = os.wait4(p.pid, 0)
            stats.seek(0)
            self.stats = json.load(stats)
        self.code, self.kib, self.out = p.returncode, usage.ru_maxrss, out


def same(a, b):
    with open(a.out, 'rb') as x, open(b.out, 'rb') as y:
        return x.read() == y.read()


def is_in_order(run, slices):
    """By begin."""
    times = [r['timestamp'] for r in fxtread.read(run.out) if r['type'] == 'event']
    return len(times) == slices and times == sorted(times)


def checks(tmp):
    inputs = {'sorted': range(EVENTS), 'unsorted': (i * STRIDE % EVENTS for i in range(EVENTS))}
    runs = {}
    for name, order in inputs.items():
        path = os.path.join(tmp, name + '.json')
        make(path, order)
        runs[name] = [Run(path, os.path.join(tmp, f'{name}-{piped}.fxt'), piped) for piped in (False, True)]
    in_order, piped, unsorted, unsorted_piped = *runs['sorted'], *runs['unsorted']
    every = [in_order, piped, unsorted, unsorted_piped]
    yield 'all are converted', all(r.code == 0 and r.stats['input']['events'] == EVENTS + 1 for r in every)
    yield 'no more than the limit is resident', max(r.kib for r in every) <= LIMIT_KIB, [r.kib for r in every]
    yield 'a file that is in order takes little memory', in_order.kib <= SORTED_KIB, in_order.kib
    yield 'and no temporary file, with names and their time at its end', in_order.stats['input']['sorted_runs'] == 0
    yield 'the others take one', all(r.stats['input']['sorted_runs'] > 1 for r in every[1:])
    yield 'the trace is the same', same(in_order, piped) and same(unsorted, unsorted_piped)
    yield 'and in order', all(is_in_order(r, EVENTS * 9 // 10) for r in (in_order, unsorted))


def make_members(path):
    """Frames and samples, some 12 MB each, after the event: more than is kept of any other member."""
    with open(path, 'w', encoding='ascii') as file:
        file.write('{"traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"i"}],"stackFrames":{')
        for i in range(FRAMES):
            file.write(f'{"," if i else ""}"{i}":{{"name":"f{i}","text":"{TEXT}"}}')
        file.write('},"samples":[')
        for i in range(SAMPLES):
            file.write(f'{"," if i else ""}{{"tid":1,"ts":{i + 2},"name":"cycles","weight":1,"sf":{i},"text":"{TEXT}"}}')
        file.write(']}')


def check_members(tmp):
    path = os.path.join(tmp, 'members.json')
    make_members(path)
    for piped in False, True:
        run = Run(path, os.path.join(tmp, 'members.fxt'), piped)
        counts = run.stats['input']
        got = [counts[key] for key in ('listed_samples', 'bad_samples', 'dropped_frames', 'members_skipped')]
        yield f'members of any length are read{", in a pipe" * piped}', got == [SAMPLES, 0, 0, 0], got
        yield 'and all become samples', run.stats['output']['samples'] == SAMPLES, run.stats['output']['samples']
        yield 'in as much memory', run.kib <= LIMIT_KIB, run.kib


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, ok, *what in itertools.chain(checks(tmp), check_members(tmp)):
            passed, failed = passed + bool(ok), failed + (not ok)
            print(f'{"ok" if ok else "not ok"} - {name}' + (f': {what[0]}' if what and not ok else ''))
    print(f'json_memory: {passed} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
