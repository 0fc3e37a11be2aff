#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt convert on small Perfetto traces that are made here, one for each thing that may be wrong or rare.

    pftrace_made_test.py BUILD_DIR [NAME...]

Each test makes the bytes of a trace and says what the independent reader must find. Prints TAP and the
totals.
"""
import functools
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import fxtread  # noqa: E402
import fxtsamples  # noqa: E402
from cases import case, equal, run  # noqa: E402
from pftrace_made import (BEGIN, BOOT, COUNTER, END, INSTANT, MONO, T, bundle, compact, event, ftrace, msg, newtask,  # noqa: E402
                          num, packet, process, snapshot, switch, thread, tree, tree_thread, varint)

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')


class Result:
    def __init__(self, data, tmp):
        path, out = os.path.join(tmp, 'in.pftrace'), os.path.join(tmp, 'out.fxt')
        with open(path, 'wb') as file:
            file.write(data)
        if os.path.exists(out):
            os.unlink(out)
        command = [KFXT, 'convert', '--input-format=perfetto', '--stats=json', '--strict', '-o', out, path]
        self.done = subprocess.run(command, capture_output=True, timeout=60)
        self.said = self.done.stderr.decode()
        if self.done.returncode == 1:
            return
        stats = json.loads(self.done.stdout)
        self.input, self.output = stats['input'], stats['output']
        reader = fxtread.read(out)
        self.records = list(reader)
        assert not reader.problems, reader.problems
        self.samples = fxtsamples.read(out)
        assert not self.samples.problems, self.samples.problems
        assert subprocess.run([KFXT, 'verify', '-q', out], check=False).returncode == 0, 'verify'

    def events(self, kind=None):
        return [record for record in self.records
                if record['type'] == 'event' and kind in (None, record['event_type'])]

    def names(self, kind=None):
        return [record['name'] for record in self.events(kind)]

    def times(self):
        return {record['name']: record['timestamp'] for record in self.events()}

    def args(self, name):
        return {key: value for record in self.events() if record['name'] == name
                for key, _, value in record['arguments']}

    def objects(self, kind):
        return {record['koid']: record['name'] for record in self.records
                if record['type'] == 'kernel_object' and record['kernel_object_type'] == kind}

    def switches(self):
        """(ts, cpu, out, in, state of Linux) without marks"""
        rows = []
        for record in self.records:
            if record['type'] == 'context_switch':
                said = {key: value for key, _, value in record['arguments']}
                if 'mark' not in said:
                    rows.append((record['timestamp'], record['cpu_number'], record['outgoing_thread_id'],
                                 record['incoming_thread_id'], said.get('linux_state')))
        return rows


def test(fn):
    """@fn takes what converts the bytes of a trace."""
    case(functools.wraps(fn)(lambda tmp: fn(lambda data: Result(data, tmp))))
    return fn


@test
def bytes_between_packets(convert):
    """They cost themselves: what follows is found again."""
    good = [event(T + i, INSTANT, f'e{i}') for i in range(8)]
    data = thread() + b''.join(good[:4]) + b'\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' + b''.join(good[4:])
    got = convert(data)
    equal(got.names(), [f'e{i}' for i in range(8)])
    equal((got.done.returncode, got.input['damaged_stretches']), (3, 1))
    equal(got.input['first_dropped'][0]['offset'], len(thread() + b''.join(good[:4])))


@test
def bytes_that_are_nearly_packets(convert):
    """Each of them may begin a long packet of which most is one: a look at the beginning is enough, within a minute."""
    near = bytes.fromhex('0a040affff03') * 1_400_000
    got = convert(thread() + event(T, INSTANT, 'before') + b'\xff' * 12 + near + event(T + 1, INSTANT, 'after') * 4)
    equal((got.names()[0], got.names()[-1], got.input['damaged_stretches']), ('before', 'after', 1))


@test
def damaged_packet(convert):
    """A field that is longer than its packet, a field number 0, a varint of eleven bytes."""
    for bad in (varint(11 << 3 | 2) + b'\x7f', b'\x00\x01', num(8, 1)[:1] + b'\x80' * 10 + b'\x01', b'\x0b'):
        got = convert(thread() + msg(1, bad) + event(T, INSTANT, 'after'))
        equal(got.names(), ['after'], bad)
        equal(got.input['dropped'], {'damaged packet': 1}, bad)
        equal(f"at byte {len(thread())}" in got.said, True, got.said)


@test
def length_beyond_the_end(convert):
    for tag in (0x0a, 0x12):
        for size in (2**40, 2**63, 2**64 - 11, 2**64 - 10, 2**64 - 1):
            got = convert(thread() + event(T, INSTANT, 'before') + bytes([tag]) + varint(size) + b'rest')
            equal((got.names(), got.done.returncode), (['before'], 3), (tag, size))


@test
def packets_in_packets(convert):
    inner = event(T, INSTANT, 'inside')
    got = convert(thread() + packet(msg(50, zlib.compress(inner)), seq=0) + event(T + 1, INSTANT, 'outside'))
    equal(got.names(), ['inside', 'outside'])
    nested = packet(msg(50, zlib.compress(inner)), seq=0)
    got = convert(thread() + packet(msg(50, zlib.compress(nested)), seq=0) + event(T + 1, INSTANT, 'outside'))
    equal((got.names(), got.input['dropped']), (['outside'], {'compressed packet in another': 1}))


@test
def damaged_compression(convert):
    """What came before the damage counts, and what follows the packet."""
    many = b''.join(event(T + i, INSTANT, f'e{i}') for i in range(2000))
    data = bytearray(zlib.compress(many, 0))
    data[len(data) // 2:] = b'\xff' * 50
    got = convert(thread() + packet(msg(50, bytes(data)), seq=0) + event(T + 9999, INSTANT, 'outside'))
    equal(0 < len(got.names()) < 2000 and got.names()[-1] == 'outside', True, len(got.names()))
    equal(got.input['dropped'].get('damaged packet', 0) >= 1, True)
    # In a field that is left out.
    data = zlib.compress(event(T, INSTANT, 'inside') + varint(2 << 3 | 2) + varint(10**6) + os.urandom(2000), 0)[:-900]
    got = convert(thread() + packet(msg(50, data), seq=0) + event(T + 9999, INSTANT, 'outside'))
    equal((got.names(), got.input['dropped']), (['inside', 'outside'], {'damaged packet': 1}))


@test
def both_compressions(convert):
    stored = struct.pack('<IBQ', 0xFD2FB528, 0xE0, len(event(T, INSTANT, 'zstd')))
    stored += struct.pack('<I', len(event(T, INSTANT, 'zstd')) << 3 | 1)[:3] + event(T, INSTANT, 'zstd')
    got = convert(thread() + packet(msg(133, stored), seq=0) +
                  packet(msg(50, zlib.compress(event(T + 1, INSTANT, 'zlib'))), seq=0))
    equal((got.names(), got.done.returncode), (['zstd', 'zlib'], 0))


@test
def clock_that_is_known_later(convert):
    """A packet waits for the snapshot that relates its clock."""
    got = convert(thread() + packet(num(58, MONO), msg(11, num(9, INSTANT), num(11, 1), msg(23, 'early')), ts=5000) +
                  snapshot((BOOT, T), (MONO, 4000)) + event(T + 7, INSTANT, 'late'))
    equal(got.times(), {'early': T + 1000, 'late': T + 7})


def sequence_clock(mono, own, seq):
    """A sequence begins whose times are deltas of a clock of its own, as writers without a service do."""
    return packet(msg(6, msg(1, num(1, MONO), num(2, mono)), msg(1, num(1, 64), num(2, own), num(3, 1))),
                  msg(59, num(58, 64)), flags=1, seq=seq)


@test
def clock_of_a_later_snapshot(convert):
    """The first snapshot has neither BOOTTIME nor a primary clock: a later one says what the trace's clock is."""
    def instant(name, delta):
        return packet(msg(11, num(9, INSTANT), num(11, 1), msg(23, name)), ts=delta, seq=7)
    sdk = sequence_clock(1000, 500, 7) + instant('sdk', 5)
    service = packet(msg(6, msg(1, num(1, BOOT), num(2, T)), msg(1, num(1, MONO), num(2, 1000)), num(2, BOOT)), seq=0)
    after = event(T + 50, INSTANT, 'boot') + instant('late', 70)
    want = {'sdk': T + 5, 'boot': T + 50, 'late': T + 75}
    for data in (sdk + service + after, service + sdk + after, sdk + after + service):
        equal(convert(thread() + data).times(), want)
    # Without one it is that of the first, for times that do not say their clock, too.
    got = convert(thread() + sdk + event(2000, INSTANT, 'plain'))
    equal((got.times(), got.done.returncode), ({'sdk': 1005, 'plain': 2000}, 0))
    # What came before stays in its place.
    got = convert(thread() + event(T - 9, INSTANT, 'before') + service + sdk)
    equal(got.times(), {'before': T - 9, 'sdk': T + 5})


@test
def snapshot_that_begins_with_deltas(convert):
    """A clock of deltas is not what is sorted by, wherever it is in the snapshot, and even if it is alone."""
    own, mono = msg(1, num(1, 64), num(2, 500), num(3, 1)), msg(1, num(1, MONO), num(2, 1000))
    events = b''.join(packet(msg(11, num(9, INSTANT), num(11, 1), msg(23, name)), ts=5, seq=7) for name in 'ab')
    for clocks, want in (((own, mono), {'a': 1005, 'b': 1010}), ((own,), {'a': 505, 'b': 510})):
        got = convert(thread() + packet(msg(6, *clocks), msg(59, num(58, 64)), flags=1, seq=7) + events)
        equal((got.times(), got.done.returncode), (want, 0))


@test
def only_one_clock(convert):
    """Without a snapshot all times are of one clock."""
    got = convert(thread() + packet(num(58, MONO), msg(11, num(9, INSTANT), num(11, 1), msg(23, 'mono')), ts=5000))
    equal((got.times(), got.done.returncode), ({'mono': 5000}, 0))


@test
def clock_by_way_of_another(convert):
    """The second snapshot does not have the trace's clock, but one that is related to it."""
    got = convert(thread() + snapshot((BOOT, T), (MONO, 100)) + snapshot((MONO, 300), (200, 7000)) +
                  packet(num(58, 200), msg(11, num(9, INSTANT), num(11, 1), msg(23, 'x')), ts=7050))
    equal(got.times(), {'x': T + 250})


def log_lines(first, texts):
    """A packet of Android's log, a line a nanosecond of the wall clock."""
    return packet(msg(39, *(msg(1, num(1, 0), num(2, 10), num(3, 11), num(5, first + i), msg(6, 'tag'), num(7, 4), msg(8, text))
                            for i, text in enumerate(texts))), seq=0)


@test
def lines_of_binary_events(convert):
    """They have arguments in place of a text, which is put together of them."""
    args = (msg(9, msg(1, 'pid'), num(2, 2**64 - 5)), msg(9, msg(1, 'share'), varint(3 << 3 | 5) + struct.pack('<f', 0.5)),
            msg(9, msg(1, 'name'), msg(4, 'com.app')), msg(9, num(2, 7)))
    line = msg(1, num(1, 2), num(2, 10), num(3, 11), num(5, 10**18 + 5), msg(6, 'am_proc'), num(7, 4), *args)
    got = convert(snapshot((BOOT, T), (1, 10**18)) + packet(msg(39, line), seq=0))
    equal([record['log_message'] for record in got.records if record['type'] == 'log'], ['pid=-5 share=0.5 name=com.app'])
    equal(got.args('am_proc'), {'text': 'pid=-5 share=0.5 name=com.app', 'prio': 4, 'pid': -5, 'share': 0.5, 'name': 'com.app'})


