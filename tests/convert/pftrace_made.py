# SPDX-License-Identifier: GPL-2.0
"""Bytes of Perfetto traces: fields, packets and what is in them, for the scripts of this folder."""

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
BOOT, MONO = 6, 3
T = 10**12


def varint(n):
    out, n = b'', n & 2**64 - 1
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n)


def msg(field, *parts):
    data = b''.join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def packet(*parts, ts=None, seq=1, flags=0):
    """A packet of a sequence, with its time."""
    head = (num(8, ts) if ts is not None else b'') + (num(10, seq) if seq else b'') + (num(13, flags) if flags else b'')
    return msg(1, head, *parts)


def event(ts, kind, name, track=1, *parts, **more):
    return packet(msg(11, num(9, kind), num(11, track), msg(23, name), *parts), ts=ts, **more)


def thread(uuid=1, pid=10, tid=11, name='worker'):
    return packet(msg(60, num(1, uuid), msg(4, num(1, pid), num(2, tid), msg(5, name))))


def snapshot(*clocks, seq=1):
    return packet(msg(6, *(msg(1, num(1, clock), num(2, value)) for clock, value in clocks)), seq=seq)


def bundle(cpu, *parts):
    return packet(msg(1, num(1, cpu), *parts))


def ftrace(ts, tid, number, *parts):
    return msg(2, num(1, ts), num(2, tid), msg(number, *parts))


def switch(ts, prev, state, tid, prev_comm='', comm=''):
    """The verbose form of a switch."""
    return ftrace(ts, prev, 4, msg(1, prev_comm), num(2, prev), num(3, 120), num(4, state), msg(5, comm), num(6, tid),
                  num(7, 120))


def newtask(ts, parent, tid, comm, flags=0):
    return ftrace(ts, parent, 235, num(1, tid), msg(2, comm), num(3, flags))


def tree(ts, *parts):
    return packet(msg(2, *parts), ts=ts, seq=0)


def process(pid, parent, *cmdline):
    """Of a tree."""
    return msg(1, num(1, pid), num(2, parent), *(msg(3, part) for part in cmdline))


def tree_thread(tid, pid, name):
    return msg(2, num(1, tid), num(3, pid), msg(2, name))


def compact(switches, wakings=(), packed=True):
    """switches: time, state, tid, prio; wakings: time, tid, cpu, prio"""
    def column(field, values):
        return msg(field, *map(varint, values)) if packed else b''.join(num(field, value) for value in values)

    def deltas(rows):
        return [row[0] - (rows[i - 1][0] if i else 0) for i, row in enumerate(rows)]
    out = column(1, deltas(switches))
    for i, field in ((1, 2), (2, 3), (3, 4)):
        out += column(field, [row[i] for row in switches])
    out += msg(5, 'comm') + column(6, [0] * len(switches))
    if wakings:
        out += column(7, deltas(wakings))
        for i, field in ((1, 8), (2, 9), (3, 10)):
            out += column(field, [row[i] for row in wakings])
        out += column(11, [0] * len(wakings))
    return msg(4, out)
