#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Has anything become dearer? Counts, which no noise changes, against tests/bench/baseline.json.

    cost_test.py BUILD_DIR [--update]

Instructions of the imports, of the drain, of triggers and of the unwinder for the same input (callgrind), of the
scheduler's BPF programs as compiled and, but for the functions that they call in rarer cases, as this kernel
makes machine code of them, and bytes an event. Fails where one is more than 3 % above the baseline; who means it to be changes
that file in the same commit (--update). Needs root and BPF. Prints TAP and, last, how many passed, failed
and were skipped.
"""
import collections
import contextlib
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINE = HERE + '/baseline.json'
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = BUILD + '/kfxt'
MARGIN = 0.03
PROGRAMS = ('on_sched_switch', 'on_sched_waking')     # names are cut to 15 characters: these must differ
# Of kernels: 6.1.123-amd64 is like every 6.1 of that architecture.
MACHINE = {'x86_64': 'i386:x86-64'}.get(os.uname().machine, os.uname().machine)    # as objdump has it
KERNEL = '.'.join(os.uname().release.split('.')[:2]) + ' ' + os.uname().machine


def instructions(*command, only=None):
    """As callgrind counts them, of all or of a function and what it calls."""
    options = [f'--toggle-collect={only}'] if only else []
    r = subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *options, *command],
                       capture_output=True, text=True)
    m = re.search(r'Collected : (\d+)', r.stderr)
    if r.returncode or not m:
        raise RuntimeError(f'{command[0]}: {r.stderr[-500:]}')
    return int(m[1])


def of_import(tmp):
    with gzip.open(HERE + '/../convert/base-mixed-6.12.txt.gz') as f, open(tmp + '/text', 'wb') as to:
        to.write(f.read())
    return {'import': instructions(KFXT, 'convert', '-q', '-o', tmp + '/t.fxt', tmp + '/text')}


def of_made(tmp, generator, mb):
    """Instructions an event of a trace that is generated."""
    path, facts = tmp + '/made', tmp + '/facts'
    subprocess.run([sys.executable, HERE + '/../convert/' + generator, '--mb', mb, '-o', path, '--facts', facts], check=True)
    with open(facts) as f:
        events = json.load(f)['events']
    return instructions(KFXT, 'convert', '-q', '-o', tmp + '/t.fxt', path) // events


def of_json(tmp):
    return {'a JSON event': of_made(tmp, 'gen_json.py', '1')}


def of_perfetto(tmp):
    return {'a Perfetto event': of_made(tmp, 'gen_pftrace.py', '2')}


def of_drain(tmp):
    return {f'drain, {what}': instructions(BUILD + '/tests/drain_load', str(cpus), str(records), '10', tmp + '/drained',
                                           only='drain_all')
            for what, cpus, records in (('2 CPUs', 2, 20000), ('64 CPUs, little in each ring', 64, 20))}


def of_triggers(tmp):
    """A round of many threads, of which few run."""
    rounds = 500
    return {'a round of triggers, 20,000 threads': instructions(BUILD + '/tests/trigger_load', '20000', str(rounds),
                                                                only='round_of_triggers') // rounds}


def of_unwinding(tmp):
    """A user stack of some 20 frames."""
    rounds = 200
    return {f'a stack to unwind, {what}': instructions(BUILD + '/tests/unwind_load', '22', str(rounds), only=only) // rounds
            for what, only in (('its rules known', 'unwind_known'), ('its rules new', 'unwind_new'))}


def of_objects():
    """As compiled, before any kernel has seen them; .text is what they call, in two files. "?": with stack samples only."""
    found = collections.Counter()
    for name, wanted in (('sched', r'\.text|\??tp_btf/\S+'), ('names', r'\.text'),
                         ('stack', r'\?perf_event|\?tp_btf/sched_(?:exit_tp|waking)')):
        out = subprocess.run(['readelf', '-SW', f'{BUILD}/gen/{name}.bpf.o'], capture_output=True, text=True, check=True).stdout
        for m in re.finditer(rf'\] ({wanted}) +PROGBITS +\w+ +\w+ (\w+)', out):
            found[f'{m[1]}, compiled'] += int(m[2], 16) // 8
    return found


def programs_of(pid):
    """Ids of the BPF programs that a process has open."""
    ids = set()
    for path in glob.glob(f'/proc/{pid}/fdinfo/*'):
        with contextlib.suppress(FileNotFoundError), open(path) as f:
            ids.update(re.findall(r'^prog_id:\s+(\d+)', f.read(), re.M))
    return sorted(ids)


def of_programs(tmp):
    """As this kernel runs them."""
    path = tmp + '/t.fxt'
    p = subprocess.Popen([KFXT, 'record', '-q', '-o', path])
    try:
        end = time.time() + 60
        while not os.path.exists(path) or os.path.getsize(path) <= 4096:
            if time.time() > end or p.poll() is not None:
                raise RuntimeError('recording does not start')
            time.sleep(0.01)
        subprocess.run([BUILD + '/tests/jited', tmp, *programs_of(p.pid)], check=True)
    finally:
        p.terminate()
        p.wait()
    return {f'{name}, on {KERNEL}': len(re.findall(r'^ *[0-9a-f]+:\t', subprocess.run(
                ['objdump', '-D', '-b', 'binary', '-m', MACHINE, f'{tmp}/{name[:15]}'], capture_output=True, text=True,
                check=True).stdout, re.M)) for name in PROGRAMS}


def of_file(tmp):
    """Of as many events that what else is in the file does not matter; nor a recorder that waits for a CPU."""
    r = subprocess.run([KFXT, 'record', '-m', '64M', '-o', tmp + '/t.fxt', '--', BUILD + '/tests/pingpong', '200000', '0'],
                       capture_output=True, text=True, check=True)
    m = re.search(r' (\d+) switches, (\d+) wakeups', r.stderr)
    if 'rings full' in r.stderr:
        raise RuntimeError(r.stderr)
    return {'bytes an event': round(os.path.getsize(tmp + '/t.fxt') / (int(m[1]) + int(m[2])), 2)}


def measured():
    found = {}
    for measure in (of_import, of_json, of_perfetto, of_drain, of_triggers, of_unwinding, lambda tmp: of_objects(), of_programs,
                    of_file):
        with tempfile.TemporaryDirectory() as tmp:
            found.update(measure(tmp))
    return found


def main():
    if os.geteuid():
        sys.exit('cost: needs root')
    with open(BASELINE) as f:
        baseline = json.load(f)
    found = measured()
    if '--update' in sys.argv:
        with open(BASELINE, 'w') as f:
            json.dump({**baseline, **found}, f, indent=1)
            f.write('\n')
        return 0
    failed = 0
    for name, value in found.items():
        was = baseline.get(name)
        # A kernel that is not in the file yet has nothing to be compared with: what is compiled tells enough.
        bad = was is not None and value > was * (1 + MARGIN)
        failed += bad
        print(f'{"not ok" if bad else "ok"} - {name}: {value:,}' +
              (f', {(value / was - 1) * 100:+.1f} % of {was:,}' if was else ', which is new (cost_test.py --update)'))
        if not bad and was and value < was * (1 - MARGIN):
            print(f'# cheaper: cost_test.py {sys.argv[1]} --update')
    print(f'cost: {len(found) - failed} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