@test
def clock_that_is_never_known(convert):
    """A packet is dropped once, whatever it has in it; of a bundle its events are."""
    lines = log_lines(10**18, ['a', 'b', 'c'])
    raw = bundle(0, num(5, 4), num(3, 1), ftrace(5, 7, 491, msg(1, 'a')), ftrace(6, 7, 491, msg(1, 'b')))
    known = snapshot((BOOT, T), (MONO, T)) + thread() + event(T + 5, INSTANT, 'x')
    got = convert(known + lines + lines + raw)
    given = got.input
    equal((got.names(), given['dropped']), (['x'], {"clock that no snapshot relates to the trace's": 2}))
    equal((given['packets_used'], given['ftrace_events'], given['ftrace_dropped']), (given['packets'] - 2, 0, 2))
    equal([(row['packet'], row['offset']) for row in given['first_dropped']],
          [(4, len(known)), (5, len(known + lines)), (6, len(known + lines + lines))])


@test
def wall_clock_without_a_snapshot(convert):
    """Nothing relates it to other times of the trace: only a trace that has no others is of it."""
    lines = log_lines(10**18, ['a', 'b'])
    for data in (lines + thread() + event(T, INSTANT, 'x'), thread() + event(T, INSTANT, 'x') + lines,
                 lines + packet(num(58, MONO), msg(11, num(9, INSTANT), num(11, 1), msg(23, 'x')), ts=T)):
        got = convert(data)
        equal((got.times(), got.input['dropped'], got.done.returncode),
              ({'x': T}, {"clock that no snapshot relates to the trace's": 1}, 3))
    equal([r['timestamp'] for r in convert(lines).events()], [10**18, 10**18 + 1])


@test
def one_place_of_each_track(convert):
    """A track that is none is named once, with its first event."""
    counter = b''.join(packet(msg(11, num(9, COUNTER), num(11, uuid), num(30, 1)), ts=T + i)
                       for i, uuid in enumerate((7, 7, 8, 7, 8)))
    got = convert(thread() + counter)
    equal(([row['packet'] for row in got.input['first_dropped']], got.input['dropped']),
          ([2, 4], {'counter on a track that is none': 5}))


@test
def wrong_wire_types(convert):
    """A known field of another type is ignored."""
    got = convert(thread() + packet(msg(11, num(9, INSTANT), num(11, 1), num(23, 5), msg(3, b'\x05'), msg(10, 'x')),
                                    ts=T))
    equal((got.names(), got.done.returncode), ([''], 0))


@test
def unknown_numbers(convert):
    got = convert(thread() + packet(msg(1999, 'future')) + event(T, INSTANT, 'e', 1, num(1500, 7), msg(1501, 'x')) +
                  bundle(0, ftrace(T + 1, 5, 9999, num(1, 3))))
    given = got.input
    equal((given['unknown_packets'], given['unknown_event_fields'], given['unknown_ftrace_events']),
          ({'1999': 1}, {'1500': 1, '1501': 1}, {'9999': 1}))
    equal(got.args('ftrace:9999'), {'f1': 3})
    equal((': 1 packet of unknown field 1999, 2 values of unknown event fields 1500, 1501 not converted' in got.said,
           got.done.returncode), (True, 0), got.said)
    got = convert(thread() + b''.join(packet(msg(1000 + i, 'future')) for i in range(40)) + event(T, INSTANT, 'e'))
    line = next(line for line in got.said.splitlines() if line.endswith(', ... not converted'))
    equal((': 40 packets of unknown fields 1000, 1001, ' in line, len(line.split(': ')[-1]) < 300), (True, True), line)
    got = convert(packet(msg(1999, 'future')))
    equal((': no perfetto record in it: 1 packet of unknown field 1999 not converted' in got.said, got.done.returncode), (True, 1), got.said)


@test
def categories_that_are_not_known(convert):
    """One alone is shown by its id, among others it is left out."""
    known = packet(msg(12, msg(1, num(1, 1), msg(2, 'cat'))), flags=1)
    got = convert(thread() + known + b''.join(event(T + i, INSTANT, f'e{i}', 1, *(num(3, iid) for iid in iids))
                                              for i, iids in enumerate(((77,), (1, 77), (1,)))))
    equal(([r['category'] for r in got.events()], got.input['unknown_ids']), (['unknown(77)', 'cat', 'cat'], 2))


@test
def more_categories_than_are_shown(convert):
    """In whatever form they come."""
    named = [msg(22, f'c{i}') for i in range(40)]
    known = packet(msg(12, *(msg(1, num(1, i + 1), msg(2, f'c{i}')) for i in range(40))), flags=1)
    numbers = [num(3, i + 1) for i in range(40)], [msg(3, *(varint(i + 1) for i in range(40)))]
    for parts in named, *numbers:
        got = convert(thread() + known + event(T, INSTANT, 'e', 1, *parts))
        equal((got.events()[0]['category'], got.input['cut_strings']), (','.join(f'c{i}' for i in range(32)), 1))
    got = convert(thread() + event(T, INSTANT, 'e', 1, *(msg(22, f'{i:0100}') for i in range(20))))
    equal((len(got.events()[0]['category']), got.input['cut_strings']), (1024, 1))


@test
def many_flows_of_a_slice(convert):
    ids = [i << 40 | 7 for i in range(1, 201)]
    for begins, ends in ((47, 48), (36, 42)):
        def packed(field, old=begins == 36):
            return msg(field, *(varint(i) if old else i.to_bytes(8, 'little') for i in ids))
        got = convert(thread() + event(T, BEGIN, 'from', 1, packed(begins)) + event(T + 1, END, '') +
                      event(T + 2, BEGIN, 'to', 1, packed(ends)) + event(T + 3, END, ''))
        equal([len(got.events(kind)) for kind in ('flow_begin', 'flow_step', 'flow_end')], [200, 0, 200])


@test
def cpu_numbers(convert):
    """4095 is the last one; 1024 is none that other readers take."""
    got = convert(bundle(1024, ftrace(T, 5, 491, msg(1, 'a'))) + bundle(4096, ftrace(T, 5, 491, msg(1, 'a'))) +
                  bundle(4095, ftrace(T, 5, 491, msg(1, 'a'))))
    equal(got.names(), ['sched_migrate_task'] * 2)
    equal(got.input['dropped'], {'no CPU, or one beyond 4095': 1})


@test
def another_machine(convert):
    got = convert(thread() + packet(num(98, 7), msg(11, num(9, INSTANT), num(11, 1), msg(23, 'there')), ts=T) +
                  event(T, INSTANT, 'here'))
    equal((got.names(), got.input['dropped']), (['here'], {'of another machine': 1}))


@test
def described_event(convert):
    describe = msg(11, num(1, 70000), msg(3, 'mygroup'), msg(2, msg(1, 'my_event'),
                                                             msg(2, msg(1, 'size'), num(3, 1), num(5, 5)),
                                                             msg(2, msg(1, 'who'), num(3, 2), num(5, 9)),
                                                             msg(2, msg(1, 'plain'), num(3, 5))))
    got = convert(bundle(0, describe, ftrace(T, 5, 70000, num(1, -3), msg(2, 'me'), num(3, 4), num(5, 2**64 - 1))))
    equal((got.names(), got.args('my_event')), (['my_event'], {'size': -3, 'who': 'me', 'f3': 4, 'plain': 2**64 - 1}))
    equal(got.events()[0]['category'], 'mygroup')


@test
def compact_not_packed(convert):
    rows = [(T, 0, 5, 120), (T + 10, 1, 6, 120), (T + 20, 2, 0, 120)]
    want = [(T, 0, 0, 5, None), (T + 10, 0, 5, 6, None), (T + 20, 0, 6, 0, 'D')]
    for packed in (True, False):
        equal(convert(bundle(0, compact(rows, packed=packed))).switches(), want, packed)


@test
def ids_that_linux_has_not(convert):
    """What has one is an event without a meaning; what follows in the bundle is as it was."""
    rows = [(T, 0, 5, 120), (T + 10, 1, 2**31 + 7, 120), (T + 20, 1, 6, 120), (T + 30, 1, 0, 120)]
    got = convert(bundle(0, compact(rows, [(T + 1, 2**31 + 9, 0, 120), (T + 5, 9, 0, 120)])))
    equal([row[:4] for row in got.switches()], [(T, 0, 0, 5), (T + 30, 0, 6, 0)])
    equal([record['waking_thread_id'] for record in got.records if record['type'] == 'thread_wakeup'], [9])
    equal((got.names(), got.input['ftrace_events']), (['sched_waking', 'sched_switch', 'sched_switch'], 6))


@test
def loss_without_an_event(convert):
    """It is before the next event of its CPU, else at the end; what ran is not known after it."""
    rows = bundle(0, compact([(T, 0, 5, 120), (T + 10, 1, 6, 120)]))
    lost = bundle(0, num(3, 1))
    got = convert(rows + lost + bundle(1, ftrace(T + 50, 7, 491, msg(1, 'a'))) +
                  bundle(0, compact([(T + 100, 2, 7, 120), (T + 110, 1, 0, 120)])))
    equal([row[:4] for row in got.switches()], [(T, 0, 0, 5), (T + 10, 0, 5, 6), (T + 100, 0, 0, 7), (T + 110, 0, 7, 0)])
    equal([(r['timestamp'], r['end_time']) for r in got.events('duration_complete')], [(T + 10, T + 100)])
    got = convert(rows + lost + bundle(1, ftrace(T + 50, 7, 491, msg(1, 'a'))))
    equal([(r['timestamp'], r['end_time']) for r in got.events('duration_complete')], [(T + 10, T + 50)])
    equal(got.input['ftrace_losses'], 1)


@test
def damaged_arrays(convert):
    """Of switches or of wakings: what came before is used, and so are the others."""
    def column(field, *values):
        return msg(field, *map(varint, values))
    before = bundle(0, compact([(T - 50, 0, 9, 120), (T - 40, 1, 5, 120)]))
    switches = column(1, T, 10), column(3, 6, 0), column(4, 120, 120), column(6, 0, 0)
    wakings = column(7, T + 5, 1), column(8, 9, 9), column(9, 0, 0), column(10, 120, 120)
    for states, comms, want in (((0,), (0, 0), (3, [9])), ((0, 0), (0, 7), (4, [9])), ((0,), (7,), (3, [])),
                                ((0, 0, 0), (0, 0), (4, [9]))):
        got = convert(before + bundle(0, msg(4, *switches, column(2, *states), msg(5, 'a'), *wakings, column(11, *comms))))
        woken = [record['waking_thread_id'] for record in got.records if record['type'] == 'thread_wakeup']
        equal((len(got.switches()), woken), want, (states, comms))
        equal(got.input['bad_compact'], (len(states) != 2) + (comms != (0, 0)))
        equal('damaged compact scheduling' in got.said, True, got.said)


@test
def waker_of_compact(convert):
    """The current thread of the bundle's CPU; nobody after a loss."""
    rows = [(T, 0, 5, 120), (T + 100, 0x100, 6, 120)]
    first = bundle(0, compact(rows, [(T + 50, 9, 1, 120)]))
    sleep = bundle(1, compact([(T - 9, 0, 9, 120), (T + 1, 1, 0, 120), (T + 60, 0, 9, 120), (T + 70, 1, 0, 120)]))
    lost = bundle(0, num(3, 1), compact([(T + 300, 0, 7, 120)], [(T + 200, 9, 1, 120)]))
    got = convert(first + sleep + lost)
    wakeups = [(record['timestamp'], dict((k, v) for k, _, v in record['arguments'])['waker'])
               for record in got.records if record['type'] == 'thread_wakeup']
    equal(wakeups, [(T + 50, 5), (T + 200, 0)])
    equal([record['name'] for record in got.events('duration_complete')], ['lost events'])


@test
def states_of_old_kernels(convert):
    """W was a bit of its own before 4.14, which is R+ since."""
    rows = [(T, 0, 5, 120), (T + 10, 0x100, 6, 120), (T + 20, 0x800, 0, 120)]
    for release, want in (('4.4.1', ['W', 'R+']), ('6.1.0', ['R+', None])):
        info = packet(msg(45, msg(1, msg(1, 'Linux'), msg(3, release))))
        equal([row[4] for row in convert(info + bundle(0, compact(rows))).switches()[1:]], want, release)
    # Without a release the bits tell: new kernels have none of 0x200 and up.
    equal([row[4] for row in convert(bundle(0, compact(rows))).switches()[1:]], ['W', 'R+'])
    equal([row[4] for row in convert(bundle(0, compact(rows[:2]))).switches()[1:]], ['R+'])


