#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Stack samples of FXT files, by the schema of Perfetto's packets alone: nothing of kfxt.

    fxtsamples.py FILE...       a sample a line

Strict: an id that was not interned before its sample, a sample without state, thread, time or source is a problem.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fxtread  # noqa: E402
from pftrace_reader import Damage, message, one  # noqa: E402

Frame = collections.namedtuple('Frame', 'name mapping build_id rel_pc source line kind')
Sample = collections.namedtuple('Sample', 'ts source process thread cpu user weight frames')
TEXTS = (5, 17, 18)         # functions, paths of mappings, source files
BUILD_IDS, MAPPINGS, FRAMES, STACKS = 16, 19, 6, 7
KINDS = (None, 'native', 'kernel', 'interpreted', 'jit')


class Samples:
    """All samples of the BLOBs that were fed, in the order of the file, and problems."""

    def __init__(self):
        self.samples, self.problems = [], []
        self.tables, self.defaults = {}, {}     # by sequence; of a sequence by table and id

    def feed(self, payload):
        for packet in message(payload)[1]:
            self.packet(message(packet))

    def packet(self, found):
        sequence, flags = one(found, 10), one(found, 13, 0)
        if flags & 1 or one(found, 41):
            self.tables[sequence], self.defaults[sequence] = collections.defaultdict(dict), {}
        if sequence not in self.tables:
            self.tables[sequence] = None
        if 59 in found:
            self.defaults[sequence] = message(one(found, 59))
        table = self.tables[sequence]
        if 12 in found and table is not None:
            self.intern(table, message(one(found, 12)))
        for number in (66, 135):
            for data in found.get(number, ()):
                if not sequence or table is None:
                    self.problems.append(f'sample at {one(found, 8)} without state')
                else:
                    self.sample(number, message(data), one(found, 8), table, self.defaults[sequence])

    def intern(self, table, found):
        for number in (*TEXTS, BUILD_IDS, MAPPINGS, FRAMES, STACKS):
            for data in found.get(number, ()):
                entry = message(data)
                iid = one(entry, 1)
                if not iid or iid in table[number]:
                    self.problems.append(f'id {iid} of table {number} is given again')
                if number in TEXTS:
                    entry = one(entry, 2, b'').decode('utf-8', 'replace')
                elif number == BUILD_IDS:
                    entry = one(entry, 2, b'').hex()
                table[number][iid] = entry

    def look_up(self, table, number, iid):
        if iid is None:
            return None
        if iid not in table[number]:
            self.problems.append(f'id {iid} of table {number} is not known')
        return table[number].get(iid)

    def frame(self, table, iid):
        found = self.look_up(table, FRAMES, iid) or {}
        mapping = self.look_up(table, MAPPINGS, one(found, 3)) or {}
        return Frame(self.look_up(table, 5, one(found, 2)) or '', self.look_up(table, 17, one(mapping, 7)) or '',
                     self.look_up(table, BUILD_IDS, one(mapping, 2)) or '', one(found, 4, 0),
                     self.look_up(table, 18, one(found, 5)) or '', one(found, 6, 0), KINDS[one(found, 7, 0)])

    def sample(self, number, found, ts, table, defaults):
        if number == 66 and one(found, 17):
            return      # says how many were lost
        if number == 66:
            base = message(one(message(one(defaults, 12, b'')), 1, b''))
            source, weight = 'cpu', round(1e9 / one(base, 2)) if 2 in base else 0
            process, thread, cpu, user, iid = *(one(found, n) for n in (2, 3, 1)), one(found, 5) == 2, one(found, 4)
        else:
            source = one(message(one(defaults, 100, b'')), 1, b'').decode()
            task, at = message(one(found, 1, b'')), message(one(found, 3, b''))
            process, thread, cpu, user = one(task, 2), one(task, 3), one(at, 2), one(at, 3) == 1
            iid, weight = one(found, 6), one(found, 11)
        if None in (ts, process, thread) or not source:
            self.problems.append(f'sample of {source!r}, thread {process}/{thread}, time {ts}')
        stack = self.look_up(table, STACKS, iid)
        frames = [self.frame(table, i) for i in stack[2]] if stack else []
        self.samples.append(Sample(ts, source, process, thread, cpu, user, weight, frames))


def read(path):
    """Samples of a file, whose every BLOB of Perfetto's type must be packets."""
    found = Samples()
    with open(path, 'rb') as file:
        for record in fxtread.Reader(file):
            if record['type'] == 'blob' and record['blob_type'] == 3:
                found.feed(record['payload'])
    return found


def main():
    failed = False
    for path in sys.argv[1:]:
        found = read(path)
        for s in found.samples:
            print(s.ts, s.source, f'{s.process}/{s.thread}', s.cpu, 'user' if s.user else 'kernel', s.weight,
                  ';'.join(f.name for f in s.frames))
        for problem in found.problems:
            print(f'{path}: {problem}', file=sys.stderr)
        failed |= bool(found.problems)
    return failed


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (OSError, Damage, fxtread.Damage) as error:
        sys.exit(f'fxtsamples: {error}')
