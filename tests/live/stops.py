# SPDX-License-Identifier: GPL-2.0
"""When the machine was stopped: a virtual one may be as a whole, while its clocks go on."""
import contextlib
import sys

from harness import running

LATE_S = 1        # with a look four times as often: of an emulated machine that takes hardly anything
# What nothing but the hypervisor, or a kernel that takes no interrupts, keeps from running. Prints from when to when it did not.
WATCH = '''import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
each = int(float(sys.argv[2]) * 1e9 / 4)
last = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
while True:
    time.sleep(each / 1e9)
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    if now - last > 4 * each:
        print(last + each, now, flush=True)
    last = now
'''


class Stops:
    """Of the CPUs @cpus; times are CLOCK_BOOTTIME, in ns."""

    def __init__(self, tmp, cpus):
        self.paths = {cpu: f'{tmp}/stops.{cpu}' for cpu in cpus}
        self.watches = []

    def spans(self):
        """Sorted (from, to) in which none of the CPUs ran anything."""
        common = [(0, 2**63)]
        for path in self.paths.values():
            with open(path, encoding='ascii') as f:
                mine = [tuple(map(int, line.split())) for line in f]
            common = [(max(a, c), min(b, d)) for a, b in common for c, d in mine if max(a, c) < min(b, d)]
        return common

    def within(self, begin, end):
        """How many ns of these."""
        return sum(max(0, min(to, end) - max(at, begin)) for at, to in self.spans())


@contextlib.contextmanager
def stops(tmp, cpus):
    found = Stops(tmp, cpus)
    with contextlib.ExitStack() as stack:
        for cpu, path in found.paths.items():
            out = stack.enter_context(open(path, 'w', encoding='ascii'))
            found.watches.append(stack.enter_context(running(sys.executable, '-c', WATCH, str(cpu), str(LATE_S), stdout=out)))
        yield found
