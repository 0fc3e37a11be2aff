#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""An independent reader of Perfetto's trace format: the wire format by hand, no schema, nothing of kfxt.

    pftrace_reader.py FILE      what is in it, counted

It is as strict as the readers that viewers have, and then some: a packet that does not parse, an id that was
not interned, a track without a descriptor, arrays of different lengths raise Damage.
"""
import bisect
import collections
import gzip
import struct
import sys

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS_STATE = 1, 2

Switch = collections.namedtuple('Switch', 'ts cpu prev prev_state next prio comm order')
Waking = collections.namedtuple('Waking', 'ts cpu waker pid target prio comm flags compact')
Event = collections.namedtuple('Event', 'ts type track name categories args flows terminating value order')
Birth = collections.namedtuple('Birth', 'ts cpu creator pid comm flags')
Log = collections.namedtuple('Log', 'ts pid tid prio tag message')


class Damage(Exception):
    """What no reader takes."""


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Damage(f'varint at {at}')
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & (1 << 64) - 1, at


def fields(data):
    """(number, value) of each field; bytes of a length-delimited one, a float of no kind: bits."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        elif wire == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise Damage(f'wire type {wire} at {at}')
        if at > len(data) or not number:
            raise Damage(f'field {number} ends at {at} of {len(data)}')
        yield number, value


