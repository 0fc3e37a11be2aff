#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The live tests on every kernel that kfxt is made for, each in a virtual machine.

    matrix.py BUILD_DIR [RUN...]    all runs, or some: 6.1 7.2/4
    matrix.py --print               the table of docs/kernels.md
    matrix.py --bench BUILD_DIR [SERIES]    tests/bench/func_bench.py on one kernel (6.12)

On each: the kernel boots, does not complain, keeps nothing; kfxt finds there what
expect.py says; tests/live/*_test.py pass, or where kfxt cannot record, it says so and
reads all the same. Prints TAP and, last, how many passed, failed and were skipped.
Logs go to BUILD_DIR/vm.
"""
import collections
import concurrent.futures
import dataclasses
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import expect
import kernels
import vm

TOP = os.path.dirname(vm.TESTS)
SCALE = '0.1'       # emulation is some ten times slower
LIMIT = 2000        # seconds for all tests of one run
COUNTS = re.compile(r'^\w+: (\d+) passed, (\d+) failed, (\d+) skipped$')


@dataclasses.dataclass
class Run:
    """Tests on one machine, and what came of them."""
    series: str
    cpus: int = 2
    args: str = ''
    tests: str = '*'            # which of tests/live/*_test.py
    only: str = ''              # which of their tests, all if none; of all programs it is func_test.py's
    few: dict = dataclasses.field(default_factory=dict)     # which of others', the same; none: not those of EVENTS
    release: str = ''
    seconds: float = 0
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def __str__(self):
        return f'{self.series}/{self.cpus}' + (f' {self.args}' if self.args else '')


# What each kernel's own mechanisms make differ; the main ones where they are an older one's. Tests of
# events and of faults run on the oldest and the newest. That keeps the whole below a quarter of an hour.
BASIC = 'calls_of_each_thread calls_of_threads_by_name returns_with_values'
SOME = BASIC + ' kernel_slices_nest same_as_function_tracer everything_under_load'
MORE = SOME + ' user_slices_nest usdt_arguments list_by_any_name parents_as_function_tracer max_rate_counts'
MOST = MORE + ' everything_without_excludes list_of_kernel_functions'

# Those that look at what there is one of for each CPU.
RINGS = ('every_switch_of_two_threads ends_of_each_cpu chosen_cpus_only busy_machine_makes_sense '
         'loss_is_counted_exactly two_at_once')

# Of programs other than func_test.py and live_test.py: those of EVENTS run on two kernels, and of
# some only what kernels differ in.
EVENTS = ('filter', 'mark', 'preset', 'syscall', 'tracepoint', 'fault', 'end', 'privilege')
ANY = {'privilege': 'rights_are_dropped two_capabilities_do'}
OLD = ANY | {'filter': 'descendants losses_beside_filters', 'fault': 'killed no_btf'}
NEW = ANY | {'filter': 'threads_of_a_process descendants nobody losses_beside_filters markers_of_wanted_threads',
             'fault': 'memory_of_a_cgroup cpus_come_and_go wall_clock_is_set'}

# The longest first. What the number of CPUs matters to is in live_test.py.
RUNS = [Run('6.1', only=MOST, few=OLD), Run('7.2', only=SOME, few=NEW), Run('6.12', only=MORE), Run('6.18', only=BASIC),
        Run('7.2', 4, tests='live', only=RINGS), Run('6.1', 2, 'possible_cpus=256', 'live', RINGS),
        Run('6.18', 2, 'lockdown=integrity', 'fault', 'under_lockdown'),
        Run('6.1', 2, 'systemd.unit=kfxt-test.service', 'service'), Run('5.10')]
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


def programs(run):
    if not expect.can_record(run.series):
        return ['tests/golden/golden_test.py', 'tests/convert/convert_test.py']
    found = sorted(os.path.relpath(p, TOP) for p in glob.glob(f'{vm.TESTS}/live/{run.tests}_test.py'))
    left_out = ('soak', 'ledger', 'compression', *(() if run.tests == 'service' else ('service',)), *(() if run.few or run.tests != '*' else EVENTS))
    return [p for p in found if os.path.basename(p).removesuffix('_test.py') not in left_out]


def chosen_tests(run, program):
    """Names for a program's command line: none means all."""
    if run.tests != '*' or 'func_test' in program:
        return run.only
    return run.few.get(os.path.basename(program).removesuffix('_test.py'), '')


def commands(run):
    """What a machine runs; each tells its counts at its end."""
    own = [f'python3 {p} build {chosen_tests(run, p)}' for p in programs(run)]
    # The module's own test loads it itself, over and over.
    if run.tests == '*' and run.series in expect.WITH_MODULE:
        own.append('rmmod kfxt; build/tests/module_tester /job/kfxt.ko 3')
    return own


def job(run):
    """The shell script that a machine runs."""
    record = 'build/kfxt record -d 100ms -o /tmp/t.fxt >/out/record 2>&1; echo $? >>/out/record'
    return '\n'.join([f'export KFXT_TEST_SCALE={SCALE}',
                      'build/kfxt check --json >/out/check', 'echo $? >/out/check-status', record,
                      *commands(run), 'true'])


def left_in(out, name):
    try:
        with open(os.path.join(out, name)) as f:
            return f.read()
    except OSError:
        return ''


def judge_check(run, out):
    wanted = '0' if expect.can_record(run.series) else '5'
    try:
        problems = expect.compare(run.series, json.loads(left_in(out, 'check')))
    except ValueError as e:
        problems = [f'kfxt check --json: {e}']
    if left_in(out, 'check-status').strip() != wanted:
        problems.append(f'kfxt check does not exit with {wanted}')
    result(run, 'kfxt check finds what the table says', problems)


def judge_record(run, out):
    """One sentence, and 5 or 0 on a line of its own."""
    said = left_in(out, 'record').splitlines()
    wanted = ['0'] if expect.can_record(run.series) else ['5']
    good = said[-1:] == wanted and (wanted == ['0'] or len(said) == 2 and said[0].startswith('kfxt: '))
    result(run, 'kfxt record ' + ('records' if wanted == ['0'] else 'refuses'), [] if good else said or ['nothing'])


# ---- the runs ----------------------------------------------------------------------------

def execute(run, image, logs):
    """Boots and tests; all results end up in @run."""
    out = os.path.join(logs, re.sub(r'\W+', '-', str(run)))
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    try:
        kernel = kernels.get(run.series, run.series in expect.WITH_MODULE)
        if run.series in expect.WITH_MODULE:
            kernel = with_module(kernel, os.path.dirname(logs))
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
        machine = vm.Machine(kernel, run.cpus, args=run.args, limit=LIMIT)
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


def judge_docs(counts):
    path = os.path.join(TOP, 'docs/kernels.md')
    with open(path) as f:
        found = re.search(r'<!-- matrix -->\n(.*)<!-- /matrix -->', f.read(), re.S)
    same = found and found[1] == expect.markdown()
    counts['passed' if same else 'failed'] += 1
    say(f'{"ok" if same else "not ok"} - the table in docs/kernels.md is what matrix.py --print prints')


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
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
    runs = vm.chosen(RUNS, sys.argv[2:])
    begin, counts = time.time(), collections.Counter()
    judge_docs(counts)
    image = vm.Image(build)
    # An emulated machine keeps one CPU busy, however many it has.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda run: execute(run, image, os.path.join(build, 'vm')), runs))
    for run in runs:
        counts.update(run.counts)
        say(f'# {str(run):24} {run.release or "-":32} {run.counts["passed"]:4} passed, {run.counts["failed"]} failed, '
            f'{run.counts["skipped"]} skipped, {run.seconds:4.0f} s')
    return vm.conclude('vm', counts, begin)


if __name__ == '__main__':
    try:
        sys.exit(main())
    except kernels.Unavailable as e:
        sys.exit(f'matrix: {e}')