def legacy(ts, phase, name, *parts, uuid=None, category='cat'):
    track = b'' if uuid is None else num(11, uuid)
    return packet(msg(11, track, msg(23, name), msg(22, category), msg(6, num(2, ord(phase)), *parts)), ts=ts)


@test
def arrow_to_the_next_slice(convert):
    """A legacy flow ends in the next slice, unless it says that it is the one around it."""
    got = convert(thread() + b''.join(legacy(T + ts, phase, name, *parts, uuid=1) for ts, phase, name, *parts in (
        (0, 'B', 'from'), (1, 's', 'arrow', num(6, 5)), (2, 'E', 'from'), (3, 'f', 'arrow', num(6, 5)), (9, 'B', 'to'), (10, 'E', 'to'))))
    flows = [record for record in got.events() if record['event_type'].startswith('flow')]
    equal([(record['event_type'], record['timestamp']) for record in flows],
          [('flow_begin', T + 1), ('flow_end', T + 9)])


@test
def category_of_a_legacy_id(convert):
    """Async slices that nest, and flows, of one id and name are others if their categories are."""
    rows = ((0, 'b', 'c1'), (10, 'b', 'c2'), (20, 'e', 'c1'), (40, 'e', 'c2'))
    got = convert(thread() + b''.join(legacy(T + ts, phase, 'x', num(6, 5), uuid=1, category=category)
                                      for ts, phase, category in rows))
    ids = [r['async_correlation_id'] for r in got.events()]
    equal((ids[0] == ids[2], ids[1] == ids[3], ids[0] == ids[1]), (True, True, False))
    rows = ((1, 's', 'c1'), (12, 's', 'c2'), (31, 'f', 'c1'), (51, 'f', 'c2'))
    got = convert(thread() + event(T, BEGIN, 'around') + b''.join(
        legacy(T + ts, phase, 'x', num(6, 5), num(12, 1), uuid=1, category=category) for ts, phase, category in rows) +
        event(T + 60, END, ''))
    ids = [r['flow_correlation_id'] for r in got.events() if r['event_type'].startswith('flow')]
    equal((len(ids), ids[0] == ids[2], ids[1] == ids[3], ids[0] == ids[1]), (4, True, True, False))


@test
def thread_of_a_legacy_event(convert):
    """That of its uuid, or of the default one; else that of the sequence or its own; uuid 0 hides the default."""
    default = packet(msg(60, num(1, 1), msg(4, num(1, 10), num(2, 11))), msg(59, msg(11, num(11, 1))), flags=1)
    other = thread(2, 20, 22, 'other')
    events = (legacy(T, 'X', 'x', num(3, 5)), legacy(T + 1, 'I', 'own', num(18, 30), num(19, 33)),
              legacy(T + 2, 'I', 'zero', num(18, 30), num(19, 33), uuid=0), legacy(T + 3, 'I', 'sequence', uuid=0),
              event(T + 4, INSTANT, 'typed', 0))
    got = convert(default + other + b''.join(events))
    threads = {r['name']: r['thread'] for r in got.events()}
    typed = threads.pop('typed')
    equal((threads, got.objects(2)[typed[1]]),
          ({'x': (10, 11), 'own': (10, 11), 'zero': (30, 33), 'sequence': (20, 22)}, 'Default Track'))
    got = convert(other + events[1])
    equal([r['thread'] for r in got.events()], [(30, 33)])


@test
def thread_of_a_typed_event(convert):
    """A LegacyEvent in it may say which; a process alone has not the thread of the sequence."""
    def typed(ts, kind, name, *ids):
        return packet(msg(11, num(9, kind), msg(23, name), msg(6, *ids)), ts=ts)
    sequence = packet(msg(44, num(1, 20), num(2, 22), msg(5, 'other')))
    both = (num(18, 77), num(19, 78))
    got = convert(sequence + typed(T, BEGIN, 'both', *both) + typed(T + 5, END, 'both', *both) +
                  typed(T + 6, INSTANT, 'thread', num(19, 79)) + typed(T + 7, INSTANT, 'process', num(18, 77)) +
                  typed(T + 8, INSTANT, 'neither'))
    threads = {r['name']: r['thread'] for r in got.events()}
    process_thread = threads.pop('process')
    equal(threads, {'both': (77, 78), 'thread': (20, 79), 'neither': (20, 22)})
    equal((process_thread[0], process_thread[1] in (22, 78, 79)), (77, False))


@test
def process_of_a_legacy_event(convert):
    """Async slices and instants of a process are of that which has the track, wherever it is described."""
    tracks = thread(1, 10, 11) + packet(msg(60, num(1, 3), num(5, 1), msg(2, 'below'))) + thread(2, 20, 22)
    for uuid in (1, 3):
        pair = legacy(T, 'b', 'slice', num(6, 7), uuid=uuid) + legacy(T + 5, 'e', 'slice', num(6, 7), uuid=uuid)
        instant = legacy(T + 9, 'i', 'instant', num(14, 2), uuid=uuid)
        for data in (tracks + pair + instant, thread(2, 20, 22) + pair + instant + tracks):
            got = convert(data)
            equal([(r['event_type'], r['thread'][0], got.objects(2)[r['thread'][1]]) for r in got.events()],
                  [('async_begin', 10, 'process'), ('async_end', 10, 'process'), ('instant', 10, 'process')], uuid)
    # Ids of a process are others than those of another one.
    local = [legacy(T + i, phase, 'slice', num(10, 7), uuid=uuid) for i, (phase, uuid) in enumerate((('b', 1), ('b', 2), ('e', 1), ('e', 2)))]
    got = convert(b''.join(local) + tracks)
    equal([(r['async_correlation_id'], r['thread'][0]) for r in got.events()], [(1, 10), (2, 20), (1, 10), (2, 20)])


@test
def ids_of_64_bits(convert):
    """A thread of such an id is no other one, however it is described."""
    big = 2**32 + 11
    descriptor = packet(msg(44, num(1, 10), num(2, big), msg(5, 'large')), seq=5)
    slices = event(T, BEGIN, 'a') + event(T + 1, BEGIN, 'b', 2) + event(T + 2, END, '') + event(T + 3, END, '', 2)
    got = convert(thread(1, 10, big, 'big') + thread(2, 10, 11, 'small') + slices + descriptor +
                  packet(msg(11, num(9, INSTANT), msg(23, 'i')), ts=T + 9, seq=5))
    places = {r['name']: r['thread'] for r in got.events()}
    equal((places['b'], places['i'] == places['a'], places['a'][1] > 2**31), ((10, 11), True, True))
    equal([(r['timestamp'] - T, r['name']) for r in got.events('duration_end')], [(2, 'a'), (3, 'b')])
    equal(got.objects(2)[places['a'][1]], f'large [tid {big}]')


@test
def tracks_described_again(convert):
    """Another name is taken; what says that the track is another one is dropped, with its name."""
    same = packet(msg(60, num(1, 1), msg(2, 'renamed')))
    others = (thread(1, 99, 98, 'evil'), counter_track(1, 'evil', 0, msg(8)), counter_track(1, 'evil', 7),
              packet(msg(60, num(1, 1), msg(3, num(1, 10), msg(6, 'evil')))))
    got = convert(thread() + event(T, INSTANT, 'x') + b''.join(others) + event(T + 1, INSTANT, 'y'))
    equal((got.objects(2)[11], [r['thread'] for r in got.events()]), ('worker', [(10, 11)] * 2))
    equal(got.input['dropped'], {'track described as another one': len(others)})
    got = convert(thread() + event(T, INSTANT, 'x') + same + thread(1, 10, 11, 'again'))
    equal((got.objects(2)[11], got.done.returncode), ('again', 0))


@test
def thread_of_tracks_and_ftrace(convert):
    """Slices and scheduling are of one thread, whose process the track knows."""
    got = convert(thread(1, 10, 11, 'named') + bundle(0, compact([(T, 0, 11, 120), (T + 50, 1, 0, 120)])) +
                  event(T + 10, BEGIN, 'work') + event(T + 20, END, 'work'))
    equal([record['thread'] for record in got.events()], [(10, 11)] * 2)
    equal([row[2:4] for row in got.switches()], [(0, 11), (11, 0)])
    equal((got.objects(2)[11], got.output['threads']), ('named', 1))


@test
def async_slices_of_a_process(convert):
    proc = packet(msg(60, num(1, 5), msg(3, num(1, 10), msg(6, 'proc'))))
    track = packet(msg(60, num(1, 6), num(5, 5), msg(2, 'requests')))
    got = convert(proc + track + event(T, BEGIN, 'get', 6) + event(T + 5, END, '', 6))
    equal([(record['event_type'], record['timestamp']) for record in got.events()],
          [('async_begin', T), ('async_end', T + 5)])
    equal(got.args('get'), {'track': 'requests'})
    equal(got.objects(1)[10], 'proc')


@test
def ends_that_have_names(convert):
    """They end the innermost slice of that name, or without one, of a thread and of a process."""
    proc = packet(msg(60, num(1, 5), msg(3, num(1, 10), msg(6, 'proc'))))
    for track, uuid in ((thread(), 1), (proc, 5)):
        got = convert(track + event(T, BEGIN, 'a', uuid) + event(T + 1, BEGIN, '', uuid) + event(T + 2, END, 'b', uuid) +
                      event(T + 3, BEGIN, '', uuid) + event(T + 4, END, 'a', uuid) + event(T + 5, END, 'a', uuid))
        equal([(r['event_type'].split('_')[1], r['timestamp'] - T, r['name']) for r in got.events()],
              [('begin', 0, 'a'), ('begin', 1, ''), ('end', 2, ''), ('begin', 3, ''), ('end', 4, ''), ('end', 5, 'a')])


def counter_track(uuid, name, parent=0, *parts):
    return packet(msg(60, num(1, uuid), num(5, parent) if parent else b'', msg(2, name), *parts))


def count(ts, uuid, value, *parts):
    return packet(msg(11, num(9, COUNTER), num(11, uuid), num(30, value), *parts), ts=ts)


@test
def counters_below_others(convert):
    """They have the names of the tracks that they are in: two of one name are apart."""
    tracks = (counter_track(1, 'GPU 0'), counter_track(2, 'GPU 1'), counter_track(3, 'freq', 1, msg(8)),
              counter_track(4, 'freq', 2, msg(8)), packet(msg(60, num(1, 10), msg(3, num(1, 50)))),
              counter_track(11, 'freq', 10, msg(8)), counter_track(12, 'group', 10), counter_track(13, 'freq', 12, msg(8)),
              thread(20, 50, 51, 'loop'), counter_track(21, 'freq', 20, msg(8)))
    uuids = 3, 4, 3, 11, 13, 21
    got = convert(b''.join(tracks) + b''.join(count(T + i, uuid, i) for i, uuid in enumerate(uuids)))
    equal([(r['thread'][0], r['name']) for r in got.events('counter')],
          [(4200000003, 'GPU 0 / freq'), (4200000003, 'GPU 1 / freq'), (4200000003, 'GPU 0 / freq'), (50, 'freq'),
           (50, 'group / freq'), (50, 'freq (loop 51)')])
    got = convert(counter_track(1, 'x' + 'é' * 600, 0, msg(8)) + count(T, 1, 1))
    equal((got.names(), got.input['cut_strings'], got.output['strings_repaired']), (['x' + 'é' * 511], 1, 0))