def message(data):
    """The values of each field, by number."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def one(found, number, default=None):
    return found[number][-1] if number in found else default


def text(value):
    return None if value is None else value.decode()


def signed(value, bits=64):
    if value is None:
        return None
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def double(value):
    return struct.unpack('<d', value)[0]


class Track:
    """One TrackDescriptor; @kind: process, thread, counter or None."""

    def __init__(self, found, ts):
        self.uuid, self.parent, self.ts = one(found, 1), one(found, 5), ts
        self.name = text(one(found, 2))
        process, thread, counter = (message(one(found, n)) if n in found else None for n in (3, 4, 8))
        self.pid = signed(one(process or thread or {}, 1), 32)
        self.tid = signed(one(thread, 2), 32) if thread else None
        self.is_counter, self.unit = counter is not None, one(counter or {}, 3)
        self.unit_name = text(one(counter or {}, 6))
        self.kind = 'thread' if thread else 'process' if process else 'counter' if self.is_counter else None
        self.ordering, self.rank = one(found, 11), signed(one(found, 12), 32)


class Sequence:
    def __init__(self):
        self.valid, self.tables = False, collections.defaultdict(dict)


class Trace:
    """All of a trace: lists of the tuples above."""

    def __init__(self, data):
        self.packets = collections.Counter()
        self.switches, self.wakings, self.births, self.lost = [], [], [], []
        self.events, self.tracks, self.logs, self.power = [], {}, [], []
        self.processes, self.threads, self.stats, self.attributes = [], [], [], {}
        self.labels = {}        # of processes, the last ones; an empty one is none
        self.system, self.clocks, self.primary = None, {}, None
        self.sequences = collections.defaultdict(Sequence)
        self.bundles = []
        for number, value in fields(data):
            if number != 1 or not isinstance(value, bytes):
                raise Damage(f'field {number} of the trace')
            self.packet(message(value))
        self.infer()

    # ---- packets ----

    def packet(self, p):
        known = {1: self.bundle, 2: self.tree, 6: self.snapshot, 11: self.event, 35: self.stats_packet,
                 39: self.android_log, 43: self.descriptor, 45: self.system_info, 60: self.track, 66: self.perf_sample,
                 126: self.trace_attributes, 135: self.stack_sample}
        data = [number for number in p if number not in (3, 8, 10, 12, 13, 41, 58, 59, 87)]
        if len(data) > 1:
            raise Damage(f'a packet of {data}')
        seq = self.sequences[one(p, 10)] if 10 in p else None
        flags = one(p, 13, 0)
        if (flags or 12 in p or 11 in p) and not seq:
            raise Damage('state without a sequence')
        if flags & CLEARED:
            seq.valid = True
            seq.tables.clear()
        if flags & NEEDS_STATE and not seq.valid:
            raise Damage('a packet before the state it needs')
        if 12 in p:
            self.intern(seq, message(one(p, 12)))
        for number in data:
            self.packets[number] += 1
            if number in known:
                known[number](message(one(p, number)), one(p, 8), seq)

    @staticmethod
    def intern(seq, interned):
        for number, entries in interned.items():
            for entry in entries:
                entry = message(entry)
                if one(entry, 1) in seq.tables[number] or not one(entry, 1):
                    raise Damage(f'id {one(entry, 1)} of table {number} again')
                what = one(entry, 2)
                # Frames, stacks and mappings are messages; build ids are bytes.
                seq.tables[number][one(entry, 1)] = entry if number in (6, 7, 19) else what if number == 16 else text(what)

    def perf_sample(self, p, ts, seq):
        self.stack_of(p, 4, ts, seq)

    def stack_sample(self, p, ts, seq):
        self.stack_of(p, 6, ts, seq)

    def stack_of(self, p, field, ts, seq):
        if ts is None:
            raise Damage('a sample without a time')
        if field in p:
            for frame in self.look_up(seq, 7, one(p, field))[2]:
                frame = self.look_up(seq, 6, frame)
                for table, iid in ((5, one(frame, 2)), (19, one(frame, 3)), (18, one(frame, 5))):
                    if iid:
                        self.look_up(seq, table, iid)

    def system_info(self, p, _ts, _seq):
        names = message(one(p, 1))
        self.system = {'sysname': text(one(names, 1)), 'release': text(one(names, 3)), 'cpus': one(p, 8)}

    def snapshot(self, p, _ts, _seq):
        clocks = [message(c) for c in p[1]]
        self.primary = one(p, 2)
        self.clocks = self.clocks or {one(c, 1): one(c, 2) for c in clocks}

    def tree(self, p, ts, _seq):
        for m in map(message, p[1]):
            self.processes.append({'ts': ts, 'pid': signed(one(m, 1), 32), 'ppid': signed(one(m, 2), 32),
                                   'cmdline': [text(a) for a in m[3]], 'kthread': bool(one(m, 8)),
                                   'is_comm': bool(one(m, 9))})
        for m in map(message, p[2]):
            self.threads.append({'ts': ts, 'tid': signed(one(m, 1), 32), 'name': text(one(m, 2)),
                                 'tgid': signed(one(m, 3), 32)})

    def descriptor(self, p, _ts, _seq):
        self.labels[signed(one(p, 1), 32)] = [text(label) for label in p[8] if label]

    def stats_packet(self, p, _ts, _seq):
        self.stats += [one(message(b), 19, 0) for b in p[1]]

    def trace_attributes(self, p, _ts, _seq):
        for m in map(message, p[1]):
            self.attributes[text(one(m, 1))] = signed(one(m, 2)) if 2 in m else text(one(m, 3))

    def android_log(self, p, ts, _seq):
        for m in map(message, p[1]):
            self.logs.append(Log(ts, signed(one(m, 2), 32), signed(one(m, 3), 32), one(m, 7), text(one(m, 6)),
                                 text(one(m, 8))))
            if self.clocks and one(m, 5) - ts != self.clocks[1] - self.clocks[6]:
                raise Damage(f'log at {one(m, 5)} of the wall clock, {ts}')

    # ---- tracks and events ----

    def track(self, p, ts, _seq):
        track = Track(p, ts)
        before = self.tracks.get(track.uuid)
        if not track.uuid or track.parent == track.uuid:
            raise Damage(f'track {track.uuid}')
        if before and (before.kind, before.pid, before.tid, before.parent) != (track.kind, track.pid, track.tid,
                                                                              track.parent):
            raise Damage(f'track {track.uuid} again, as another one')
        if track.parent and track.parent not in self.tracks:
            raise Damage(f'track {track.uuid} before its parent')
        self.tracks[track.uuid] = track

    @staticmethod
    def look_up(seq, table, iid):
        if iid not in seq.tables[table]:
            raise Damage(f'id {iid} of table {table} is not interned')
        return seq.tables[table][iid]

    def annotation(self, seq, data, path=''):
        """(name, value) of each; names of what is nested are paths, "a.b[0]"."""
        m = message(data)
        path += self.look_up(seq, 3, one(m, 1)) if 1 in m else text(one(m, 10)) or ''
        kinds = {2: bool, 3: int, 4: signed, 5: double, 6: text, 7: hex, 9: text,
                 17: lambda v: self.look_up(seq, 29, v), 11: None, 12: None}
        found = [n for n in kinds if n in m]
        if len(found) > 1:
            raise Damage(f'argument {path} has {found}')
        if 11 in m or 12 in m:
            for i, data in enumerate(m[found[0]]):
                yield from self.annotation(seq, data, path + ('.' if 11 in m else f'[{i}]'))
        else:
            yield path, (kinds[found[0]](one(m, found[0])) if found else None)

    def event(self, p, ts, seq):
        if one(p, 11) not in self.tracks:
            raise Damage(f'event on track {one(p, 11)}')
        name = self.look_up(seq, 2, one(p, 10)) if 10 in p else text(one(p, 23))
        categories = [self.look_up(seq, 1, c) for c in p[3]] + [text(c) for c in p[22]]
        value = signed(one(p, 30)) if 30 in p else double(one(p, 44)) if 44 in p else None
        args = [named for a in p[4] for named in self.annotation(seq, a)]
        if one(p, 9) not in (BEGIN, END, INSTANT, COUNTER) or ts is None:
            raise Damage(f'event of type {one(p, 9)}')
        if (one(p, 9) == COUNTER) != self.tracks[one(p, 11)].is_counter:
            raise Damage(f'event {name}')
        flows = [[struct.unpack('<Q', f)[0] for f in p[n]] for n in (47, 48)]
        self.events.append(Event(ts, one(p, 9), one(p, 11), name, categories, dict(args), *flows, value,
                                 len(self.events)))

    # ---- scheduling ----

    def bundle(self, p, _ts, _seq):
        cpu = one(p, 1)
        if cpu is None or cpu >= 1024:
            raise Damage(f'bundle of CPU {cpu}')
        if one(p, 3):
            self.lost.append((cpu, len(self.bundles)))
        self.bundles.append(cpu)
        for event in p[2]:
            self.ftrace_event(cpu, message(event))
        if 4 in p:
            self.compact(cpu, message(one(p, 4)))

    def ftrace_event(self, cpu, m):
        ts, pid = one(m, 1), one(m, 2)
        if ts is None or pid is None:
            raise Damage('ftrace event without time or thread')
        body = {n: message(v[-1]) for n, v in m.items() if n not in (1, 2, 5)}
        for number, f in body.items():
            if number == 20:
                self.wakings.append(Waking(ts, cpu, signed(pid, 32), one(f, 2), one(f, 5), signed(one(f, 3), 32),
                                           text(one(f, 1)), 0, False))
            elif number == 235:
                self.births.append(Birth(ts, cpu, pid, one(f, 1), text(one(f, 2)), one(f, 3, 0)))
            elif number in (11, 13):
                self.power.append((ts, {11: 'cpu_frequency', 13: 'cpu_idle'}[number], one(f, 2), one(f, 1)))
            else:
                raise Damage(f'ftrace event {number}')

    def compact(self, cpu, m):
        names = [text(n) for n in m[5]]
        arrays = {n: packed(one(m, n, b'')) for n in (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12)}
        for group in (1, 2, 3, 4, 6), (7, 8, 9, 10, 11, 12):
            if len({len(arrays[n]) for n in group}) > 1:
                raise Damage(f'arrays of {[len(arrays[n]) for n in group]}')
        ts = 0
        for delta, state, pid, prio, comm in zip(*(arrays[n] for n in (1, 2, 3, 4, 6))):
            ts += delta
            self.switches.append(Switch(ts, cpu, None, state, pid, signed(prio, 32), names[comm], len(self.switches)))
        ts = 0
        for delta, pid, target, prio, comm, flags in zip(*(arrays[n] for n in (7, 8, 9, 10, 11, 12))):
            ts += delta
            self.wakings.append(Waking(ts, cpu, None, pid, target, signed(prio, 32), names[comm], flags, True))

    def infer(self):
        """The thread before a switch, and the waker: as readers do it, from the switches of the CPU."""
        by_cpu, done = collections.defaultdict(list), []
        for s in self.switches:
            if by_cpu[s.cpu] and s.ts < by_cpu[s.cpu][-1].ts:
                raise Damage(f'switch of CPU {s.cpu} at {s.ts} after {by_cpu[s.cpu][-1].ts}')
            by_cpu[s.cpu].append(s._replace(prev=by_cpu[s.cpu][-1].next if by_cpu[s.cpu] else None))
        for switches in by_cpu.values():
            done += switches
        self.switches = sorted(done, key=lambda s: (s.ts, s.order))
        times = {cpu: [s.ts for s in switches] for cpu, switches in by_cpu.items()}
        for i, w in enumerate(self.wakings):
            if not w.compact:
                continue
            at = bisect.bisect_left(times.get(w.cpu, []), w.ts)
            if not at:
                raise Damage(f'waking at {w.ts} before the first switch of CPU {w.cpu}')
            if at < len(times[w.cpu]) and times[w.cpu][at] == w.ts:
                raise Damage(f'waking at the time of a switch, {w.ts}')
            self.wakings[i] = w._replace(waker=by_cpu[w.cpu][at - 1].next)
        self.wakings.sort(key=lambda w: w.ts)

    def place(self, uuid):
        """What a track is: ('thread', tid), ('process', pid), ('root', name) or (place of its parent, name)."""
        track = self.tracks[uuid]
        if track.kind in ('thread', 'process'):
            return track.kind, track.tid if track.kind == 'thread' else track.pid
        return (self.place(track.parent) if track.parent else 'root'), track.name

    # ---- slices ----

    def slices(self):
        """(begin, duration or None, arguments of both ends) of each slice, and the instants."""
        found, instants, stacks = [], [], collections.defaultdict(list)
        for e in sorted(self.events, key=lambda e: (e.ts, e.order)):
            if e.type == INSTANT:
                instants.append(e)
            elif e.type == BEGIN:
                stacks[e.track].append(e)
            elif e.type == END:
                if not stacks[e.track]:
                    continue    # as readers do
                b = stacks[e.track].pop()
                found.append((b, e.ts - b.ts, {**b.args, **e.args}))
        found += [(b, None, b.args) for stack in stacks.values() for b in stack]
        return found, instants


def read(path):
    with open(path, 'rb') as f:
        data = f.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    return Trace(data)


if __name__ == '__main__':
    trace = read(sys.argv[1])
    print(dict(trace.packets))
    print({name: len(getattr(trace, name)) for name in ('switches', 'wakings', 'births', 'events', 'tracks',
                                                        'processes', 'threads', 'logs', 'power', 'bundles')})
