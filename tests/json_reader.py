#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Reads Trace Event JSON by the public description of the format alone; for tests.

    json_reader.py FILE...      what is in each, as one JSON object a line

Times are exact to the nanosecond. Pairs begins with ends after a stable sort by time: an end with
a name ends the innermost open slice of that name, one without the innermost. Shares nothing with
kfxt: where the two differ, one of them is wrong.
"""
import collections
import decimal
import gzip
import json
import re
import sys

import json_lenient

Slice = collections.namedtuple('Slice', 'pid tid ts dur cat name args bind')  # bind: id, flow_in; or None
Async = collections.namedtuple('Async', 'key name ts dur args')
Instant = collections.namedtuple('Instant', 'pid tid ts cat name scope args')
Sample = collections.namedtuple('Sample', 'pid name id series ts value')
Flow = collections.namedtuple('Flow', 'ph pid tid ts cat name id bp')
State = collections.namedtuple('State', 'pid tid ts dur name args')

LAST_NS = 2**63 - 1
INFINITE = 2**64
TIME = re.compile(r'-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?')
# Phases that mean something; all others are counted.
SLICES, ASYNCS, FLOWS, INSTANTS, MARKS = 'BEX', 'bneSTpFNOD', 'stf', 'iIR', 'Vvc()'


class Unusable(Exception):
    """An event that can be nothing; the reason."""


def time_ns(value):
    """Microseconds, a number or the text of one, as ns; halves are rounded away from zero. None: no time."""
    if isinstance(value, bool) or not isinstance(value, (int, str, decimal.Decimal)):
        return None
    if isinstance(value, str) and not TIME.fullmatch(value):
        return None
    number = decimal.Decimal(value)
    if number and number.adjusted() > 20:
        return None
    with decimal.localcontext() as context:
        context.prec = 60
        context.Emin = -decimal.MAX_EMAX
        ns = int((number * 1000).to_integral_value(decimal.ROUND_HALF_UP))
    return ns if abs(ns) <= LAST_NS else None


def thread_id(value):
    """A number where it is one or the text of one, else the text."""
    if isinstance(value, decimal.Decimal) and value == value.to_integral_value():
        return int(value)
    if isinstance(value, str) and re.fullmatch('-?[0-9]+', value):
        return int(value)
    is_id = isinstance(value, (int, str)) and not isinstance(value, bool)
    return value if is_id else json.dumps(value, default=text_of)


def text_of(value):
    """Of an id or a name: as it was written; a number and the same in quotes are one."""
    if isinstance(value, json_lenient.Number):
        return value.text
    if value is None or isinstance(value, (dict, list)):
        return ''
    return str(value).lower() if isinstance(value, bool) else str(value)


def number_of(value):
    """The value of a counter, None if it is none."""
    if isinstance(value, str) and not json_lenient.NUMBER.fullmatch(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, str, decimal.Decimal)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return value if abs(number) < float('inf') else None


def order(s):
    """By begin, the longer ones first."""
    return s.ts, -INFINITE if s.dur is None else -s.dur


def overlaps(slices):
    """Of the slices of one thread those that do not nest in what is open when they begin; some never end."""
    found, ends = [], []
    for s in sorted(slices, key=order):
        end = INFINITE if s.dur is None else s.ts + s.dur
        while ends and ends[-1] <= s.ts:
            ends.pop()
        if ends and end > ends[-1]:
            found.append(s)
        else:
            ends.append(end)
    return found


class Trace:
    """What a file has: .slices, .asyncs, .instants, .samples, .flows, .states, .names, .members, ..."""

    def __init__(self, text):
        self.text = json_lenient.Text(text)
        self.members, self.error = self.text.members, self.text.error
        self.events = [e for e in self.text.events if e]
        self.by_phase = collections.Counter(self.phase(e) or 'none' for e in self.events)
        self.processes, self.threads, self.metadata = {}, {}, []
        self.slices, self.asyncs, self.instants, self.samples, self.flows, self.states = [], [], [], [], [], []
        self.unmatched, self.unusable = collections.Counter(), collections.Counter()
        self.open, self.open_asyncs = collections.defaultdict(list), collections.defaultdict(list)
        self.async_instants, self.steps, self.objects, self.samples_of_stacks = [], [], [], 0
        self.times = []
        timed = []
        for event in self.events:
            try:
                ts = self.check(event)
            except Unusable as reason:
                self.unusable[str(reason)] += 1
                continue
            if self.phase(event) == 'M':
                self.name(event)
            elif ts is not None:
                timed.append((ts, event))
                self.times.append(ts)
        for ts, event in sorted(timed, key=lambda pair: pair[0]):
            try:
                self.take(self.phase(event), ts, event)
            except Unusable as reason:
                self.unusable[str(reason)] += 1
        self.end()

    @staticmethod
    def phase(event):
        ph = event.get('ph')
        return ph[:1] if isinstance(ph, str) and not isinstance(ph, json_lenient.Word) else ''

    @staticmethod
    def args(event):
        args = event.get('args')
        return args if isinstance(args, dict) else {}

    @staticmethod
    def at(event):
        """(pid, tid); without a tid the process's main thread."""
        pid = thread_id(event.get('pid') if event.get('pid') is not None else 0)
        tid = event.get('tid')
        return pid, pid if tid is None else thread_id(tid)

    @staticmethod
    def category(event):
        cat = event.get('cat')
        return ','.join(text_of(c) for c in cat) if isinstance(cat, list) else text_of(cat)

    @staticmethod
    def id_of(event):
        """(is of its process only, text); None if there is no id."""
        ident, id2 = event.get('id'), event.get('id2')
        if ident is not None:
            return False, text_of(ident)
        if isinstance(id2, dict):
            for key, value in id2.items():
                if key in ('local', 'global'):
                    return key == 'local', text_of(value)
        return None

    @staticmethod
    def bind(event):
        is_in = event.get('flow_in') is True
        return (text_of(event['bind_id']), is_in) if event.get('bind_id') is not None and (
            is_in or event.get('flow_out') is True) else None

    def is_state(self, event):
        return self.phase(event) == 'T' and 'dur' in event and self.id_of(event) is None

    def check(self, e):
        """The time of the event, None if it needs none."""
        ph = self.phase(e)
        if not ph:
            raise Unusable('no phase')
        if ph == 'M' or ph not in SLICES + ASYNCS + FLOWS + INSTANTS + MARKS + 'CP':
            return None
        if 'ts' not in e:
            raise Unusable('no time')
        ts = time_ns(e['ts'])
        if ts is None:
            raise Unusable('bad time')
        if 'dur' in e and (ph == 'X' or self.is_state(e)):
            dur = time_ns(e['dur'])
            if dur is None or dur < 0:
                raise Unusable('bad duration' if dur is None else 'negative duration')
            self.times.append(ts + dur)
        if ph in ASYNCS + FLOWS and not self.is_state(e) and self.id_of(e) is None:
            raise Unusable('no id')
        return ts

    def name(self, event):
        pid, tid = self.at(event)
        name, args = event.get('name'), self.args(event)
        self.metadata.append((name, pid, tid, args))
        if name == 'process_name' and 'name' in args:
            self.processes[pid] = text_of(args['name'])
        elif name == 'thread_name' and 'name' in args:
            self.threads[pid, tid] = text_of(args['name'])

    def take(self, ph, ts, e):
        at, args, what = self.at(e), self.args(e), (self.category(e), text_of(e.get('name')))
        if ph == 'X':
            self.unmatched['begin'] += 'dur' not in e
            dur = time_ns(e['dur']) if 'dur' in e else None
            self.slices.append(Slice(*at, ts, dur, *what, args, self.bind(e)))
        elif ph == 'B':
            self.open[at].append(Slice(*at, ts, None, *what, args, self.bind(e)))
        elif ph == 'E':
            self.close(ts, e, self.open[at], self.slices, 'end')
        elif self.is_state(e):
            self.states.append(State(*at, ts, time_ns(e['dur']), e.get('name'), args))
        elif ph in ASYNCS:
            self.take_async(ph, ts, e)
        elif ph in INSTANTS:
            self.instants.append(Instant(*at, ts, *what, text_of(e.get('s', 't')), args))
        elif ph in MARKS:
            self.instants.append(Instant(*at, ts, *what, 'mark', args))
        elif ph == 'C':
            self.take_counter(ts, e)
        elif ph in FLOWS:
            self.flows.append(Flow(ph, *at, ts, *what, text_of(e.get('id')), e.get('bp')))
        else:
            self.samples_of_stacks += 1

    def take_counter(self, ts, e):
        found = {series: value for series, value in self.args(e).items() if number_of(value) is not None}
        if not found:
            raise Unusable('counter without a number')
        ident = None if e.get('id') is None else text_of(e['id'])
        self.samples += [Sample(self.at(e)[0], text_of(e.get('name')), ident, series, ts, value)
                         for series, value in found.items()]

    def close(self, ts, e, stack, to, kind):
        name = text_of(e.get('name'))
        fits = [i for i, s in enumerate(stack) if not name or s.name == name]
        if not fits:
            self.unmatched[kind] += 1
            if kind == 'end':
                self.instants.append(Instant(*self.at(e), ts, self.category(e), name or 'end', 'end', self.args(e)))
            return
        begun = stack.pop(fits[-1])
        to.append(begun._replace(dur=ts - begun.ts, args={**begun.args, **self.args(e)}))

    def key(self, ph, e):
        """What makes two async events one."""
        local, text = self.id_of(e)
        scope = text_of(e.get('scope'))
        if ph in 'NOD':
            return ('object', self.at(e)[0], scope, text)
        if ph in 'STpF':
            return ('old', text_of(e.get('name')), self.at(e)[0] if local else None, text)
        return ('async', self.category(e), scope, self.at(e)[0] if local else None, text)

    def take_async(self, ph, ts, e):
        key = self.key(ph, e)
        if ph == 'S' and self.open_asyncs[key]:
            raise Unusable('async begun twice')
        if ph in 'bSN':
            self.open_asyncs[key].append(Async(key, text_of(e.get('name')), ts, None, self.args(e)))
        elif ph in 'eFD':
            self.close(ts, e, self.open_asyncs[key], self.asyncs, 'async_end')
        else:
            (self.async_instants if ph == 'n' else self.steps if ph in 'Tp' else self.objects).append(e)
            self.unmatched['async_end'] += ph in 'Tp' and not self.open_asyncs[key]

    def end(self):
        for stacks, to, kind in ((self.open, self.slices, 'begin'), (self.open_asyncs, self.asyncs, 'async_begin')):
            for stack in stacks.values():
                to += stack
                self.unmatched[kind] += len(stack)
        self.slices.sort(key=order)

    def overlapping(self):
        threads = collections.defaultdict(list)
        for s in self.slices:
            threads[s.pid, s.tid].append(s)
        return sum(len(overlaps(slices)) for slices in threads.values())

    def arrows(self):
        """Ends and steps of flows by what came before: (with a begin, without, ids with a begin)."""
        # Slices are before what else is at their time, begins before ends.
        steps = sorted([(s.ts, s.bind[1], s.bind[0], not s.bind[1]) for s in self.slices if s.bind] +
                       [(f.ts, 2 + 'stf'.index(f.ph), (f.cat, f.name, f.id), f.ph == 's') for f in self.flows], key=lambda s: s[:2])
        begun, found = set(), collections.Counter()
        for _, _, ident, begins in steps:
            if begins:
                begun.add(ident)
            else:
                found[ident in begun] += 1
        return found[True], found[False], len(begun)

    def drawn_flows(self):
        """(Steps and ends of a flow that has begun, begins); after an end it begins again."""
        known, live, counts = set(), set(), collections.Counter()
        items = [(s.ts, 0, s.bind[1], s.bind[0], not s.bind[1], False) for s in self.slices if s.bind]
        items += [(f.ts, 1, 'stf'.index(f.ph), (f.cat, f.name, f.id), f.ph == 's', f.ph == 'f') for f in self.flows]
        for *_, ident, begins, ends in sorted(items, key=lambda i: i[:3]):
            counts['drawn'] += not begins and ident in known
            counts['begun'] += begins or (ident in known and ident not in live)
            if begins or ident in known:
                known.add(ident)
                (live.discard if ends else live.add)(ident)
        return counts['drawn'], counts['begun']

    def facts(self):
        async_slices = [a for a in self.asyncs if a.key[0] != 'object']
        slices = [s for s in self.slices if s.dur is not None]
        arrows, without, ids = self.arrows()
        return {
            'events': len(self.text.events), 'by_phase': dict(sorted(self.by_phase.items())),
            'slices_total': len(self.slices), 'slices_finished': len(slices),
            'slices_dur_sum_ns': sum(s.dur for s in slices), 'slices_overlapping': self.overlapping(),
            'instants': dict(collections.Counter(i.scope for i in self.instants if i.scope not in ('end', 'mark'))),
            'counters': {'events': self.by_phase['C'], 'series': len({s[:4] for s in self.samples}),
                         'samples': len(self.samples)},
            'async': {'slices': len(async_slices), 'instants': len(self.async_instants),
                      'dur_sum_ns': sum(a.dur or 0 for a in async_slices)},
            'flows': {'arrows': arrows, 'without_start': without, 'ids': ids},
            'thread_states': len(self.states),
            'metadata_events': dict(collections.Counter(name for name, *_ in self.metadata)),
            'unmatched': {kind: self.unmatched[kind] for kind in ('begin', 'end', 'async_begin', 'async_end')},
            'unusable': dict(self.unusable), 'damage': {k: v for k, v in self.text.counts.items() if v},
            'error': self.error,
        }


def read(path):
    """The Trace of a file, plain or packed with gzip."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    return Trace(data.decode('utf-8', 'replace'))


if __name__ == '__main__':
    for argument in sys.argv[1:]:
        print(json.dumps({'file': argument, **read(argument).facts()}))
