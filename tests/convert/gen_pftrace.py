#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes a large Perfetto trace as Android's and Linux's recorders write them, for benchmarks.

    gen_pftrace.py --mb N -o FILE [--facts FILE]

Seven tenths are switches and wakings in bundles of the CPUs, the others TrackEvents: slices that nest, instants and a
counter, with interned names. Some 14 bytes an event; the same bytes each time. --facts: JSON, the number of events.
"""
import argparse
import json
import random

from pftrace_made import BEGIN, COUNTER, END, INSTANT, T, bundle, compact, msg, num, packet

CPUS = 8
THREADS = 200
TRACKS = 64             # threads that have TrackEvents
BUNDLE = 500            # events of a bundle
NAMES = 50
DEPTH = 5
QUEUE = 1000            # the counter's track
SEQUENCE = 2            # of TrackEvents


class Cpu:
    def __init__(self, number):
        self.number, self.current, self.switches, self.wakings = number, 0, [], []

    def take(self):
        """What is not written yet, as a bundle."""
        out = bundle(self.number, compact(self.switches, self.wakings))
        self.switches, self.wakings = [], []
        return out


class Trace:
    def __init__(self):
        self.random = random.Random(1)
        self.ts, self.events, self.number = T, 0, 0
        self.cpus = [Cpu(i) for i in range(CPUS)]
        self.asleep = set(range(100, 100 + THREADS))
        self.open = {uuid: 0 for uuid in range(1, TRACKS + 1)}

    def head(self):
        system = packet(msg(45, msg(1, msg(1, 'Linux'), msg(3, '6.12.0'))), seq=0)
        names = b''.join(msg(2, num(1, i + 1), msg(2, f'task {i}')) for i in range(NAMES))
        out = packet(msg(12, names, msg(1, num(1, 1), msg(2, 'mix')), msg(3, num(1, 1), msg(2, 'n'))), seq=SEQUENCE, flags=1)
        for uuid in self.open:
            out += packet(msg(60, num(1, uuid), msg(4, num(1, 99 + uuid), num(2, 99 + uuid), msg(5, f'thread {uuid}'))))
        return system + out + packet(msg(60, num(1, QUEUE), msg(2, 'queue length'), msg(8, num(3, 2))))

    def sched(self):
        """One CPU goes to another thread, which may be woken there before."""
        cpu = self.cpus[self.random.randrange(CPUS)]
        sleeps = self.random.random() < 0.6
        self.events += 1
        if cpu.current == 0 or sleeps:
            tid = self.random.choice(tuple(self.asleep)) if self.number % 4 == 0 else next(iter(self.asleep))
            self.asleep.discard(tid)
            cpu.wakings.append((self.ts, tid, cpu.number, 120))
            self.ts += self.random.randrange(50, 900)
            self.events += 1
        else:
            tid = 0
        if cpu.current:
            self.asleep.add(cpu.current)
        cpu.switches.append((self.ts, (1 if sleeps else 2) if cpu.current else 0, tid, 120))
        cpu.current = tid
        return cpu.take() if len(cpu.switches) + len(cpu.wakings) >= BUNDLE else b''

    def event(self, kind, uuid, *parts):
        self.events += 1
        return packet(msg(11, num(9, kind), *parts, num(11, uuid)), ts=self.ts, seq=SEQUENCE, flags=2)

    def track_event(self):
        at, uuid = self.random.random(), self.random.randrange(TRACKS) + 1
        name = num(3, 1) + num(10, self.random.randrange(NAMES) + 1)
        if at < 0.05:
            return self.event(COUNTER, QUEUE, num(30, self.random.randrange(100)))
        if at < 0.12:
            return self.event(INSTANT, uuid, name)
        if self.open[uuid] and (self.open[uuid] >= DEPTH or at < 0.56):
            self.open[uuid] -= 1
            return self.event(END, uuid)
        self.open[uuid] += 1
        return self.event(BEGIN, uuid, name, msg(4, num(1, 1), num(4, self.events)) if at < 0.7 else b'')

    def step(self):
        self.ts += self.random.randrange(100, 3000)
        self.number += 1
        return self.track_event() if self.random.random() < 0.43 else self.sched()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--mb', type=float, required=True)
    parser.add_argument('-o', '--out', required=True)
    parser.add_argument('--facts')
    args = parser.parse_args()
    trace = Trace()
    with open(args.out, 'wb') as file:
        size = file.write(trace.head())
        while size < args.mb * 1e6:
            size += file.write(trace.step())
        for cpu in trace.cpus:
            file.write(cpu.take())
    if args.facts:
        with open(args.facts, 'w', encoding='ascii') as file:
            json.dump({'events': trace.events}, file)


if __name__ == '__main__':
    main()
