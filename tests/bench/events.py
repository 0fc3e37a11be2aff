# SPDX-License-Identifier: GPL-2.0
"""What events of other sources than the scheduler's cost those that cause them: system calls, tracepoints, lines of
the log; and what sources that are on but silent cost a switch."""
import os
import resource
import subprocess
import sys

import peers
import traced
from pairs import setting

ROUNDS = 5
CALLS, LINES = 200_000, 20_000
RATE = '/proc/sys/kernel/printk_devkmsg'      # else ten lines in five seconds are taken
WHOLE = ('-m', '64M')       # recorded whole: the rings hold it
QUIET = ('-e', '!log', '-e', '!marker')
SILENT = ('-e', 'signal', '-e', 'block', '-e', 'ext4:*', '-e', 'oom:*', '-e', 'power:pm_*')


class PerfTrace(peers.Perf):
    def __init__(self):
        super().__init__()
        self.name = 'perf trace -a'

    def commands(self, into):
        return [['perf', 'trace', '-a', *WHOLE, '-o', into + '/calls']]


def cpu_ns(turns, *command):
    """CPU time of a turn of the command's loop: how long a recorder takes beside it is not in it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / turns * 1e9


def calls(tests):
    """The cheapest system call."""
    return cpu_ns(CALLS, tests + '/calls', f'getppid={CALLS}')


def lines():
    """As quiet as can be: what a console adds is not what is asked."""
    return cpu_ns(LINES, sys.executable, '-c', f'f = open("/dev/kmsg", "wb", buffering=0)\nfor n in range({LINES}):\n'
                  ' f.write(b"<7>kfxt-bench of a line of the usual length, some eighty bytes of text %d" % n)')


def run(build, into, recorders, say):
    tests, (cpu, elsewhere) = build + '/tests', traced.cpus()

    def kfxt(name, *options):
        return peers.Kfxt(recorders[0].kfxt, *WHOLE, *options, name=name)

    def ftrace(event):
        return peers.Ftrace(tests + '/ftrace_copy', [event], f'raw ftrace, {event}')

    some = [kfxt('kfxt', '-e', 'syscalls'), kfxt('kfxt -e syscalls:openat, which it is not', '-e', 'syscalls:openat'),
            kfxt('kfxt -e raw_syscalls:sys_enter', '-e', 'raw_syscalls:sys_enter'),
            kfxt('the same, filtered out', '-e', 'raw_syscalls:sys_enter/id == 9999/'),
            ftrace('raw_syscalls/sys_enter'), kfxt('kfxt without such a source'), PerfTrace()]
    yield traced.compare('getppid(), by -e syscalls a slice', 'ns', lambda: calls(tests), [r for r in some if not r.missing],
                         into, say, rounds=ROUNDS)
    with setting(RATE, 'on\n'):
        yield traced.compare('A line of the log', 'ns', lines, [kfxt('kfxt'), kfxt("kfxt -e '!log'", '-e', '!log'),
                             ftrace('printk/console')], into, say, rounds=ROUNDS)
    yield traced.compare('A switch beside sources that are silent', 'ns', lambda: traced.games(tests, cpu),
                         [kfxt('kfxt', *QUIET), kfxt('kfxt again', *QUIET), kfxt('kfxt with silent sources', *QUIET, *SILENT)],
                         into, say, elsewhere, rounds=ROUNDS)
