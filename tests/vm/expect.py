# SPDX-License-Identifier: GPL-2.0
"""What kfxt can do on which kernel: the one table, for tests (matrix.py) and docs/kernels.md."""
import collections

import kernels

SERIES = tuple(kernels.SUITES)

# what: as the documentation says it. features: rows of `kfxt check` it takes; None: it takes
# nothing of the kernel. missing: series on which it is not there, and why; on all others it is.
Row = collections.namedtuple('Row', 'what features missing')

NO_STATE = {'5.10': 'before 5.18 `sched_switch` does not pass the state of the task switched out'}

NO_FPROBE = {**NO_STATE, '6.1': "Debian's 6.1 has no `CONFIG_FPROBE`"}
NO_COPIES = {**NO_STATE, **{s: 'copies of markers begin with 6.16' for s in ('6.1', '6.12')}}
NO_UPROBE_MULTI = {**NO_STATE, '6.1': '`uprobe.multi` begins with 6.6'}
NO_EXIT_TP = {**NO_STATE, **{s: '`sched_exit_tp` begins with 6.15 or so' for s in ('6.1', '6.12')}}
NO_CYCLES = {s: 'the processors of these virtual machines count no cycles' for s in (*SERIES, *kernels.FLAVOURS)}
# Of the others there are no headers to be had, or they take a newer compiler than Debian 12's.
WITH_MODULE = ('6.1', '6.12')
NO_MODULE = {**{s: 'the module is not built here' for s in SERIES if s not in WITH_MODULE}, **NO_STATE}

ROWS = (
    Row('`convert`, `dump`, `report`, `verify`', None, {}),
    Row('context switches, wakeups',
        ('CAP_BPF', 'CAP_PERFMON', 'kernel BTF', 'tracepoint sched_switch', 'tracepoint sched_waking',
         'tracepoint sched_wakeup_new', 'memory-mapped BPF arrays',
         'BPF ring buffer', 'the programs'), NO_STATE),
    Row('names of threads and processes',
        ('tracepoint task_newtask', 'tracepoint task_rename', 'tracepoint sched_process_exec',
         'tracepoint sched_process_exit', 'initial PID namespace', '/proc'), NO_STATE),
    Row('wakers: interrupts told apart from threads', ('preempt_count',), NO_STATE),
    Row("the kernel's log, with levels", ('tracepoint console', '/dev/kmsg'), NO_STATE),
    Row('any tracepoint, system calls', ('tracefs',), NO_STATE),
    Row('markers', ('tracepoint sys_exit',), NO_STATE),
    Row('markers without being asked for, at no cost', ('copies of markers',), NO_COPIES),
    Row('presets: interrupts, work items, power, requests of disks',
        ('tracepoint irq_handler_entry', 'tracepoint workqueue_execute_start', 'tracepoint cpu_idle',
         'tracepoint block_rq_issue'), NO_STATE),
    Row('presets: pressure', ('pressure',), NO_STATE),
    Row('kernel functions with their returns, any number: `kprobe.session`', ('kprobe.session',), NO_FPROBE),
    Row('kernel functions, any number: `kprobe.multi`', ('kprobe.multi',), NO_FPROBE),
    Row('kernel functions, any number: the module', ('module',), NO_MODULE),
    Row('a few kernel functions: `fentry`', ('fentry',), NO_STATE),
    Row('some kernel functions: `kprobe`', ('kprobe',), NO_STATE),
    Row("programs' functions, any number: `uprobe.multi`", ('uprobe.multi',), NO_UPROBE_MULTI),
    Row("some functions of programs: `uprobe`", ('uprobe',), NO_STATE),
    Row('stacks of what runs, by a timer', ('timer of the CPU clock',), NO_STATE),
    Row('stacks of what runs, by cycles', ('counter of CPU cycles',), NO_CYCLES),
    Row('stacks of threads that slept: `sched_exit_tp`', ('tracepoint sched_exit_tp',), NO_EXIT_TP),
    Row('stacks of threads that slept: `kprobe`', ('kprobe on finish_task_switch',), NO_STATE),
)


def can_record(series):
    return not any('the programs' in (row.features or ()) and series in row.missing for row in ROWS)


def compare(series, found, with_module=True):
    """What `kfxt check --json` on a kernel of @series says against the table: list of complaints."""
    have = {f['name']: f['have'] for f in found['features']}
    known = {name for row in ROWS for name in row.features or ()}
    wrong = [f'kfxt check speaks of {name!r}, no row does' for name in sorted(have.keys() - known)]
    wrong += [f'a row speaks of {name!r}, kfxt check does not' for name in sorted(known - have.keys())]
    for row in ROWS:
        if row.features is None or ('module' in row.features and not with_module):
            continue
        lacks = [name for name in row.features if not have.get(name)]
        there = found['can_record'] and not lacks
        if there == (series in row.missing):
            wrong.append(f'{row.what}: {"there" if there else "not there"}, lacking: {", ".join(lacks) or "nothing"}')
    return wrong


def markdown():
    """The table and the reasons below it."""
    reasons = list(dict.fromkeys(why for row in ROWS for why in row.missing.values()))
    lines = ['| | ' + ' | '.join(SERIES) + ' |', '|---' * (len(SERIES) + 1) + '|']
    for row in ROWS:
        cells = [f'no ({reasons.index(row.missing[s]) + 1})' if s in row.missing else 'yes' for s in SERIES]
        lines.append(f'| {row.what} | ' + ' | '.join(cells) + ' |')
    lines.append('')
    lines += [f'{number}. {why}' for number, why in enumerate(reasons, 1)]
    return '\n'.join(lines) + '\n'
