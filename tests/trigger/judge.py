#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A second computation of what triggers find in a recording, which shares nothing with user/trigger.

    judge.py BUILD FILE WORD...     runs build/tests/trigger_records and compares; 1 if they differ

All records are sorted by time first, so nothing here comes out of order. Each time between two records of a
thread is cut where any CPU is not recorded, and what is left is judged piece by piece.
"""
import bisect
import collections
import gzip
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import fxtread  # noqa: E402

UNITS = {'ns': 1, 'us': 10**3, 'ms': 10**6, 's': 10**9, 'm': 60 * 10**9, 'h': 3600 * 10**9}
OUT, WOKEN, IN, OUT_AT_ONCE = range(4)       # also the order of equal times
END = 2**64 - 1
Record = collections.namedtuple('Record', 'ts order seq what mark cpu')
Found = collections.namedtuple('Found', 'value begin end thread cpu goes_on partial')
Expected = collections.namedtuple('Expected', 'found begin end')   # and the records it is between


def parse_time(text):
    number, unit = re.fullmatch(r'([\d.]+)(ns|us|ms|s|m|h)', text).groups()
    return round(float(number) * UNITS[unit])


def cpu_list(text):
    cpus = set()
    for part in text.split(','):
        first, _, last = part.partition('-')
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


class Recording:
    """What is in the file: records of each thread, switches of each CPU, times that are blind."""

    def __init__(self, source):
        self.threads = collections.defaultdict(list)
        self.cpus = collections.defaultdict(list)
        self.names, self.process_of, self.cgroups = {}, {}, {}
        self.blind, self.begin, self.last = [], 0, 0
        self.gaps = []          # as they are marked: some of what is blind is noticed only later
        self.filtered = self.blank = False
        gaps = {}
        for seq, rec in enumerate(fxtread.read(source)):
            args = {name: value for name, _, value in rec.get('arguments', ())}
            if rec['type'] == 'context_switch':
                self.add_switch(seq, rec, args, gaps)
            elif rec['type'] == 'thread_wakeup':
                self.add(rec['waking_thread_id'], rec, WOKEN, seq, 'woken', args.get('mark'))
            elif rec['type'] == 'kernel_object':
                self.add_object(rec, args)
            elif rec['type'] == 'event' and rec.get('category') == 'kfxt' and rec.get('name') == 'start':
                self.filtered |= 'filter' in args
                self.blank |= bool(cpu_list(args['online']) - cpu_list(args['cpus']))
        for records in self.threads.values():
            records.sort()

    def add(self, thread, rec, order, seq, what, mark):
        ts = rec['timestamp']
        self.last = max(self.last, ts)
        if thread:
            self.threads[thread].append(Record(ts, order, seq, what, mark, rec.get('cpu_number')))

    def add_object(self, rec, args):
        if rec['kernel_object_type'] == 2:
            self.names[rec['koid']] = rec['name']
            self.process_of[rec['koid']] = args.get('process')
        elif 'cgroup' in args:
            self.cgroups[rec['koid']] = args['cgroup']

    def add_switch(self, seq, rec, args, gaps):
        mark, ts, cpu = args.get('mark'), rec['timestamp'], rec['cpu_number']
        left, came = rec['outgoing_thread_id'], rec['incoming_thread_id']
        what = {1: 'ready', 2: 'sleeps', 3: 'sleeps', 4: 'dead', 5: 'dead'}.get(rec['outgoing_thread_state'], 'unknown')
        if what == 'sleeps' and args.get('linux_state') == 'D':
            what = 'blocked'
        if 'filtered' in args or mark not in (None, 'state'):
            what = 'unknown'
        last = self.cpus[cpu][-1] if self.cpus[cpu] and self.cpus[cpu][-1][3] != 'stop' else None
        first_of_gap = mark == 'gap' and cpu not in gaps
        # It may have left without a record, and been seen elsewhere before the gap was noticed.
        has_left = first_of_gap and last and last[2] == left and last[0] < max((r.ts for r in self.threads[left]), default=0) <= ts
        at_once = self.cpus[cpu] and self.cpus[cpu][-1][0] == ts and self.cpus[cpu][-1][2] == left
        if not has_left:
            self.add(left, rec, OUT_AT_ONCE if at_once else OUT, seq, what, mark)
        else:
            self.last = max(self.last, ts)
        if mark == 'state':
            return
        self.add(came, rec, IN, seq, 'unsure' if mark in ('start', 'gap') else 'runs', mark)
        self.cpus[cpu].append((ts, left, came, mark))
        if mark == 'start':
            self.begin = max(self.begin, ts)
        elif mark == 'stop':
            self.blind.append((ts, END))
            self.gaps.append((ts, END))
        elif mark == 'gap' and cpu in gaps:
            since, begin = gaps.pop(cpu)
            self.blind.append((since, ts))
            self.gaps.append((begin, ts))
        elif mark == 'gap':
            gaps[cpu] = min(last[0], ts) if last else ts, ts      # what the kernel did not report was since then


def clear_pieces(recording, begin, end, held, early):
    """Parts of [begin, end] in which all CPUs are recorded, and whether each is at its begin, at its end."""
    cuts = [(a, b) for a, b in (recording.gaps if early else recording.blind) if a < end and b > begin]
    if not held and begin < recording.begin:
        cuts.append((0, recording.begin))
    pieces, at = [], begin
    for a, b in sorted(cuts):
        if a > at:
            pieces.append((at, min(a, end)))
        at = max(at, b)
    if at < end:
        pieces.append((at, end))
    return [(a, b, a == begin, b == end) for a, b in pieces]


def judge_pair(kind, recording, before, after):
    """Which pieces count between two records of a thread: whole, first, middle, last."""
    what, mark = before.what, before.mark
    runs = after is not None and after.what == 'runs'
    again = after is not None and after.what == 'woken' and after.mark == 'gap'
    implied = after is not None and after.what == 'woken' and after.mark == 'implied'
    behind = runs and not recording.filtered
    if kind == 'runq':
        waits = (what == 'ready' or (what == 'woken' and mark != 'implied')) and not again
        return waits and (runs or after is None), waits, False, behind
    if kind == 'blocked':
        waits = what == 'blocked' and not again and not implied
        woken = after is not None and after.what == 'woken' and after.mark is None
        return waits and (woken or after is None), waits, False, False
    waits = what in ('ready', 'sleeps', 'blocked') and not again
    return waits and (runs or after is None), waits, behind, behind


def find_waits(kind, recording, least, end, early):
    for thread, records in recording.threads.items():
        if kind == 'offcpu':
            records = [r for r in records if r.order != WOKEN or r.mark == 'gap']
        for before, after in zip(records, records[1:] + [None]):
            to = after.ts if after else end
            held = before.mark == 'state'
            whole, first, middle, last = judge_pair(kind, recording, before, after)
            best = None
            for a, b, is_first, is_last in clear_pieces(recording, before.ts, to, held, early):
                counts = (whole if is_first and is_last else first if is_first else last if is_last else middle)
                all_of_it = is_first and is_last
                found = Found(b - a, a, b, thread, -1, after is None and b == to, held or not all_of_it)
                if counts and early and found.value > least:
                    yield Expected(found, before.ts, to)
                elif counts and b - a > (best.value if best else 0):
                    best = found
            if best and not early and best.value > least:
                yield Expected(best, before.ts, to)


def find_slices(recording, least, end, early):
    for cpu, switches in recording.cpus.items():
        runs = None
        in_gap = False
        for ts, left, came, mark in switches:
            may_have_left = mark == 'gap' and not early
            if runs and runs[0] == left and ts - runs[1] > least and not may_have_left:
                found = Found(ts - runs[1], runs[1], ts, left, cpu, False, runs[2] or mark == 'stop')
                yield Expected(found, runs[1], ts)
            in_gap ^= mark == 'gap'
            known = mark != 'stop' and not in_gap
            runs = (came, ts, mark in ('start', 'gap')) if came and known else None
        if runs and end - runs[1] > least:
            yield Expected(Found(end - runs[1], runs[1], end, runs[0], cpu, True, runs[2]), runs[1], end)


def find_share(recording, idle, share, window, end):
    step = window // 10
    for cpu, switches in recording.cpus.items():
        begins, ends, known, at, in_gap = [], [], [], None, False
        for (ts, _, came, mark), after in zip(switches, switches[1:] + [(end, 0, 0, None)]):
            in_gap ^= mark == 'gap'
            if mark != 'stop' and not in_gap:
                known.append((ts, after[0]))
                if bool(came) != idle and not (idle and recording.filtered):
                    begins.append(ts)
                    ends.append(after[0])
        was_over = False
        for at in range((switches[0][0] // step + 1) * step, end + 1, step):
            busy = overlap(begins, ends, at - window, at)
            value = -(-busy * 10**6 // window)
            seen = overlap([a for a, _ in known], [b for _, b in known], at - window, at)
            if value > share and not was_over:
                found = Found(value, at - window, at, 0, cpu, False, recording.filtered or seen < window)
                yield Expected(found, at - window, at)
            was_over = value > share


def overlap(begins, ends, begin, end):
    total = 0
    for i in range(max(bisect.bisect_right(begins, begin) - 1, 0), len(begins)):
        if begins[i] >= end:
            break
        total += max(0, min(ends[i], end) - max(begins[i], begin))
    return total


def expect(recording, word, early=False):
    """@early: with all that may be found before it is known that it was blind."""
    kind, value = word.split('>')
    end = recording.last + 1
    if kind in ('busy', 'idle'):
        share, window = value.split('%/')
        return list(find_share(recording, kind == 'idle', round(float(share) * 10**4), parse_time(window), end))
    least = parse_time(value)
    if kind == 'slice':
        return list(find_slices(recording, least, end, early))
    return [] if recording.blank else list(find_waits(kind, recording, least, end, early))


def run(build, path, rounds, words):
    done = subprocess.run([f'{build}/tests/trigger_records', path, str(rounds), *words], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise RuntimeError(f'trigger_records: {done.returncode}: {done.stderr}')
    fired = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        word, *numbers = line.split('\t')[:8]
        numbers = [int(n) for n in numbers]
        fired[word].append(Found(*numbers[:5], bool(numbers[5]), bool(numbers[6])))
    return fired


def differences(expected, sooner, fired, exact):
    """Sentences. Unless @exact, a part of a wait may have been found while it went on, or before a gap was noticed, as in @sooner."""
    left = collections.Counter(expected)
    by_found = {e.found: e for e in expected}
    early = []
    for found in fired:
        if left[by_found.get(found)]:
            left[by_found[found]] -= 1
        elif not exact:
            early.append(found)
        else:
            yield f'not expected: {found}'
    rest = list(left.elements())
    for found in early:
        whole = next((e for e in rest if e.found.thread == found.thread and e.begin <= found.begin and
                      found.end <= e.end), None)
        if whole:
            rest.remove(whole)
        elif not any(e.found.thread == found.thread and e.found.begin <= found.begin and found.end <= e.found.end for e in sooner):
            yield f'not expected so early: {found}'
    yield from (f'not found: {e}' for e in rest)


def compare(build, path, words, rounds=(0,)):
    """(number expected by word, sentences about differences)"""
    recording = Recording(path)
    expected = {word: expect(recording, word) for word in words}
    sooner = {word: expect(recording, word, True) for word in words}
    problems = []
    for each in rounds:
        fired = run(build, path, each, words)
        for word in words:
            problems += [f'{word}, rounds of {each}: {text}' for text in
                         differences(expected[word], sooner[word], fired[word], each == 0)]
    return {word: len(found) for word, found in expected.items()}, problems


def main():
    build, path, *words = sys.argv[1:]
    with tempfile.NamedTemporaryFile(suffix='.fxt') as plain:
        if path.endswith('.gz'):
            plain.write(gzip.open(path).read())
            plain.flush()
            path = plain.name
        counts, problems = compare(build, path, words, (0, 1, 7, 1000))
    print(counts)
    print('\n'.join(problems[:20]))
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
