#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The live tests on every kernel that kfxt is made for, each in a virtual machine.

    matrix.py BUILD_DIR [RUN...]    all runs, or some: 6.1 7.2/4
    matrix.py --oldest BUILD_DIR    one kernel, the oldest: it boots, and a recording of it is whole
    matrix.py --print               the table of docs/kernels.md
    matrix.py --bench BUILD_DIR [SERIES]    tests/bench/func_bench.py on one kernel (6.12)

On each: the kernel boots, does not complain, keeps nothing; kfxt finds there what
expect.py says; tests/live/*_test.py pass, or where kfxt cannot record, it says so and
reads all the same. Prints TAP and, last, how many passed, failed and were skipped.
Logs go to BUILD_DIR/vm.
"""
import collections
import dataclasses
import functools
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading

import expect
import kernels
import vm

TOP = os.path.dirname(vm.TESTS)
SCALE = '0.1'       # emulation is some ten times slower
SECONDS = 1         # of all functions at once, which makes a million calls
ROUNDS = os.environ.get('BEGIN_ROUNDS', '3')   # of begin_test.py beside each load
LIMIT = 2000        # seconds for all tests of one run
COUNTS = re.compile(r'^\w+: (\d+) passed, (\d+) failed, (\d+) skipped$')


@dataclasses.dataclass
class Run:
    """Tests on one machine, and what came of them."""
    series: str
    cpus: int = 2
    args: str = ''
    tests: str = '*'            # which of tests/live/*_test.py; '': none
    only: str = ''              # which of their tests, all if none; of all programs it is func_test.py's
    few: dict = dataclasses.field(default_factory=dict)     # which of others', NAME or !NAME
    events: bool = False        # those of EVENTS, too
    icount: bool = False        # its time is instructions executed: of tests that measure shares of it
    release: str = ''
    seconds: float = 0
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def modules(self):
        """Whether our own is built and loaded."""
        return bool(self.tests) and self.series in expect.WITH_MODULE

    def can_record(self):
        return expect.can_record(self.series) and 'lockdown=confidentiality' not in self.args

    def __str__(self):
        return (f'{self.series}/{self.cpus}' + (' icount' if self.icount else '') + (f' {self.tests}' if self.tests in APART else '') +
                (f' {self.args}' if self.args else ''))

    def scale(self):
        """KFXT_TEST_SCALE of its tests."""
        return '1' if self.icount else SCALE


# ---- what runs where ---------------------------------------------------------------------

# Machines test what differs between kernels: programs and maps (verifier, JIT, what can be attached to),
# tracepoints and their fields, the scheduler's order of events, preemption of programs, the log, rights.
# All tests run once on this machine's own kernel, as the other suites. On each kernel that kfxt records
# on: scheduling, names, the log, functions by that kernel's own mechanisms (the ones common to all on
# some). Sources of events and faults: on the oldest and the newest of these, since what they use changed
# between the two or not at all. What there is one of for each CPU: also with 4 of 256 possible CPUs.

BASIC = 'calls_of_each_thread returns_with_values'
SOME = BASIC + ' kernel_slices_nest unfinished_calls'
# Everything at once takes minutes: on the oldest and the newest. Without excludes it is more.
OLDEST = (SOME + ' same_as_function_tracer user_slices_nest usdt_arguments list_by_any_name parents_as_function_tracer '
          'max_rate_counts everything_without_excludes list_of_kernel_functions')
NEWEST = SOME + ' same_as_function_tracer everything_under_load'

RINGS = ('every_switch_of_two_threads ends_of_each_cpu chosen_cpus_only busy_machine_makes_sense '
         'loss_is_counted_exactly two_at_once')

# On a kernel between the others.
BETWEEN = 'every_switch_of_two_threads names_in_a_storm names_of_who_only_waits same_as_tracefs each_sleep_has_its_wakeup loss_is_counted_exactly'

# Tests of what kfxt does with files, commands, its own options and records: no kernel makes them differ.
USER_SPACE = {
    'live': '!signals_end_it !counts_and_output_of_the_command !end_of_command !command_ends_with_what_it_started '
            '!command_that_ignores_sigterm !command_at_a_terminal !output_files !outputs_stay_until_they_are_replaced '
            '!pipes_and_terminals !recorder_sleeps !secrets_on_command_lines !containers_and_units !output_in_no_directory !progress '
            '!killed_under_load_and_repaired',
    'log': '!not_wanted !redacted_lines',
    # Markers become slices in user space.
    'mark': '!wrong_use !rights !async_pairs !nested_slices_across_cpus !same_as_converted_text !no_slice_crosses_a_gap',
    'preset': '!only_what_is_named !presets_are_listed',
    'syscall': '!chosen_only !no_such_call',
    'tracepoint': '!mistyped',
}

# Programs that run on the oldest and the newest kernel only, unless some of their tests are chosen for another. Analysis is the same everywhere; only what
# the kernel does of a thread that has used up its group's time is not (since 6.18 it stops later).
EVENTS = ('attach', 'end', 'fault', 'filter', 'mark', 'preset', 'privilege', 'report', 'stack', 'syscall', 'tracepoint')
# Programs of which only some tests run, where they are chosen.
ONLY_FEW = ('budget', 'flight', 'rotation', 'trigger')
# A program that takes a third of an hour has a machine of its own, beside the one for all others of that kernel.
APART = ('window',)
FILES = {'flight': 'by_signal at_once calls_go_on', 'rotation': 'each_file_is_whole', 'trigger': 'blocked interrupts functions_of_programs'}
STACKS = ('every_long_sleep where_it_waits where_it_runs who_wakes_from_where beside_return_probes '
          'beside_return_probes_of_the_kernel')
ANY = {'attach': 'begins_without never_attached', 'privilege': 'rights_are_dropped two_capabilities_do', 'report': 'waits_under_a_quota',
       # Not those that take timers to be on time, or a program to begin at once.
       'stack': STACKS}
OLD = ANY | FILES | {'filter': 'descendants', 'fault': 'killed no_btf',
             # The programs that count losses are the same, and their order of events is the newest's.
             'end': '!losses_of_event_rings_are_drawn !gaps_are_drawn !gaps_are_drawn_with_a_filter !states_of_wanted_threads_only',
             'preset': '!loss_is_counted !pressure !block_requests_of_one_cpu', 'syscall': '!loss_is_counted !busy_threads !same_as_strace',
             'tracepoint': '!arguments_as_the_kernel_prints_them'}
# This machine's own kernel is nearly the newest: programs load and their records are right, what cannot be done here,
# and where the kernel did change.
NEW = FILES | {
    'attach': ANY['attach'], 'live': BETWEEN, 'log': 'lines_of_two_threads line_of_parts burst',
    'end': 'everybody_is_known', 'fault': 'cpus_come_and_go samples_end_with_a_cpu wall_clock_is_set window_and_wall_clock rotation_and_wall_clock', 'filter': 'descendants',
    'mark': 'every_form_of_two_threads by_default_where_it_costs_nothing',
    'preset': 'interrupts work_items block_requests', 'privilege': 'two_capabilities_do', 'report': 'waits_under_a_quota',
    'stack': STACKS, 'syscall': 'arguments none_of_probes',
    'tracepoint': 'trace_is_closed_before_detaching',
}

# What differs between kernels of one series is functions: this machine's has none to be called.
OWN_SERIES = os.uname().release.startswith('6.18')

# A grace period is to take its time, as where nobody has asked for less.
BEGINS = [Run(series, 2, 'rcupdate.rcu_expedited=0', 'begin') for series in ('6.1', '6.12', '7.2', '7.3-rt')]

# What a recording costs is a share of a CPU: emulation makes that ten times as much, but not where it has its own time. One CPU, as
# two would take turns, each in the other's time. By the module and by kprobe.multi.
BUDGETS = [Run(series, 1, tests='budget', only='all_functions', few={'budget': 'all_functions'}, icount=True)
           for series in ('6.1', '7.2')]

# The longest first.
ALL = [Run('6.1', only=OLDEST, few=OLD, events=True), Run('7.2', only=NEWEST, few=NEW, events=True),
       Run('6.12', only=BASIC, few={'live': BETWEEN, 'log': 'lines_of_two_threads burst', 'stack': ANY['stack']}),
       *([] if OWN_SERIES else [Run('6.18', only=BASIC)])]
RUNS = [*ALL, *(Run(run.series, tests=name) for run in ALL for name in APART),
        *([Run('6.18', tests='func', only=BASIC)] if OWN_SERIES else []), Run('7.2', 4, 'possible_cpus=256', 'live', RINGS),
        Run('6.18', 2, 'lockdown=integrity', 'fault', 'under_lockdown'),
        Run('7.2', 2, 'lockdown=confidentiality', 'fault', 'locked_down_at_boot'),
        *BEGINS, *BUDGETS, Run('6.1', 2, 'systemd.unit=kfxt-test.service', 'service'), Run('5.10')]
printing, building = threading.Lock(), threading.Lock()


def say(text):
    with printing:
        print(text, flush=True)


def result(run, name, problems):
    """One test of this program's own."""
    run.counts['failed' if problems else 'passed'] += 1
    say(f'{"not ok" if problems else "ok"} - {run}: {name}' + ''.join(f'\n# {p}' for p in problems))


# ---- what runs inside ------------------------------------------------------------------

def with_module(kernel, build):
    """@kernel with kfxt.ko, built for it, among the modules it loads."""
    path = os.path.join(build, 'kmod', kernel.release, 'kfxt.ko')
    with building:
        r = subprocess.run(['make', '-s', '-C', TOP, f'O={build}', f'KDIR={kernel.build}', 'WERROR=1', 'module'],
                           capture_output=True, text=True)
    if r.returncode:
        raise kernels.Unavailable(f'the module for {kernel.release}: {r.stdout}{r.stderr}')
    return kernel._replace(modules=[*kernel.modules, path])


def blocker(kernel, build):
    """Path of a module that keeps a CPU busy, tests/vm/blocker, built for @kernel."""
    path = os.path.join(build, 'blocker', kernel.release)
    shutil.copytree(os.path.join(vm.TESTS, 'vm/blocker'), path, dirs_exist_ok=True)
    r = subprocess.run(['make', '-s', '-C', kernel.build, f'M={path}', 'CONFIG_DEBUG_INFO_BTF_MODULES=', 'KCFLAGS=-Werror',
                        'modules'], capture_output=True, text=True)
    if r.returncode:
        raise kernels.Unavailable(f'the blocker for {kernel.release}: {r.stdout}{r.stderr}')
    return path + '/blocker.ko'


def programs(run):
    if not run.tests:
        return []
    if not expect.can_record(run.series):
        return ['tests/golden/golden_test.py']
    found = sorted(os.path.relpath(p, TOP) for p in glob.glob(f'{vm.TESTS}/live/{run.tests}_test.py'))
    # A machine has no sources to build the example of, and no samples of other formats.
    left_out = (*(p for p in ONLY_FEW if p not in run.few), *(() if run.tests == 'begin' else ('begin',)), 'soak', 'ledger',
                *(APART if run.tests == '*' else ()),
                'compression', 'example', 'export', 'packet', *(() if run.tests == 'service' else ('service',)),
                *(e for e in EVENTS if not run.events and run.tests == '*' and e not in run.few))
    return [p for p in found if os.path.basename(p).removesuffix('_test.py') not in left_out]


def chosen_tests(run, program):
    """Names for a program's command line: none means all."""
    if run.tests != '*' or 'func_test' in program:
        return run.only
    name = os.path.basename(program).removesuffix('_test.py')
    return f'{USER_SPACE.get(name, "")} {run.few.get(name, "")}'.strip()


def commands(run):
    """What a machine runs; each tells its counts at its end."""
    own = [shlex.join(['python3', p, 'build', *shlex.split(chosen_tests(run, p))]) for p in programs(run)]
    # The module's own test loads it itself, over and over.
    if run.tests == '*' and run.series in expect.WITH_MODULE:
        own.append('rmmod kfxt; build/tests/module_tester /job/kfxt.ko 3')
    return own


def job(run):
    """The shell script that a machine runs."""
    record = ('build/kfxt record -d 100ms -o /tmp/t.fxt >/out/record 2>&1; echo $? >>/out/record; '
              '[ ! -s /tmp/t.fxt ] || build/kfxt verify -q /tmp/t.fxt >/out/verify 2>&1; echo $? >>/out/verify')
    return '\n'.join([f'export KFXT_TEST_SCALE={run.scale()} KFXT_TEST_SECONDS={SECONDS} BEGIN_ROUNDS={ROUNDS}',
                      'build/kfxt check --json >/out/check', 'echo $? >/out/check-status', record,
                      *commands(run), 'true'])


def left_in(out, name):
    try:
        with open(os.path.join(out, name)) as f:
            return f.read()
    except OSError:
        return ''


def judge_check(run, out):
    wanted = '0' if run.can_record() else '5'
    try:
        found = json.loads(left_in(out, 'check'))
        # The table has no column for a kernel that is locked down.
        same = run.can_record() == expect.can_record(run.series)
        problems = expect.compare(run.series, found, run.modules()) if same else []
    except ValueError as e:
        problems = [f'kfxt check --json: {e}']
    if left_in(out, 'check-status').strip() != wanted:
        problems.append(f'kfxt check does not exit with {wanted}')
    result(run, 'kfxt check finds what the table says', problems)


def judge_record(run, out):
    """One sentence, and 5 or 0 on a line of its own."""
    said = left_in(out, 'record').splitlines()
    wanted = ['0'] if run.can_record() else ['5']
    good = said[-1:] == wanted and (wanted == ['0'] or len(said) == 2 and said[0].startswith('kfxt: '))
    result(run, 'kfxt record ' + ('records' if wanted == ['0'] else 'refuses'), [] if good else said or ['nothing'])
    if wanted == ['0']:
        found = left_in(out, 'verify').splitlines()
        result(run, 'kfxt verify finds the recording whole', [] if found == ['0'] else found or ['nothing'])


# ---- the runs ----------------------------------------------------------------------------

def execute(run, image, logs):
    """Boots and tests; all results end up in @run."""
    out = os.path.join(logs, re.sub(r'\W+', '-', str(run)))
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    files = {}
    try:
        kernel = kernels.get(run.series, run.modules())
        if run.modules():
            kernel = with_module(kernel, os.path.dirname(logs))
        if run.modules() and run.tests == 'begin':
            files['/kfxt/build/tests/blocker.ko'] = blocker(kernel, os.path.dirname(logs))
    except kernels.Unavailable as e:
        result(run, 'there is a kernel and its module', [str(e)])
        return run
    run.release = kernel.release
    summaries = []
    with open(os.path.join(out, 'output'), 'w') as log:
        def take(line):
            log.write(line + '\n')
            counted = COUNTS.match(line)
            if counted:
                summaries.append(line)
                run.counts.update(dict(zip(('passed', 'failed', 'skipped'), map(int, counted.groups()))))
            say(f'# {run}: {line}')
        machine = vm.Machine(kernel, run.cpus, args=run.args, limit=LIMIT, icount=run.icount, files=files)
        ended = vm.run(image, machine, job(run), out, take)
    with open(os.path.join(out, 'dmesg'), 'w') as f:
        f.write(ended.dmesg)
    run.seconds = ended.seconds
    status = [] if not ended.status else ['its time was up' if ended.status == 137 else f'exit status {ended.status}']
    result(run, 'boots, complains of nothing, keeps nothing', ended.problems + status)
    judge_check(run, out)
    judge_record(run, out)
    missing = len(commands(run)) - len(summaries)
    result(run, 'every test program came to its end', [f'{missing} did not'] if missing else [])
    return run


def oldest(build):
    """A part of `make check`, which is without the archive of kernels where that is out of reach."""
    run = Run('6.1', tests='')
    try:
        kernels.get(run.series)
    except kernels.Unavailable as e:
        say(f'ok - {run} # SKIP {e}')
        run.counts['skipped'] += 1
    else:
        execute(run, vm.Image(build), os.path.join(build, 'vm'))
    return vm.conclude('oldest', run.counts)


def judge_docs(counts):
    path = os.path.join(TOP, 'docs/kernels.md')
    with open(path) as f:
        found = re.search(r'<!-- matrix -->\n(.*)<!-- /matrix -->', f.read(), re.S)
    same = found and found[1] == expect.markdown()
    counts['passed' if same else 'failed'] += 1
    say(f'{"ok" if same else "not ok"} - the table in docs/kernels.md is what matrix.py --print prints')


def enqueue(queue, build, runs=RUNS):
    """Adds @runs to @queue; returns what to call once they have ended, which returns the suite's exit status."""
    counts = collections.Counter()
    judge_docs(counts)
    image = vm.Image(build)
    for run in runs:
        job = functools.partial(execute, run, image, os.path.join(build, 'vm'))
        if run.tests == 'begin':
            job.timing = True
        queue.add(job)

    def conclude():
        for run in runs:
            counts.update(run.counts)
            say(f'# {str(run):24} {run.release or "-":32} {run.counts["passed"]:4} passed, {run.counts["failed"]} failed, '
                f'{run.counts["skipped"]} skipped, {run.seconds:4.0f} s')
        return vm.conclude('vm', counts)
    return conclude


def bench(build, series='6.12'):
    """With one CPU, whose time is instructions: nothing else on this machine disturbs it."""
    kernel = kernels.get(series, series in expect.WITH_MODULE)
    kernel = with_module(kernel, build) if series in expect.WITH_MODULE else kernel
    machine = vm.Machine(kernel, 1, limit=LIMIT, icount=True)
    ended = vm.run(vm.Image(build), machine, 'python3 tests/bench/func_bench.py build', None,
                   lambda line: print(line, flush=True))
    for problem in ended.problems:
        print(f'# {problem}', file=sys.stderr)
    return ended.status


def main():
    if sys.argv[1:] == ['--print']:
        print(expect.markdown(), end='')
        return 0
    if sys.argv[1:2] == ['--bench']:
        return bench(os.path.abspath(sys.argv[2]), *sys.argv[3:4])
    if sys.argv[1:2] == ['--oldest']:
        return oldest(os.path.abspath(sys.argv[2]))
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
    queue = vm.Queue()
    conclude = enqueue(queue, build, vm.chosen(RUNS, sys.argv[2:]))
    queue.run()
    return conclude()


if __name__ == '__main__':
    try:
        sys.exit(main())
    except kernels.Unavailable as e:
        sys.exit(f'matrix: {e}')
