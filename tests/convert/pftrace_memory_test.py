#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on Perfetto traces that are larger than the memory it may take, in order, in none, and compressed.

    pftrace_memory_test.py BUILD_DIR

Compares what is resident with the limit, and the traces with each other. Prints TAP and the totals.
"""
import array
import json
import mmap
import os
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import fxtread  # noqa: E402
from pftrace_made import BEGIN, BOOT, END, INSTANT, MONO, T, event, msg, num, packet, snapshot, thread  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
EVENTS = 210000         # some 45 MB, and 55 MB of what is sorted
STRIDE = 190027         # has no divisor in common with EVENTS: the times come in an order like none
LIMIT_KIB = 64 << 10    # whatever the order
THREADS = 7
SEQUENCES = 300         # each with state of its own
TEXT = 'x' * 140
AT_ONCE = 5000          # packets that are compressed together


def one(i):
    """On each thread slices begin and end in turn, with an instant in each."""
    kind, uuid = (BEGIN, INSTANT, END)[i // THREADS % 3], i % THREADS + 1
    args = msg(4, msg(10, 'text'), msg(6, TEXT + str(i)))
    return event(T + i * 10, kind, f'event {i // THREADS // 3 % 100}', uuid, args, seq=1 + i % SEQUENCES)


def bomb():
    """300 MB of empty packets."""
    z = zlib.compressobj(9)
    return b''.join(z.compress(b'\n\0' * 500000) for _ in range(300)) + z.flush()


def make(path):
    """The events in order; where each begins. Not as a whole: what is resident here counts for kfxt, too."""
    begin = array.array('I')
    with open(path, 'wb', 1 << 20) as file:
        file.write(b''.join(thread(uuid, 10, 10 + uuid, f'thread {uuid}') for uuid in range(1, THREADS + 1)))
        for i in range(EVENTS):
            begin.append(file.tell())
            file.write(one(i))
        begin.append(file.tell())
    return begin


def shuffle(path, begin, data):
    """The same in an order like none."""
    with open(path, 'wb', 1 << 20) as file:
        file.write(data[:begin[0]])
        for i in range(EVENTS):
            k = i * STRIDE % EVENTS
            file.write(data[begin[k]:begin[k + 1]])


def compress(path, begin, data):
    """The same, some thousand packets at a time, and one that is too large."""
    ends = [0, *begin[AT_ONCE:EVENTS:AT_ONCE], begin[EVENTS]]
    with open(path, 'wb') as file:
        for a, b in zip(ends, ends[1:]):
            file.write(packet(msg(50, zlib.compress(data[a:b], 1)), seq=0))
        file.write(packet(msg(50, bomb()), seq=0))


class Run:
    """A conversion: its counts, and the most KiB that were resident."""

    def __init__(self, path, out, piped=False):
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


def counts(run):
    """Slices and instants, as the independent reader finds them."""
    kinds = [r['event_type'] for r in fxtread.read(run.out) if r['type'] == 'event']
    return [kinds.count(kind) for kind in ('duration_begin', 'duration_end', 'instant')]


def state(tmp):
    """Interned strings that are given anew again and again: tables are emptied, and strings kept once."""
    path = os.path.join(tmp, 'state.pftrace')
    with open(path, 'wb') as file:
        file.write(thread())
        names = msg(12, b''.join(msg(2, num(1, n + 1), msg(2, f'name {n} ' + TEXT)) for n in range(100)))
        for i in range(4000):
            file.write(packet(names, msg(11, num(9, INSTANT), num(11, 1), num(10, i % 100 + 1)), flags=1, ts=T + i))
    return Run(path, os.path.join(tmp, 'state.fxt'))


def waiting(tmp):
    """Events of a clock that only the end of the file relates to the trace's: some 20 MB."""
    path = os.path.join(tmp, 'waiting.pftrace')
    with open(path, 'wb', 1 << 20) as file:
        file.write(thread())
        for i in range(EVENTS // 2):
            args = msg(4, msg(10, 'text'), msg(6, TEXT + str(i)))
            file.write(packet(num(58, MONO), msg(11, num(9, INSTANT), num(11, 1), msg(23, 'waits'), args), ts=i))
        file.write(snapshot((BOOT, T), (MONO, 0)))
    return Run(path, os.path.join(tmp, 'waiting.fxt'))


def checks(tmp):
    paths = {name: os.path.join(tmp, name + '.pftrace') for name in ('sorted', 'compressed', 'unsorted')}
    begin = make(paths['sorted'])
    with open(paths['sorted'], 'rb') as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        compress(paths['compressed'], begin, data)
        shuffle(paths['unsorted'], begin, data)
    runs = [Run(path, path + '.fxt', name == 'sorted') for name, path in paths.items()]
    in_order, compressed, unsorted = runs
    runs += [state(tmp), waiting(tmp)]
    yield 'all are converted', all(r.code == 0 for r in runs)
    yield 'no more than the limit is resident', max(r.kib for r in runs) <= LIMIT_KIB, [r.kib for r in runs]
    yield 'a temporary file is used', all(r.stats['input']['sorted_runs'] > 1 for r in runs[:3])
    found = counts(in_order)
    yield 'all events are there', found == [EVENTS // 3] * 3, found
    yield 'the trace is the same', same(in_order, unsorted) and same(in_order, compressed)
    yield 'what is decompressed is bounded', compressed.stats['input']['dropped'] == {'damaged packet': 1}, \
        compressed.stats['input']['dropped']
    yield 'state that is given anew', runs[3].stats['output']['instants'] == 4000
    yield 'all wait for their clock', runs[4].stats['output']['instants'] == EVENTS // 2, runs[4].stats['output']['instants']


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, ok, *what in checks(tmp):
            passed, failed = passed + bool(ok), failed + (not ok)
            print(f'{"ok" if ok else "not ok"} - {name}' + (f': {what[0]}' if what and not ok else ''))
    print(f'pftrace_memory: {passed} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
