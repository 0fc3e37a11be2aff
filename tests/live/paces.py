# SPDX-License-Identifier: GPL-2.0
"""Loads that do as much in each second, in a cgroup of their own."""
import contextlib
import subprocess
import sys
import time

from harness import SCALE, cgroup

# So often a second, whatever else the machine does: sleeps, and runs what it is given in between.
PACED = '''import os, sys, time
hz, what = float(sys.argv[1]), sys.argv[2]
at = time.monotonic()
while True:
    at = max(at + 1 / hz, time.monotonic() - 0.01)
    time.sleep(max(at - time.monotonic(), 0))
    exec(what)
'''
# How many processes, how often a second, what each does then; the options of the recording.
PACES = {
    'switches': (6, 1500, 'pass', ()),
    'system_calls': (4, 700, 'for _ in range(20): os.getppid()', ('-e', 'syscalls', '-zzstd')),
    'processes': (2, 60, 'os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)', ('-e', 'irq', '-z')),
}


@contextlib.contextmanager
def paced(name):
    """In a cgroup, which a recording can select: what else the machine does changes."""
    cnt, hz, what, _ = PACES[name]
    with cgroup() as path:
        players = [subprocess.Popen([sys.executable, '-c', PACED, str(hz * SCALE), what]) for _ in range(cnt)]
        try:
            for p in players:
                with open(path + '/cgroup.procs', 'w') as f:
                    f.write(str(p.pid))
            time.sleep(0.5 / SCALE)
            yield path
        finally:
            for p in players:
                p.kill()
                p.wait()


# ---- what an estimate says, and what a recording takes ----

NEAR = 0.2
# What is hardly anything, and may differ by this much.
LEAST = {'switches': 200, 'wakeups': 200, 'events': 200, 'bytes': 20_000, 'compressed': 5_000,
         '% of a CPU in the kernel': 0.02, '% of a CPU in the recorder': 0.05}


def far(estimates, recordings):
    """What no estimate comes near to any recording in."""
    bad = []
    for what in estimates[0]:
        values = sorted(e[what] for e in estimates)
        taken = sorted(r[what] for r in recordings if what in r)
        least = max(taken[0] * NEAR, LEAST[what])
        if values[-1] < taken[0] - least or values[0] > taken[-1] + max(taken[-1] * NEAR, LEAST[what]):
            bad.append(what)
    return bad