@test
def extra_counters(convert):
    """They come with any event, a counter, too; values of no counter are counted, and those of no track."""
    tracks = counter_track(7, 'a', 0, msg(8)) + counter_track(8, 'b', 0, msg(8))
    got = convert(tracks + count(T, 7, 3, num(12, 9), num(31, 8)) + count(T + 1, 7, 4, num(12, 5), num(31, 99), num(12, 6)))
    equal([(r['name'], r['timestamp'], r['arguments'][0][2]) for r in got.events()],
          [('b', T, 9), ('a', T, 3), ('a', T + 1, 4)])
    equal((got.input['extra_values_dropped'], got.input['packets_used'], got.done.returncode), (2, 4, 3))
    equal('extra value of no counter' in got.said, True, got.said)
    # The thread's own time is an argument of the event, too.
    time = counter_track(5, '', 1, msg(8, num(1, 1), num(4, 1000), num(5, 1)))
    got = convert(thread() + time + event(T, BEGIN, 'x', 1, num(12, 10), num(31, 5)) + event(T + 9, END, '', 1, num(12, 5), num(31, 5)))
    equal([(r['event_type'], [(name, value) for name, _, value in r['arguments']]) for r in got.events()],
          [('counter', [('value', 10000)]), ('duration_begin', [('thread_time_ns', 10000)]), ('counter', [('value', 15000)]),
           ('duration_end', [('thread_time_ns', 15000)])])


@test
def counters_of_the_machine(convert):
    got = convert(packet(msg(7, msg(1, num(1, 2), num(2, 100)), num(4, 77), msg(3, num(1, 1), num(5, 9)),
                             msg(14, num(1, 3), num(2, 5)), msg(13, msg(1, 'sda'), num(2, 8))), ts=T))
    equal({record['name']: record['arguments'][0][2] for record in got.events()},
          {'meminfo.MemFree': 102400, 'forks': 77, 'cpu1.idle_ns': 9, 'psi.io.some_ns': 5, 'disk.sda.read_sectors': 8})


@test
def lists_name_the_life_of_their_time(convert):
    """A list that comes after an id was given anew does not name what had it before, whatever says so."""
    first = switch(T, 0, 0, 500, comm='first') + switch(T + 10, 500, 0x10, 300, 'first', 'zygote')
    again = switch(T + 30, 300, 1, 500, 'zygote', 'main') + switch(T + 40, 500, 1, 0, 'main')
    lists = tree(T + 100, process(500, 300, 'second', '-x'), tree_thread(500, 500, 'second thread'))
    for born in (newtask(T + 20, 300, 500, 'main'), b''):
        got = convert(tree(T - 100, process(300, 1, 'zygote')) + bundle(0, first, born, again) + lists)
        koid = got.switches()[2][3]
        equal((koid != 500, got.objects(1)[500], got.objects(1)[koid]), (True, 'first', 'second'), born)
        equal((got.objects(2)[500], got.objects(2)[koid]), ('first', 'second thread'), born)
    rows = [(T, 0, 500, 120), (T + 10, 0x10, 300, 120), (T + 30, 1, 500, 120), (T + 40, 1, 0, 120)]
    got = convert(bundle(0, compact(rows[:1])) + bundle(0, compact(rows[1:])) + lists)
    equal((got.objects(1)[500], 'second' in got.objects(1).values()), ('comm', True))
    # What has one life has its names, and the process, from the beginning on.
    got = convert(bundle(0, ftrace(T, 11, 491, msg(1, 'a'))) + tree(T + 100, process(10, 1, 'app'), tree_thread(11, 10, 'worker')))
    equal(([r['thread'] for r in got.events()], got.objects(2)[11], got.objects(1)[10]), ([(10, 11)], 'worker', 'app'))


@test
def lists_know_names_best(convert):
    """Neither scheduling nor a new name by the thread itself changes what a list says; a track does."""
    rename = ftrace(T + 5, 11, 236, num(1, 11), msg(2, 'comm'), msg(3, 'renamed'))
    events = bundle(0, switch(T, 0, 0, 11, comm='comm'), rename, switch(T + 10, 11, 1, 0, 'renamed'))
    listed = tree(T - 5, process(10, 1, 'app'), tree_thread(11, 10, 'listed'))
    for data, want in ((listed + events, 'listed'), (events, 'renamed'), (thread() + listed + events, 'worker')):
        equal(convert(data).objects(2)[11], want)


def task(ts, tid, state, cpu=0, prio=10, comm='task'):
    """A state of a thread of a kernel that is not Linux."""
    return packet(msg(117, num(1, cpu), msg(2, comm), num(3, tid), num(4, state), num(5, prio)), ts=ts, seq=0)


CREATED, RUNNABLE, RUNNING, SLEEPS, BLOCKED, DYING, DESTROYED = 1, 2, 3, 4, 5, 7, 8


@test
def scheduling_of_other_kernels(convert):
    """At one time a thread is switched out first, whatever the order in the file."""
    got = convert(task(T, 5, RUNNING) + task(T + 10, 6, RUNNING, prio=20) + task(T + 10, 5, BLOCKED) +
                  task(T + 15, 5, RUNNABLE) + task(T + 20, 6, SLEEPS) + task(T + 20, 5, RUNNING) +
                  task(T + 30, 5, DESTROYED) + task(T + 40, 7, RUNNING, cpu=3))
    equal([row for row in got.switches() if row[2] != row[3]],
          [(T, 0, 0, 5, None), (T + 10, 0, 5, 0, 'D'), (T + 10, 0, 0, 6, None), (T + 20, 0, 6, 0, None),
           (T + 20, 0, 0, 5, None), (T + 30, 0, 5, 0, 'X'), (T + 40, 3, 0, 7, None)])
    equal([(record['timestamp'], record['waking_thread_id']) for record in got.records
           if record['type'] == 'thread_wakeup'], [(T + 15, 5)])
    equal({key: value for record in got.records if record.get('timestamp') == T + 10 and
           record['type'] == 'context_switch' and record['incoming_thread_id'] == 6
           for key, _, value in record['arguments']}['incoming_weight'], 20)


@test
def lives_of_an_id_of_other_kernels(convert):
    """What was created after it was destroyed is another thread, which waits to be woken."""
    got = convert(task(T, 5, CREATED) + task(T + 5, 5, RUNNABLE) + task(T + 10, 5, RUNNING) + task(T + 20, 5, DYING) +
                  task(T + 25, 5, DESTROYED) + task(T + 30, 5, CREATED) + task(T + 35, 5, RUNNABLE) +
                  task(T + 40, 5, RUNNING) + task(T + 50, 5, SLEEPS))
    lives = [row[3] for row in got.switches() if row[3]]
    equal((len(lives), lives[0], lives[1] != 5), (2, 5, True))
    equal([(record['timestamp'], record['waking_thread_id']) for record in got.records
           if record['type'] == 'thread_wakeup'], [(T + 5, 5), (T + 35, lives[1])])


@test
def lists_of_other_kernels(convert):
    """Names of the list stay, others are the last; ids may have 64 bits; idle threads are none."""
    def thread_of(tid, pid, *parts):
        return msg(2, num(1, tid), num(2, pid), *parts)
    big = 2**62
    tasks = packet(msg(122, msg(1, num(1, 20), num(2, 1), msg(3, '/boot/server --fast')),
                       thread_of(5, 20, msg(3, 'listed'), num(4, 1)), thread_of(6, 20), thread_of(big, 20, msg(3, 'large')),
                       thread_of(9, 1, msg(3, 'idle'), num(5, 1))), seq=0)
    rename = packet(msg(120, num(1, 6), msg(2, 'new name')), ts=T + 30, seq=0)
    got = convert(tasks + task(T, 9, RUNNING) + task(T + 10, 9, RUNNABLE) + task(T + 10, 5, RUNNING, comm='other') +
                  task(T + 20, 5, SLEEPS) + task(T + 20, 6, RUNNING) + task(T + 40, 6, SLEEPS, comm='') +
                  task(T + 40, big, RUNNING) + rename)
    threads = got.objects(2)
    equal((got.objects(1)[20], threads[5], threads[6], 9 in threads), ('/boot/server', 'listed', 'new name', False))
    equal([name for koid, name in threads.items() if 'large' in name], [f'large [tid {big}]'])


@test
def frequencies_of_other_kernels(convert):
    got = convert(packet(msg(118, num(1, 2), num(2, 1_500_000_000)), ts=T, seq=0))
    equal([(record['name'], record['counter_id'], record['arguments'][0][2]) for record in got.events('counter')],
          [('cpu_frequency', 2, 1_500_000)])


@test
def damage_of_other_kernels(convert):
    bad = (packet(msg(117, num(4, 3), num(1, 0)), ts=T) + task(T, 5, 9) + task(T, 5, 0) + task(T, 5, RUNNING, cpu=4096) +
           packet(msg(118, num(1, 5000), num(2, 1)), ts=T) + packet(msg(118, num(1, 0)), ts=T) +
           packet(msg(120, msg(2, 'x')), ts=T) + packet(msg(117, num(3, 5), num(4, 3), num(1, 0))))
    got = convert(bad + task(T, 6, RUNNING))
    equal(got.input['dropped'], {'no thread': 2, 'event of no known type': 2, 'no CPU, or one beyond 4095': 2,
                                 'counter without a value': 1, 'no time': 1})
    equal([row[3] for row in got.switches()], [6])


def interned(*parts, **more):
    return packet(msg(12, *parts), flags=1, **more)


def stacks():
    """Functions main and work, stacks 1 (main) and 2 (main, work)."""
    functions = msg(5, num(1, 1), msg(2, 'main')) + msg(5, num(1, 2), msg(2, 'work'))
    frames = msg(6, num(1, 1), num(2, 1)) + msg(6, num(1, 2), num(2, 2))
    return functions + frames + msg(7, num(1, 1), num(2, 1)) + msg(7, num(1, 2), num(2, 1), num(2, 2))


@test
def streaming_profile(convert):
    """Many samples in a packet, each so many microseconds after the one before; the next packet goes on from there."""
    reference = packet(msg(44, num(1, 10), num(2, 11), num(6, 1000), msg(5, 'sampled')))
    profile = packet(msg(54, num(1, 1), num(1, 2), num(1, 77), num(2, 10), num(2, 5), num(2, 5), num(3, 2**64 - 3)))
    more = packet(msg(54, num(1, 2), num(2, 100)))
    got = convert(interned(stacks()) + reference + profile + more)
    equal([(r['timestamp'], r['thread'], {k: v for k, _, v in r['arguments']}) for r in got.events('instant')],
          [(1010000, (10, 11), {'stack': 'main', 'priority': -3}),
           (1015000, (10, 11), {'stack': 'work\nmain', 'priority': -3}), (1020000, (10, 11), {'priority': -3}),
           (1120000, (10, 11), {'stack': 'work\nmain'})])
    equal((got.input['samples'], got.input['unknown_ids']), (4, 1))
    equal(convert(interned(stacks()) + profile + event(T, INSTANT, 'x')).input['dropped'], {'no thread': 1})


@test
def heap_profile(convert):
    """Samples with their stacks, and what the process had allocated and freed; of old ones with strings of their own."""
    def dump(*parts):
        return msg(5, num(1, 10), num(9, 4000), msg(11, 'libc.malloc'), *parts)
    samples = (msg(2, num(1, 1), num(2, 100), num(3, 40), num(5, 3)), msg(2, num(1, 2), num(2, 50), num(6, 1)))
    own = (msg(1, num(1, 1), msg(2, 'main')), msg(1, num(1, 2), msg(2, 'work')), msg(2, num(1, 1), num(2, 1)),
           msg(2, num(1, 2), num(2, 2)), msg(3, num(1, 1), num(2, 1)), msg(3, num(1, 2), num(2, 1), num(2, 2)))
    for begin, parts in ((interned(stacks()), ()), (b'', own)):
        got = convert(snapshot((BOOT, T), (4, 4000)) + begin + packet(msg(37, *parts, dump(*samples)), ts=T + 9))
        equal([(r['name'], r['timestamp'], {k: v for k, _, v in r['arguments']}) for r in got.events('instant')],
              [('heap sample', T, {'stack': 'main', 'allocated_bytes': 100, 'freed_bytes': 40, 'allocations': 3,
                                   'heap': 'libc.malloc'}),
               ('heap sample', T, {'stack': 'work\nmain', 'allocated_bytes': 50, 'frees': 1, 'heap': 'libc.malloc'})])
        equal({r['name']: (r['thread'][0], r['arguments'][0][2]) for r in got.events('counter')},
              {'heap.libc.malloc.allocated_bytes': (10, 150), 'heap.libc.malloc.freed_bytes': (10, 40)})
    got = convert(packet(msg(37, dump(*samples)), ts=T + 9))
    equal({r['timestamp'] for r in got.events()}, {T + 9}, 'without that clock')


