# SPDX-License-Identifier: GPL-2.0
"""What one record costs in the kernel: our programs, beside an empty one; our ring, beside the clock."""
import contextlib
import json
import re
import subprocess

import traced
from pairs import Table, setting, spread, as_text

STATS = '/proc/sys/kernel/bpf_stats_enabled'
ROUNDS = 5
PROGRAMS = ('on_sched_switch', 'on_sched_waking')


@contextlib.contextmanager
def empty_program(build):
    p = subprocess.Popen([build + '/tests/empty'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    try:
        yield
    finally:
        p.communicate()


def programs():
    """{name: (runs, ns)} of those that are loaded."""
    listed = json.loads(subprocess.run(['bpftool', 'prog', 'list', '-j'], capture_output=True, check=True).stdout)
    return {p['name']: (p.get('run_cnt', 0), p.get('run_time_ns', 0)) for p in listed if 'name' in p}


def per_run(kfxt, build, into, cpu, elsewhere):
    """{name: ns} of each program's run in a token game."""
    with kfxt.recording(into, elsewhere):
        before = programs()
        traced.game(build + '/tests', cpu)
        after = programs()
    return {name: (after[name][1] - before[name][1]) / (after[name][0] - before[name][0])
            for name in after if name in before and after[name][0] - before[name][0] > 1000}


def run(build, into, recorders, say):
    cpu, elsewhere = traced.cpus()
    taken = {}
    with setting(STATS, '1'), empty_program(build):
        for n in range(ROUNDS):
            say(f'programs: round {n + 1} of {ROUNDS}')
            for name, ns in per_run(recorders[0], build, into, cpu, elsewhere).items():
                taken.setdefault(name, []).append(ns)
    floor = taken.pop('bench_empty')
    rows = [[name, as_text(spread([a - b for a, b in zip(values, floor)]), 1)]
            for name, values in sorted(taken.items()) if name in PROGRAMS]
    yield Table('A run of a program, by the kernel\'s statistics', ['', 'ns, above an empty program'], rows,
                f'The empty one: {as_text(spread(floor), 1)} ns, which is mostly the statistics. Token game, one CPU.')
    say('ring')
    out = subprocess.run([build + '/tests/ring_bench'], capture_output=True, text=True, check=True).stdout
    rows = [[m[1].strip(), float(m[2]), '' if m[3] == '-' else float(m[3])]
            for m in re.finditer(r'^(c.*?) +([\d.]+) +([\d.-]+)$', out, re.M)]
    yield Table('A record of 48 bytes', ['', 'ns, above nothing', 'above the clock'], rows,
                'Medians of 101 rounds of 60,000, in turn, in a loop in the kernel.')