@test
def sample_without_a_process(convert):
    """It is that of the thread, if the thread is known; else one of its own."""
    known = tree(None, process(10, 0, '/bin/app'), tree_thread(11, 10, 'listed'))
    got = convert(known + packet(msg(66, num(1, 0), num(3, 11)), ts=T) + packet(msg(66, num(1, 0), num(3, 12)), ts=T + 1))
    equal([(s.process, s.thread) for s in got.samples.samples], [(10, 11), (12, 12)])
    equal((got.objects(2)[11], len(got.objects(2))), ('listed', 4))


@test
def counters_of_samples(convert):
    """What perf counted is a counter of the CPU for each event, named as in the defaults, and one of its own for each session."""
    def defaults(seq, *parts):
        return packet(msg(59, msg(12, *parts)), seq=seq, flags=1)

    def sample(seq, cpu, *parts):
        return packet(msg(66, num(1, cpu), *parts), ts=T, seq=seq)

    def counters(got):
        return [(r['name'], r["counter_id"], r['arguments'][0][2]) for r in got.events('counter')]
    task = num(2, 10) + num(3, 11)
    cycles = msg(1, num(2, 100), num(4, 10))
    got = convert(defaults(1, cycles, msg(4, num(1, 11), num(5, 1), num(5, 2)), msg(4, msg(2, msg(1, 'sched:sched_switch'))),
                           msg(4, msg(3, num(1, 4), num(2, 0x1b))), msg(4, num(1, 12), msg(4, 'own'))) +
                  sample(1, 3, task, num(6, 1234), num(7, 1), num(7, 2), msg(7, b'\x03\x04')) + sample(1, 0, task, num(6, 5)))
    equal([row[::2] for row in counters(got)],
          [('cpu3.perf.cpu-cycles', 1234), ('cpu3.perf.instructions:uk', 1), ('cpu3.perf.sched:sched_switch', 2),
           ('cpu3.perf.raw.0x4.0x1b.0x0.0x0', 3), ('cpu3.perf.own', 4), ('cpu0.perf.cpu-cycles', 5)])
    equal((len(got.samples.samples), got.input['samples'], got.input['packets_used']), (2, 2, 2))
    got = convert(defaults(1, cycles) + defaults(2, cycles) + sample(1, 0, task, num(6, 7)) + sample(2, 0, task, num(6, 8)))
    equal([row[2] for row in counters(got)], [7, 8])
    equal(len({row[1] for row in counters(got)}), 2)
    got = convert(sample(1, 0, task, num(6, 7), num(7, 9), msg(7, bytes(40))))
    equal(counters(got)[0][::2], ('cpu0.perf.cpu-clock', 7))
    equal((got.input['extra_values_dropped'], got.done.returncode), (41, 3))
    got = convert(defaults(1, cycles) + sample(1, 2, num(6, 7)))
    equal(([row[::2] for row in counters(got)], got.samples.samples), ([('cpu2.perf.cpu-cycles', 7)], []))


@test
def events_of_the_sampler(convert):
    """They are no samples; that it stopped by itself is shown."""
    def sample(ts, *parts):
        return packet(msg(66, num(1, 3), *parts), ts=ts)
    got = convert(sample(T, msg(19)) + sample(T + 1, msg(19, num(1, 1))) + sample(T + 2, num(2, 10), num(3, 11)))
    equal((len(got.samples.samples), got.names(), got.times()), (1, ['sampling stopped'], {'sampling stopped': T + 1}))
    equal((got.args('sampling stopped'), got.input['samples']), ({'reason': 'guardrail'}, 1))


@test
def system_calls_have_names(convert):
    """Those of the machine; of one that is not known they have their numbers."""
    calls = (ftrace(T, 5, 329, num(1, 64), num(2, 1), num(2, 255)) + ftrace(T + 5, 5, 330, num(1, 64), num(2, 7)) +
             ftrace(T + 9, 5, 329, num(1, 400)) + ftrace(T + 10, 5, 330, num(1, 400), num(2, 2**64 - 1)))
    for machine, names in (('aarch64', ['sys_write', 'syscall 400']), ('x86_64', ['sys_semget', 'syscall 400']),
                           ('vax', ['syscall 64', 'syscall 400'])):
        got = convert(packet(msg(45, msg(1, msg(1, 'Linux'), msg(4, machine)))) + bundle(0, calls))
        equal([(r['timestamp'], r['event_type'], r['name']) for r in got.events()],
              [(T, 'duration_begin', names[0]), (T + 5, 'duration_end', names[0]), (T + 9, 'duration_begin', names[1]),
               (T + 10, 'duration_end', names[1])])
        equal(got.args(names[0]), {'args': '1, ff', 'ret': 7})


@test
def losses_of_the_recorder(convert):
    """Counts that grow; what was lost before the trace began is none of it."""
    def stats(ts, *buffers):
        return packet(msg(35, *(msg(1, num(19, lost), num(3, overwritten)) for lost, overwritten in buffers)), ts=ts, seq=0)

    def cpu(number, overrun, dropped):
        return msg(2, num(1, number), num(3, overrun), num(8, dropped))
    got = convert(thread() + event(T, INSTANT, 'x') + stats(T + 1, (0, 0), (3, 0)) + stats(T + 2, (0, 2), (3, 0)) +
                  stats(T + 3, (0, 2), (4, 0)) + packet(msg(34, num(1, 1), cpu(0, 5, 0), cpu(1, 7, 0)), seq=0) +
                  packet(msg(34, num(1, 2), cpu(0, 5, 0), cpu(1, 17, 2)), ts=T + 9, seq=0))
    equal([(r['name'], r['timestamp'], [v for _, _, v in r['arguments']]) for r in got.events() if r['category'] == 'lost'],
          [('lost in a buffer', T + 1, [1, 3, 0, 0]), ('lost in a buffer', T + 2, [0, 0, 2, 0]),
           ('lost in a buffer', T + 3, [1, 1, 0, 0]), ('lost on a CPU', T + 9, [1, 12])])
    equal((got.input['buffer_losses'], got.input['lost_ftrace_events'], got.input['packets_skipped']), (3, 12, 1))
    got = convert(stats(None, (2, 0)) + thread() + event(T, INSTANT, 'x') + stats(None, (5, 0)))
    equal([(r['name'], r['timestamp']) for r in got.events()], [('x', T), ('lost in a buffer', T)])
    equal(got.input['buffer_losses'], 2)


@test
def meters(convert):
    battery = packet(msg(38, num(1, 5), varint(2 << 3 | 5) + struct.pack('<f', 61.5), num(3, 2**64 - 9), msg(5, 'main')), ts=T)
    rails = packet(msg(40, msg(1, num(1, 3), msg(2, 'cpu')), msg(2, num(1, 3), num(2, 2000), num(3, 77)),
                       msg(2, num(1, 3), num(3, 78))), ts=T)
    unknown = packet(msg(40, msg(2, num(1, 4), num(2, 2000), num(3, 77))), ts=T)
    memory = packet(msg(71, num(1, 0), num(2, 10), num(3, 4096)), ts=T) + packet(msg(71, num(3, 9999)), ts=T)
    gpu = packet(msg(52, msg(1, msg(1, num(1, 7), msg(2, 'busy'))), num(3, 1), msg(2, num(1, 7), num(2, 55)),
                     msg(2, num(1, 8), varint(3 << 3 | 1) + struct.pack('<d', 0.5))), ts=T)
    got = convert(battery + rails + unknown + memory + gpu)
    equal(sorted((r['name'], r['timestamp'], r['arguments'][0][2]) for r in got.events()),
          [('GPU 1 counter 8', T, 0.5), ('GPU Memory', T, 4096), ('GPU Memory', T, 9999), ('batt.main.capacity_pct', T, 61.5),
           ('batt.main.charge_uah', T, 5), ('batt.main.current_ua', T, -9), ('busy (GPU 1)', T, 55),
           ('power.cpu_uws', 2 * 10**9, 77), ('power.cpu_uws', T, 78)])
    equal({r['thread'][0] for r in got.events() if r['arguments'][0][2] == 4096}, {10})
    equal(got.input['dropped'], {'counter on a track that is none': 1})


@test
def more_counters_of_processes(convert):
    got = convert(packet(msg(9, msg(1, num(1, 50), num(13, 10), num(14, 20), num(23, 3), num(24, 4))), ts=T))
    equal({r['name']: r['arguments'][0][2] for r in got.events()},
          {'chrome.private_footprint': 10240, 'chrome.peak_rss': 20480, 'mem.smaps.swap.pss': 3072, 'mem.dmabuf_rss': 4096})


@test
def counters_of_interrupts_and_pages(convert):
    got = convert(packet(msg(7, msg(6, num(1, 30), num(2, 99)), msg(8, num(1, 3), num(2, 98)),
                             msg(12, msg(1, '0'), msg(2, 'Normal'), num(3, 4), num(3, 5)),
                             msg(18, msg(1, 'kmalloc'), num(2, 1), num(3, 2))), ts=T))
    equal([(r['name'], r['arguments'][0][2]) for r in got.events()],
          [('irq.30', 99), ('softirq.3', 98), ('buddy.0.Normal.order0', 4), ('buddy.0.Normal.order1', 5),
           ('slab.kmalloc.pages_per_slab', 1), ('slab.kmalloc.slabs', 2)])


@test
def counters_of_a_gpu_that_is_not_said(convert):
    """They have the name of any GPU's counter of that number."""
    spec = packet(msg(52, msg(1, num(6, 0), msg(1, num(1, 34), msg(2, 'busy'))), num(3, 1)), ts=T)
    got = convert(spec + packet(msg(52, msg(2, num(1, 34), num(2, 55))), ts=T))
    equal([(r['name'], r['arguments'][0][2]) for r in got.events()], [('busy (GPU 1)', 55)])


@test
def power_rails_of_sessions(convert):
    """The same index is another rail in another session."""
    def rail(session, name):
        return packet(msg(40, msg(1, num(1, 3), msg(2, name)), num(3, session)), ts=T)

    def energy(session, value):
        return packet(msg(40, msg(2, num(1, 3), num(3, value)), num(3, session)), ts=T)
    got = convert(rail(77, 'cpu') + rail(78, 'gpu') + energy(78, 2) + energy(77, 1))
    equal(sorted((r['name'], r['arguments'][0][2]) for r in got.events()), [('power.cpu_uws', 1), ('power.gpu_uws', 2)])


@test
def names_of_memory_counters(convert):
    """As /proc has them; of numbers that are not known the number."""
    def pair(field, key, value):
        return msg(field, num(1, key), num(2, value))
    got = convert(packet(msg(7, pair(1, 38, 1), pair(1, 39, 2), pair(2, 1, 3), pair(2, 10, 4), pair(2, 188, 5), pair(2, 999, 6)), ts=T))
    equal([(r['name'], r['arguments'][0][2]) for r in got.events()],
          [('meminfo.IonHeapPool', 1024), ('meminfo.39', 2048), ('vmstat.nr_free_pages', 3), ('vmstat.nr_mapped', 4),
           ('vmstat.workingset_restore_file', 5), ('vmstat.999', 6)])


@test
def more_counters_of_the_machine(convert):
    got = convert(packet(msg(7, num(11, 1000), num(11, 2000), msg(15, msg(1, 'zone0'), num(2, 40), msg(3, 'x86')),
                             msg(16, num(1, 2), msg(2, msg(1, 'C6'), num(2, 9))), num(17, 800)), ts=T))
    equal({r['name']: r['arguments'][0][2] for r in got.events()},
          {'cpu0.frequency_khz': 1000, 'cpu1.frequency_khz': 2000, 'thermal.x86': 40, 'cpu2.idle.C6_us': 9,
           'gpu.frequency_mhz': 800})


@test
def names_of_ftrace_events(convert):
    """Those of many subsystems have names and fields; the text of the kernel decides what they mean."""
    got = convert(bundle(0, ftrace(T, 5, 360, msg(1, 'eth0'), num(2, 60)), ftrace(T + 1, 5, 313, num(1, 1), num(2, 4096), num(3, 1)),
                         ftrace(T + 1, 5, 359, num(1, 1), num(2, 0), num(4, 8192)),
                         ftrace(T + 2, 5, 41, num(1, 8 << 20 | 1), num(2, 7)), ftrace(T + 9, 5, 42, num(2, 7))))
    equal({r['name'] for r in got.events('instant')}, {'netif_receive_skb'})
    equal([(r['name'], r['thread'], r['arguments'][0][::2]) for r in got.events('counter')],
          [('rss_stat', (5, 5), ('MM_ANONPAGES', 4096)), ('rss_stat_throttled', (5, 5), ('MM_FILEPAGES', 8192))])
    equal([(r['name'], r['timestamp'], r['category']) for r in got.events() if r['event_type'].startswith('duration_')][0],
          ('ext4_da_write', T + 2, 'ext4'))


@test
def memory_of_processes(convert):
    """Of older kernels it is the thread's; of another process by what that said before, else of none that is known."""
    def rss(ts, tid, size, *parts):
        return ftrace(ts, tid, 313, num(1, 0), num(2, size), *parts)
    got = convert(bundle(0, rss(T, 50, 1), rss(T + 1, 60, 2), rss(T + 2, 50, 3, num(3, 1), num(4, 111)),
                         rss(T + 3, 60, 4, num(3, 0), num(4, 111)), rss(T + 4, 60, 5, num(3, 0), num(4, 222))))
    equal([(r['arguments'][0][2], r['thread'][0]) for r in got.events('counter')],
          [(1, 50), (2, 60), (3, 50), (4, 50), (5, 4200000003)])


@test
def bios_and_buffers(convert):
    """Numbers 119 and 121 are of different events."""
    dev = num(1, 8 << 20), num(2, 100)
    got = convert(bundle(0, ftrace(T, 5, 119, *dev, num(3, 8), msg(4, 'R'), msg(5, 'cat')), ftrace(T + 5, 5, 121, *dev, num(3, 4096))))
    equal([(r['name'], [v for _, _, v in r['arguments']]) for r in got.events()],
          [('block_bio_queue', ['8,0 R 100 + 8 [cat]']), ('block_dirty_buffer', ['8,0', 100, 4096])])


@test
def requests_that_end_elsewhere(convert):
    """Two requests at a time, which end in another order and on other threads."""
    def io(ts, tid, number, sector, sectors):
        return ftrace(ts, tid, number, num(1, 8 << 20), num(2, sector), num(3, sectors), msg(6, 'R'), msg(7, 'db'))
    got = convert(bundle(0, io(T, 5, 546, 200, 8), io(T + 1, 5, 546, 300, 8), io(T + 10, 0, 547, 200, 0), io(T + 20, 6, 547, 300, 0)))
    equal([(r['event_type'], r['timestamp'] - T, r['async_correlation_id']) for r in got.events()],
          [('async_begin', 0, 1), ('async_begin', 1, 2), ('async_end', 10, 1), ('async_end', 20, 2)])


@test
def transactions(convert):
    """Of binder: a flow from who sends to who receives."""
    def sent(ts, tid, number, node, to, reply):
        return ftrace(ts, tid, 50, num(1, number), num(2, node), num(3, to), num(4, to), num(5, reply), num(6, 3), num(7, 16))
    got = convert(bundle(0, sent(T, 50, 77, 1, 60, 0), ftrace(T + 10, 60, 51, num(1, 77)), sent(T + 20, 60, 78, 0, 50, 1),
                         ftrace(T + 30, 50, 51, num(1, 78))))
    equal([(r['event_type'], r['timestamp'] - T, r['thread'][1], r['flow_correlation_id'])
           for r in got.events() if r['event_type'].startswith('flow')],
          [('flow_begin', 0, 50, 77), ('flow_end', 10, 60, 77), ('flow_begin', 20, 60, 78), ('flow_end', 30, 50, 78)])
    equal([(key, value) for r in got.events('instant')[:1] for key, _, value in r['arguments']],
          [('transaction', 77), ('dest_node', 1), ('dest_proc', 60), ('dest_thread', 60), ('reply', 0), ('flags', 16),
           ('code', 3)])


@test
def suspend_of_the_machine(convert):
    """Its phases end on other threads, the freeze with the number of another CPU."""
    def phase(ts, tid, name, value, begins):
        return ftrace(ts, tid, 113, msg(1, name), num(2, value), num(3, begins))
    got = convert(bundle(0, phase(T, 100, 'suspend_enter', 3, 1), phase(T + 1, 0, 'timekeeping_freeze', 4, 1),
                         phase(T + 5, 7, 'timekeeping_freeze', 1, 0), phase(T + 9, 101, 'suspend_enter', 3, 0)))
    equal([(r['event_type'], r['timestamp'] - T, r['name']) for r in got.events()],
          [('async_begin', 0, 'suspend_enter[3]'), ('async_begin', 1, 'timekeeping_freeze[4]'),
           ('async_end', 5, 'timekeeping_freeze[4]'), ('async_end', 9, 'suspend_enter[3]')])
    equal((got.output['unmatched_ends'], got.objects(1)[got.events()[0]['thread'][0]]), (0, 'global'))


@test
def function_that_is_not_said(convert):
    got = convert(bundle(0, ftrace(T, 5, 437), ftrace(T + 1, 5, 437, num(1, 1)), ftrace(T + 2, 5, 438), ftrace(T + 3, 5, 438)))
    equal([r['name'] for r in got.events('duration_begin')], ['0x0', '0x0'])


@test
def async_slices_that_begin_again(convert):
    """The first begin of a cookie counts, the others are instants."""
    def mark(ts, tid, text):
        return ftrace(ts, tid, 3, msg(2, text + '|1204|lock|7\n'))
    got = convert(bundle(0, mark(T, 10, 'S'), mark(T + 5, 11, 'S'), mark(T + 30, 11, 'F'), mark(T + 60, 11, 'S'), mark(T + 90, 11, 'F')))
    equal([(r['event_type'], r['timestamp'] - T, r.get('async_correlation_id')) for r in got.events()],
          [('async_begin', 0, 1), ('instant', 5, None), ('async_end', 30, 1), ('async_begin', 60, 2), ('async_end', 90, 2)])
    equal((got.output['unmatched_ends'], got.output['closed_slices']), (0, 0))


@test
def rates_of_clocks(convert):
    """Those of the common clock framework, too."""
    got = convert(bundle(0, ftrace(T, 5, 322, msg(1, 'gpu_clk'), num(2, 5 * 10**9)), ftrace(T + 1, 5, 322, msg(1, 'aux'), num(2, 0))))
    equal([(r['name'], r['category'], [(a[0], a[2]) for a in r['arguments']]) for r in got.events('counter')],
          [('clk_set_rate', 'clk', [('gpu_clk', 5 * 10**9)]), ('clk_set_rate', 'clk', [('aux', 0)])])


@test
def kills_for_memory(convert):
    got = convert(bundle(0, ftrace(T, 5, 35, msg(1, 'app'), num(2, 77), num(3, 1000), num(4, 2000), num(5, -3))))
    equal((got.names(), got.events()[0]['category'], got.input['unknown_ftrace_events']), (['lowmemory_kill'], 'lowmemorykiller', {}))
    equal(got.args('lowmemory_kill'), {'comm': 'app', 'pid': 77, 'pagecache_size': 1000, 'pagecache_limit': 2000, 'free': -3})


@test
def events_of_drivers_and_hypervisors(convert):
    """They have their names, those of their fields, and nothing else."""
    got = convert(bundle(0, ftrace(T, 5, 377, num(1, 1), num(2, 2**64 - 2), num(3, 4096)), ftrace(T + 1, 5, 431, num(1, 512), num(2, 7), num(3, 0)),
                         ftrace(T + 2, 5, 566, num(1, 3), num(2, 1), msg(3, 'reset')), ftrace(T + 3, 5, 477)))
    equal([(r['category'], r['name']) for r in got.events()],
          [('kvm', 'kvm_exit'), ('android_fs', 'android_fs_dataread_end'), ('dwc3', 'dwc3_event'), ('hyp', 'hyp_exit')])
    equal((got.args('kvm_exit'), got.args('dwc3_event'), got.args('hyp_exit')),
          ({'esr_ec': 1, 'ret': -2, 'vcpu_pc': 4096}, {'event': 3, 'ep0state': 1, 'str': 'reset'}, {}))
    equal(got.input['unknown_ftrace_events'], {})


@test
def instants_of_kprobes(convert):
    got = convert(bundle(0, ftrace(T, 5, 542, msg(1, 'do_exit'), num(2, 3))))
    equal([(r['name'], r['event_type'], r['arguments']) for r in got.events()], [('do_exit', 'instant', [])])
    equal(got.input['unknown_ftrace_events'], {})


@test
def statistics_of_journald(convert):
    """They are no line."""
    got = convert(packet(msg(132, num(20, 100), num(21, 0)), ts=T) + packet(msg(132, num(1, 10), msg(7, 'line')), ts=T + 1))
    equal([r['log_message'] for r in got.records if r['type'] == 'log'], ['line'])
    equal((got.input['packets_skipped'], got.input['packets_used']), (1, 1))
    got = convert(packet(msg(132, num(20, 100), num(21, 3)), ts=T) + packet(msg(132, num(20, 200), num(21, 5)), ts=T + 9))
    equal([(r['timestamp'], r['name'], r['arguments'][0][2]) for r in got.events()], [(T, 'lost lines of the journal', 3), (T + 9, 'lost lines of the journal', 2)])


@test
def markers_of_drivers(convert):
    got = convert(bundle(0, ftrace(T, 5, 333, num(1, 5), msg(2, 'frame'), num(3, ord('B'))), ftrace(T + 5, 5, 333, num(1, 5), num(3, ord('E'))),
                         ftrace(T + 6, 5, 80, num(1, 5), msg(2, 'old'), num(3, 1)), ftrace(T + 7, 5, 80, num(1, 5), num(3, 0)),
                         ftrace(T + 8, 5, 349, num(1, 5), msg(4, 'level'), num(5, ord('C')), num(6, 2**64 - 4))))
    equal([(r['name'], r['timestamp']) for r in got.events() if r['event_type'] == 'duration_begin'], [('frame', T), ('old', T + 6)])
    equal([r['timestamp'] for r in got.events('duration_end')], [T + 5, T + 7])
    equal([(r['name'], r['arguments'][0][2]) for r in got.events('counter')], [('level', -4)])
    got = convert(bundle(0, ftrace(T, 5, 331, num(1, 1), msg(2, 'touch'), num(3, 5)), ftrace(T + 5, 5, 331, num(1, 2), msg(2, 'touch'), num(3, 5)),
                         ftrace(T + 6, 5, 331, num(1, 4), msg(2, 'fingers'), num(3, 5), num(4, 2))))
    equal([(r['event_type'], r['timestamp'] - T) for r in got.events()], [('duration_begin', 0), ('duration_end', 5), ('counter', 6)])
    equal((got.args('fingers'), got.input['unknown_ftrace_events']), ({'value': 2}, {}))
    for number, name in ((348, 4), (333, 2), (349, 4), (490, 2), (490, 4)):
        kind = {333: 3}.get(number, 5)
        got = convert(bundle(0, ftrace(T, 5, number, num(1, 5), msg(name, 'vsync'), num(kind, ord('I')))))
        equal([(r['name'], r['event_type'], r['thread'][1]) for r in got.events()], [('vsync', 'instant', 5)])
        equal(got.input['unknown_ftrace_events'], {})


@test
def no_utf8(convert):
    """Bytes of any kind become text, and are counted; the independent reader refuses others."""
    bad = b'a\xff\xc3(\xed\xa0\x80z'
    shown = bad.decode(errors='replace')
    got = convert(packet(msg(60, num(1, 1), msg(4, num(1, 10), num(2, 11), msg(5, bad)))) +
                  packet(msg(60, num(1, 2), msg(2, bad), msg(8, b''))) +
                  packet(msg(11, num(9, INSTANT), num(11, 1), msg(23, bad), msg(22, bad),
                             msg(4, msg(10, bad), msg(6, bad)), msg(4, msg(10, 'long'), msg(6, bad * 100))), ts=T) +
                  packet(msg(11, num(9, COUNTER), num(11, 2), num(30, 1)), ts=T) +
                  packet(msg(132, num(1, 10), num(2, 11), msg(6, bad), msg(7, bad)), ts=T, seq=0) +
                  bundle(0, ftrace(T, 12, 3, msg(2, b'B|12|' + bad)), ftrace(T + 1, 12, 4, msg(1, bad), num(2, 12), num(6, 0))))
    for text in [got.objects(2)[11], *got.names('counter'), *got.names('duration_begin')]:
        equal((text[0], text[-1], '\ufffd' in text), ('a', 'z', True), text)
    equal({r['log_message'] for r in got.records if r['type'] == 'log'}, {shown})
    equal(got.output['strings_repaired'] > 5, True, got.output)


@test
def nested_arguments(convert):
    """Dictionaries and arrays of any depth that a reader can be expected to have; deeper ones are counted."""
    def nest(levels):
        value = num(4, 7)
        for level in range(levels):
            value = msg(12, value) if level % 2 else msg(11, msg(10, 'k'), value)
        return msg(4, msg(10, 'a'), value)
    got = convert(thread() + event(T, INSTANT, 'flat', 1, nest(3)) + event(T + 1, INSTANT, 'deep', 1, nest(64)) +
                  event(T + 2, INSTANT, 'too deep', 1, nest(500), msg(4, msg(10, 'b'), num(4, 1))))
    equal(got.args('flat'), {'a.k[0].k': 7})
    equal(list(got.args('deep').values()), [7])
    equal((got.args('too deep').get('b'), got.input['bad_arguments']), (1, 1))


@test
def values_that_come_once(convert):
    """They leave space for the names of what follows, however many there are."""
    def many(k):
        return packet(msg(11, num(9, INSTANT), num(11, 1), msg(23, 'big'),
                          b''.join(b'\x22\x41\x52\x01k\x32\x3c%060d' % (k * 20000 + i) for i in range(20000))), ts=T + k)
    got = convert(thread() + b''.join(map(many, range(29))) +
                  packet(msg(12, msg(2, num(1, 1), msg(2, 'interned'))), msg(11, num(9, INSTANT), num(11, 1), num(10, 1)),
                         ts=T + 100, flags=1) +
                  thread(2, 20, 21, 'late thread') + event(T + 101, INSTANT, 'inline', 2) +
                  packet(msg(60, num(1, 9), msg(2, 'late counter'), msg(8))) +
                  packet(msg(11, num(9, COUNTER), num(11, 9), num(30, 1)), ts=T + 102) +
                  packet(msg(7, msg(1, num(1, 2), num(2, 100))), ts=T + 103))
    equal([name for name in got.names() if name != 'big'], ['interned', 'inline', 'late counter', 'meminfo.MemFree'])
    equal((got.objects(2)[21], got.input['strings_dropped'], got.done.returncode), ('late thread', 0, 0))


@test
def more_names_than_there_is_space_for(convert):
    """What has no name then is counted, and the first place is said."""
    threads = [thread(i, 10, 100 + i, f'{i:05} ' + 'x' * 30000) for i in range(1, 1200)]
    got = convert(b''.join(threads) + packet(msg(7, msg(1, num(1, 2), num(2, 100))), ts=T) +
                  packet(msg(12, msg(2, num(1, 1), msg(2, 'y' * 30000))), msg(11, num(9, INSTANT), num(11, 1), num(10, 1)),
                         ts=T, flags=1))
    named = sum(100 < koid < 2000 for koid in got.objects(2))
    equal((got.input['strings_dropped'], got.input['ids_dropped'], got.names()), (1199 - named, 1, ['meminfo.MemFree', '']))
    equal(got.input['first_dropped'][0]['offset'], sum(map(len, threads[:named])))
    equal(('more names than there is space for' in got.said, got.done.returncode), (True, 3), got.said)


@test
def values_of_unknown_messages(convert):
    """A message whose description is not in the trace is no argument; others of that event are."""
    got = convert(thread() + event(T, INSTANT, 'e', 1, msg(4, msg(10, 'p'), msg(14, num(1, 5)), msg(16, 'my.Type')),
                                   msg(4, msg(10, 'q'), num(4, 1))))
    equal((got.args('e'), got.input['bad_arguments']), ({'q': 1}, 1))


@test
def deltas_after_a_loss(convert):
    """The sum is not known any more: it begins again."""
    track = packet(msg(60, num(1, 7), msg(2, 'sum'), msg(8, num(5, 1))), flags=1)

    def count(ts, value, **more):
        return packet(num(42, 1) if more else b'', msg(11, num(9, COUNTER), num(11, 7), num(30, value)), ts=ts)
    got = convert(track + count(T, 5) + count(T + 1, 5) + count(T + 2, 5, lost=True))
    equal([record['arguments'][0][2] for record in got.events('counter')], [5, 10, 5])
    equal((got.input['packets_lost_before'], got.names('instant')), (1, ['lost packets']))


@test
def interned_id_of_0(convert):
    """Profilers give the empty string that id at the beginning: it is an id like others, and no loss."""
    empty = [msg(table, num(1, 0), msg(2, b'')) for table in (16, 17, 5)]
    got = convert(packet(msg(12, *empty), flags=1) + thread() + event(T, INSTANT, 'i'))
    equal((got.done.returncode, got.input['ids_dropped']), (0, 0))
    name = packet(msg(12, msg(2, num(1, 0), msg(2, 'zero'))), flags=1)
    got = convert(name + thread() + packet(msg(11, num(9, INSTANT), num(11, 1), num(10, 0)), ts=T))
    equal((got.names(), got.done.returncode), (['zero'], 0))


@test
def sequence_of_id_0(convert):
    """It is one if the packet says so."""
    event_data = (num(8, T), num(10, 0), msg(11, num(9, INSTANT), num(11, 1), msg(23, 'zero')))
    got = convert(thread() + msg(1, *event_data))
    equal((got.names(), got.done.returncode), (['zero'], 0))
    got = convert(thread() + msg(1, event_data[0], event_data[2]))
    equal(got.input['dropped'], {'no sequence': 1})


@test
def loss_before_a_packet_without_a_time(convert):
    """A bundle of ftrace has none: the loss is drawn at the latest time before it."""
    lost = packet(num(42, 1), msg(1, num(1, 0), ftrace(T + 9, 11, 5, msg(2, 'text'))))
    got = convert(bundle(0, ftrace(T, 11, 5, msg(2, 'text'))) + lost)
    equal([r['timestamp'] for r in got.events() if r['name'] == 'lost packets'], [T])
    equal(got.input['packets_lost_before'], 1)


@test
def packets_about_the_recording(convert):
    """Its configuration, lists of packages, metadata: nothing for a timeline, and nothing that is unknown."""
    about = b''.join(packet(msg(field, num(1, 1)), seq=0) for field in (33, 47, 51, 109))
    got = convert(about + thread() + event(T, INSTANT, 'i'))
    equal((got.names(), got.input['unknown_packets'], got.input['packets_skipped']), (['i'], {}, 4))


@test
def rank_below_0(convert):
    """Ranks among siblings have a sign."""
    tracks = packet(msg(60, num(1, 1), msg(2, 'parent'), num(11, 3)))
    tracks += packet(msg(60, num(1, 2), num(5, 1), msg(2, 'first'), num(12, -10)))
    got = convert(tracks + event(T, INSTANT, 'a', 2))
    orders = [value for r in got.records if r['type'] == 'kernel_object'
              for key, _, value in r['arguments'] if key == 'sort_index']
    equal(orders, [-10])


@test
def process_2_of_a_container(convert):
    """It is kthreadd only if it is the kernel's, or has that name; so are the parents of kernel threads."""
    def processes(*rows):
        got = convert(tree(T, *rows) + thread(1, 2, 2, 'app') + event(T + 1, BEGIN, 's') + event(T + 9, END, ''))
        return got.objects(1), [r['thread'][0] for r in got.events()]
    rows = (process(2, 1, '/usr/bin/app'), tree_thread(2, 2, 'app'), tree_thread(3, 2, 'app-w'), process(7, 2, 'child'))
    objects, at = processes(*rows)
    equal((objects.get(2), objects.get(7), at), ('/usr/bin/app', 'child', [2] * len(at)))
    for row in (process(2, 0, 'kthreadd'), msg(1, num(1, 2), num(2, 0), msg(3, 'other'), num(8, 1))):
        objects, at = processes(row, process(7, 2, 'kworker/0:0'))
        equal((7 in objects, at), (False, [0] * len(at)))


@test
def workers_in_a_list_of_threads(convert):
    """Lists from Android 16 on have main threads, too: what a worker works on is not its name."""
    rows = (process(2, 0, 'kthreadd'), process(9, 2, 'kworker/1:0-events'), tree_thread(9, 9, 'kworker/1:0-sock_diag_events'),
            process(10, 1, 'kworker/x-y'), tree_thread(10, 10, 'kworker/x-y'))
    got = convert(tree(T, *rows) + compact([(T + 1, 0, 9, 120), (T + 2, 0, 10, 120)]))
    equal([got.objects(2).get(tid) for tid in (9, 10)], ['kworker/1:0', 'kworker/x-y'])


@test
def end_of_no_state(convert):
    """A state without a name ends the one before; if there is none that is counted."""
    track = packet(msg(60, num(1, 5), msg(2, 'machine'), msg(18)))
    got = convert(track + event(T, 5, '', 5) + event(T + 1, 5, 'on', 5) + event(T + 2, 5, '', 5))
    equal((got.output['unmatched_ends'], got.output['unfinished_slices']), (1, 0))
    equal([r['timestamp'] for r in got.events() if r['name'] == 'on'], [T + 1, T + 2])


@test
def markers_of_a_thread_of_a_descriptor(convert):
    """The second track of a thread that has no name of the kernel's is called by its id."""
    got = convert(thread() + event(T, BEGIN, 'te') + bundle(0, ftrace(T + 1, 11, 3, msg(2, 'B|10|m'))) +
                  event(T + 5, END, '') + bundle(0, ftrace(T + 9, 11, 3, msg(2, 'E|10'))))
    names = [name for name in got.objects(2).values() if name.endswith('markers')]
    equal(names, ['11 markers'])


@test
def nothing_to_write(_):
    """An FXT without anything for a Perfetto trace makes no file, and that is said."""
    with tempfile.TemporaryDirectory() as tmp:
        path, out = os.path.join(tmp, 'empty.fxt'), os.path.join(tmp, 'out.pftrace')
        with open(path, 'wb') as file:
            file.write(struct.pack('<QQQ', 0x0016547846040010, 0x21, 10**9))
            file.write(struct.pack('<QQ4s4x', 0x37 | 2 << 16 | 0x8004 << 24, 5, b'name'))   # the name of a thread
        done = subprocess.run([KFXT, 'convert', '-o', out, path], capture_output=True, timeout=60)
        equal((done.returncode, os.path.exists(out)), (1, False), done.stderr)
        equal(b'nothing in it' in done.stderr, True, done.stderr)


@test
def names_by_chrome_types(convert):
    """Processes and threads without a name have that of their type, in descriptors of both forms."""
    def tracks(process_parts, thread_parts):
        return packet(msg(60, num(1, 1), *process_parts)) + packet(msg(60, num(1, 2), num(5, 1), *thread_parts))
    ids, events = (num(1, 10), num(2, 11)), event(T, INSTANT, 'a', 2)
    new = tracks((msg(3, num(1, 10)), msg(6, num(1, 1))), (msg(4, *ids), msg(7, num(1, 15))))
    old = tracks((msg(3, num(1, 10), num(4, 2)),), (msg(4, *ids, num(4, 50)),))
    named = tracks((msg(6, num(1, 1)), msg(3, num(1, 10), msg(6, 'own'))), (msg(7, num(1, 15)), msg(4, *ids, msg(5, 'its'))))
    for data, want in ((new, ('Browser', 'CrBrowserMain')), (old, ('Renderer', 'MemoryInfra')), (named, ('own', 'its')),
                       (named + new, ('own', 'its')), (new + named, ('own', 'its'))):
        got = convert(data + events)
        equal((got.objects(1)[10], got.objects(2)[11]), want)
    got = convert(packet(msg(43, num(1, 10), num(4, 6)), seq=5) + packet(msg(44, *ids, num(4, 2)), seq=5) +
                  packet(msg(11, num(9, INSTANT), msg(23, 'a')), ts=T, seq=5))
    equal((got.objects(1)[10], got.objects(2)[11]), ('Gpu', 'ChromeIOThread'))


@test
def traces_of_two_kinds_in_one_file(convert):
    """What was written from FXT ends where the recorder of Perfetto says that a trace begins; each is read as what it is."""
    def switches(lost, *rows):
        return bundle(0, *([num(3, 1)] if lost else []), compact(rows))
    written = (packet(msg(126, msg(1, msg(1, 'fxt.provider'), msg(3, 'kfxt'))), seq=0) + thread(9, 20, 21, 'main') +
               tree(T, process(20, 1, '/opt/written')) + event(T, BEGIN, 'w', 9, seq=2) + event(T + 10, END, '', 9, seq=2) +
               switches(False, (T + 20, 0, 21, 120), (T + 25, 1, 0, 120)))
    other = (thread(1, 10, 11) + tree(T + 100, process(10, 1, '/usr/bin/other')) + event(T + 100, BEGIN, 'o', 1) +
             event(T + 110, END, '', 1) + switches(False, (T + 120, 0, 11, 120)) + switches(True, (T + 130, 0, 12, 120)))
    for begin in (packet(msg(89, num(1, 1)), seq=0), packet(msg(33), seq=0)):
        for data in (written + begin + other, begin + other + written):
            got = convert(data)
            equal((got.objects(1)[20], got.objects(1)[10]), ('', '/usr/bin/other'))
            equal([(r['name'], r['event_type']) for r in got.events() if r['timestamp'] < T + 115 and r['name'] in 'wo'][:2],
                  [('w', 'duration_complete'), ('o', 'duration_begin')])
            equal(any(r['category'] == 'lost' for r in got.events()), True)
            equal('kfxt' in [r.get('name') for r in got.records if r['type'] == 'provider_info'], True)
    got = convert(written)
    equal([r['event_type'] for r in got.events()], ['duration_complete'])


@test
def unknown_fields_of_events(convert):
    """The message says how many there are, and which, as of packets."""
    got = convert(thread() + event(T, INSTANT, 'a', 1, num(900, 3)))
    equal((': 1 value of unknown event field 900 not converted' in got.said, got.done.returncode), (True, 0), got.said)
    got = convert(thread() + packet(msg(1999, 'x')) + event(T, INSTANT, 'a', 1, num(900, 3), msg(1000, 'x')) + event(T, INSTANT, 'b', 1, num(900, 4)))
    equal(': 1 packet of unknown field 1999, 3 values of unknown event fields 900, 1000 not converted' in got.said, True, got.said)
    got = convert(thread() + b''.join(packet(msg(1000 + i, 'x')) for i in range(60)) +
                  event(T, INSTANT, 'a', 1, b''.join(num(2000 + i, 1) for i in range(60))))
    line, = (line for line in got.said.splitlines() if 'unknown' in line)
    equal((', 60 values of unknown event fields 2000' in line, ', ... not converted' in line, len(line.split(': ')[-1]) < 300),
          (True, True, True), line)


@test
def more_extra_counters_than_there_may_be(convert):
    """What is beyond eight is counted, of both kinds, packed or not."""
    tracks = b''.join(packet(msg(60, num(1, 100 + i), msg(2, f'c{i}'), msg(8))) for i in range(12))
    uuids = b''.join(num(31, 100 + i) for i in range(12)) + b''.join(num(45, 100 + i) for i in range(12))
    for values in (b''.join(num(12, i) for i in range(12)), msg(12, bytes(range(12))), num(12, 0) + msg(12, bytes(range(11)))):
        got = convert(thread() + tracks + event(T, INSTANT, 'x', 1, uuids, values, msg(46, bytes(8 * 10))))
        equal((len(got.events('counter')), got.input['extra_values_dropped'], got.done.returncode), (16, 4 + 2, 3))


@test
def two_uuids_of_a_thread(convert):
    """They are one thread as long as slices of one are not within those of the other; then the later one is one of its own."""
    def rows(got):
        open_at, out = {}, {}
        for r in got.events():
            if r['event_type'] == 'duration_begin':
                open_at.setdefault(r['thread'], []).append((r['name'], r['timestamp'] - T))
            elif r['event_type'] == 'duration_end':
                name, ts = open_at[r['thread']].pop()
                out[name] = (r['thread'][1], ts, r['timestamp'] - T)
        equal(any(open_at.values()), False)
        return out
    both = thread(1) + packet(msg(60, num(1, 2), msg(4, num(1, 10), num(2, 11), msg(5, 'again'))), seq=2)
    a, b = event(T, BEGIN, 'a', 1), event(T + 10, BEGIN, 'b', 2, seq=2)
    for data in (both + a + b + event(T + 20, END, '', 1) + event(T + 30, END, '', 2, seq=2),
                 event(T + 30, END, '', 2, seq=2) + b + event(T + 20, END, '', 1) + a + both):
        got = convert(data)
        slices = rows(got)
        equal((slices['a'], slices['b'][1:]), ((11, 0, 20), (10, 30)))
        equal((slices['b'][0] > 11, got.objects(2)[slices['b'][0]]), (True, 'again (11)'))
        equal({r['thread'][0] for r in got.events()}, {10})
    got = convert(both + a + event(T + 5, END, '', 1) + b + event(T + 30, END, '', 2, seq=2) + event(T + 40, INSTANT, 'i', 1))
    equal(rows(got), {'a': (11, 0, 5), 'b': (11, 10, 30)})
    got = convert(both + a + event(T + 5, INSTANT, 'i', 2, seq=2) + event(T + 9, END, '', 1))
    equal({r['thread'] for r in got.events()}, {(10, 11)})
    old = packet(msg(44, num(1, 10), num(2, 11)), seq=5)
    got = convert(both + old + a + packet(msg(11, num(9, BEGIN), msg(23, 'b')), ts=T + 10, seq=5) +
                  packet(msg(11, num(9, END)), ts=T + 20, seq=5) + event(T + 30, END, '', 1))
    equal(rows(got), {'a': (11, 0, 30), 'b': (11, 10, 20)})


@test
def lives_within_a_millisecond(convert):
    """An id that is freed or born again has another thread, however soon; one birth may have two events."""
    def free(ts, tid):
        return ftrace(ts, 0, 240, msg(1, 'x'), num(2, tid), num(3, 120))

    def exit_of(ts, tid):
        return ftrace(ts, tid, 238, msg(1, 'one'), num(2, tid), num(4, 120))

    def fork(ts, tid, comm):
        return ftrace(ts, 5, 239, msg(1, 'p'), num(2, 5), msg(3, comm), num(4, tid))

    def lives(*events):
        got = convert(bundle(0, *events))
        return [name for koid, name in sorted(got.objects(2).items()) if koid % 10**7 == 77]
    one, two = newtask(T, 5, 77, 'one'), newtask(T + 5000, 5, 77, 'two')
    equal(lives(one, two), ['one', 'two'])
    equal(lives(one, free(T + 100, 77), two), ['one', 'two'])
    equal(lives(fork(T, 77, 'one'), free(T + 100, 77), two), ['one', 'two'])
    equal(lives(one, fork(T + 10, 77, 'one')), ['one'])
    equal(lives(one, fork(T + 10, 77, 'one'), free(T + 100, 77), two, fork(T + 5010, 77, 'two')), ['one', 'two'])
    # The id is given to the next one before the former is freed.
    equal(lives(one, exit_of(T + 100, 77), two, free(T + 5010, 77), fork(T + 5020, 77, 'two')), ['one', 'two'])
    equal(lives(free(T, 77)), [])


@test
def ids_of_a_namespace(convert):
    """Of a process in a pid namespace a track has other ids than the kernel; the list of processes has both."""
    def listed(*ids):
        return tree(None, msg(1, num(1, 1000), num(2, 1), msg(3, '/opt/app'), *(num(6, i) for i in ids)),
                    msg(2, num(1, 1001), num(3, 1000), msg(2, 'io'), *(num(4, i + 1) for i in ids)))
    def track(uuid, writer, *parts):
        return packet(num(79, writer), msg(60, num(1, uuid), *parts), seq=5)
    of_thread, of_process = msg(4, num(1, 1), num(2, 2)), msg(3, num(1, 1))
    events = event(T, INSTANT, 'thread', 1) + event(T + 1, INSTANT, 'process', 2)
    for ids in ((1,), (77, 1)):
        for data in (listed(*ids) + track(1, 1000, of_thread) + track(2, 1000, of_process) + events,
                     track(1, 1000, of_thread) + track(2, 1000, of_process) + events + listed(*ids)):
            got = convert(data)
            equal([r['thread'] for r in got.events()][0], (1000, 1001), ids)
            equal(got.events()[1]['thread'][0], 1000, ids)
    got = convert(listed(1) + track(1, 999, of_thread) + track(2, 1000, msg(3, num(1, 5))) + events)
    equal([r['thread'] for r in got.events()][0], (1, 2))
    equal(got.events()[1]['thread'][0], 5)
    packed = tree(None, msg(1, num(1, 1000), msg(6, varint(77) + varint(1))), msg(2, num(1, 1001), num(3, 1000), msg(4, varint(78) + varint(2))))
    got = convert(packed + track(1, 1000, of_thread) + event(T, INSTANT, 'thread', 1))
    equal(got.events()[0]['thread'], (1000, 1001))


@test
def not_a_trace(convert):
    for data in (b'\n', b'\n\n\n', b'\ntext that begins with a line of its own\n', b'\n\x00'):
        equal(convert(data).done.returncode, 1, data)


@test
def recognized_by_content(_):
    """A text that begins with a newline is text; a single packet is a trace, whatever the name of its file."""
    line = b'\n          <idle>-0     [000] d..2.     1.000000: sched_switch: prev_comm=a prev_pid=0 prev_prio=120 ' \
           b'prev_state=R ==> next_comm=b next_pid=5 next_prio=120\n'
    one = packet(msg(50, zlib.compress(thread() + event(T, INSTANT, 'x'))), seq=0)
    for data, want in ((line, 'ftrace'), (thread() + event(T, INSTANT, 'x'), 'perfetto'), (one, 'perfetto'),
                       (event(T, INSTANT, 'x', 0), 'perfetto')):
        done = subprocess.run([KFXT, 'dump', '-'], input=data, capture_output=True, timeout=60)
        equal((done.returncode, want.encode() in done.stdout), (0, True), done.stderr)


if __name__ == '__main__':
    sys.exit(run('pftrace_made'))
