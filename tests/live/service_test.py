#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of the unit file: kfxt.service as systemd runs it, without root.

    service_test.py BUILD_DIR [NAME...]

Needs root, BPF and a systemd whose units may come and go: tests/vm/matrix.py's machine. Prints
TAP and, last, how many passed, failed and were skipped.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from account import every_switch_of, players  # noqa: E402
from harness import (BUILD, KFXT, PATIENCE, equal, expect, helper, last_cpu, load, main, note, paranoid,  # noqa: E402
                     run, scaled, status_of, test, until, verify)
import fxtread  # noqa: E402, where trace.py found it

UNIT, DROP_IN = '/etc/systemd/system/kfxt.service', '/etc/systemd/system/kfxt.service.d'
CONF = '/etc/kfxt/kfxt.conf'
SAID = '/run/kfxt-said'
TRACE = '/var/lib/kfxt/trace.fxt'
WINDOW_NS = 30_000_000_000      # as kfxt.conf has it


def systemctl(*args, code=0):
    r = subprocess.run(['systemctl', *args], capture_output=True, text=True, timeout=6 * PATIENCE)
    equal(r.returncode, code, f'systemctl {args}: {r.stdout}{r.stderr}')
    return r.stdout


def shown(*names):
    """Properties of the unit."""
    lines = systemctl('show', 'kfxt', *(f'-p{name}' for name in names)).splitlines()
    return dict(line.split('=', 1) for line in lines)


@contextlib.contextmanager
def installed(*options):
    """The unit and its file of options as `make install` puts them there; with options instead of that file, as
    `systemctl edit` adds them."""
    with open(BUILD + '/kfxt.service') as f:
        text = f.read()
    program, = re.findall(rf'(?m)^ExecStart=(\S+) record --config {CONF}$', text)
    for path in (program, CONF, DROP_IN + '/'):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(KFXT, program)
    shutil.copy(BUILD + '/kfxt.service', UNIT)
    shutil.copy(BUILD + '/kfxt.conf', CONF)
    with open(DROP_IN + '/options.conf', 'w') as f:
        f.write(f'[Service]\nStandardError=append:{SAID}\n')
        if options:
            f.write(f'ExecStart=\nExecStart={program} record {" ".join(options)}\n')
    if os.path.exists(SAID):
        os.unlink(SAID)
    systemctl('daemon-reload')
    try:
        yield
    finally:
        subprocess.run(['systemctl', 'stop', 'kfxt'], check=False)
        # And how often it began: five times in ten seconds are too many.
        subprocess.run(['systemctl', 'reset-failed', 'kfxt'], check=False, capture_output=True)
        shutil.rmtree(DROP_IN)
        os.unlink(UNIT)
        os.unlink(CONF)
        systemctl('daemon-reload')


def said():
    """What the recorder printed on stderr."""
    return open(SAID).read() if os.path.exists(SAID) else ''


def has_begun(but=None):
    """There are records in the file, which is another than that with the inode @but."""
    try:
        at = os.stat(TRACE)
    except FileNotFoundError:
        return False
    return at.st_size > 4096 and at.st_ino != but


def recording():
    """Starts the unit; the recorder's process id once records are in its file."""
    if os.path.exists(TRACE):
        os.unlink(TRACE)
    systemctl('start', 'kfxt')
    until(lambda: has_begun() or shown('ActiveState')['ActiveState'] == 'failed', 'the unit does not record')
    now = shown('ActiveState', 'MainPID', 'Result', 'ExecMainStatus')
    equal(now['ActiveState'], 'active', f'state of the unit, {now}, {said()}')
    return int(now['MainPID'])


# For which --strict ends with 3, whatever the recorder does.
BY_THE_KERNEL = ('not reported by the kernel', 'recorded where the thread ran', 'the kernel did not run a program')


def stopped(strict=False):
    """Stops the unit; the trace, which must be whole."""
    systemctl('stop', 'kfxt')
    how = shown('ActiveState', 'Result', 'ExecMainStatus')
    if not strict or how['ExecMainStatus'] != '3' or not any(text in said() for text in BY_THE_KERNEL):
        equal(how, {'ActiveState': 'inactive', 'Result': 'success', 'ExecMainStatus': '0'},
              f'how the unit ended, {said()}')
    verify(TRACE)
    return load(TRACE)


def pingpong():
    """What its threads print of themselves."""
    out = subprocess.run([helper('pingpong'), str(scaled(20000)), str(last_cpu())], capture_output=True, check=True)
    return players(out.stdout.decode())


@test
def records_without_root(tmp):
    with installed('-o', 'trace.fxt', '-m', '16M'):
        pid = recording()
        status = open(f'/proc/{pid}/status').read()
        uids = set(re.search(r'^Uid:\s+(.*)$', status, re.M)[1].split())
        expect('0' not in uids, f'user ids {uids}')
        rights = {name: int(value, 16) for name, value in re.findall(r'^(Cap\w+|NoNewPrivs|Seccomp):\s*(\w+)$', status, re.M)}
        note(f'user {uids.pop()}, {rights}')
        equal((rights['NoNewPrivs'], rights['Seccomp']), (1, 2), 'no_new_privs and seccomp')
        equal([rights[n] for n in ('CapPrm', 'CapEff', 'CapInh', 'CapAmb')], [0] * 4, 'capabilities while it records')
        threads = pingpong()
        trace = stopped()
        equal(trace.ledger_sum('lost_switches', 'lost_wakeups'), 0, f'lost, {said()}')
        every_switch_of(trace, threads)
        mode = os.stat(TRACE)
        equal((stat.S_IMODE(mode.st_mode), mode.st_uid != 0), (0o600, True), "the trace's mode and owner")


@test
def options_of_a_drop_in(tmp):
    """What the unit's other rights are for: tracepoints, the log's levels; and the trace before it is kept."""
    with paranoid(2), installed('-o', 'trace.fxt', '-m', '16M', '-e', 'signal:signal_generate', '-e', 'irq',
                                '--strict'):
        recording()
        os.kill(os.getpid(), signal.SIGURG)
        with open('/dev/kmsg', 'w') as f:
            f.write('<4>kfxt-test of the unit\n')
        stopped(strict=True)
        found = {(rec['category'], rec['name']) for rec in fxtread.read(TRACE) if rec['type'] == 'event'}
        expect({('signal', 'signal_generate'), ('log', 'printk')} <= found, f'events: {sorted(found)}')
        texts = {args['text']: args.get('level') for rec in fxtread.read(TRACE)
                 if rec['type'] == 'event' and rec['category'] == 'log'
                 for args in [{name: value for name, _, value in rec['arguments']}]}
        equal([level for text, level in texts.items() if 'kfxt-test of the unit' in text], ['warning'], 'level of the line')
        before = os.stat(TRACE).st_ino
        systemctl('start', 'kfxt')
        until(lambda: has_begun(but=before), f'the unit does not record again, {said()}')
        stopped(strict=True)
        equal(os.stat(TRACE + '.old').st_ino, before, 'the trace before')
        verify(TRACE + '.old')


def files_of(why):
    """Triggers, too, write some on a busy machine."""
    return glob.glob(f'/var/lib/kfxt/*-{why}*.fxt.zst')


def flying():
    """Starts the unit as it is installed, with no file there; the recorder's process id once it records."""
    for path in glob.glob('/var/lib/kfxt/*'):
        os.unlink(path)
    systemctl('start', 'kfxt')
    until(lambda: status_of(int(shown('MainPID')['MainPID'])) or shown('ActiveState')['ActiveState'] == 'failed',
          'the unit does not record')
    now = shown('ActiveState', 'MainPID')
    equal(now['ActiveState'], 'active', f'state of the unit, {said()}')
    return int(now['MainPID'])


def expect_what_led_up(path, all_threads):
    """All switches of the load but what is counted as lost; threads may have begun before the window."""
    report = json.loads(run('report', '--json', path).stdout)
    begin, end = report['from_ns'], report['from_ns'] + report['duration_ns']
    missing = [t for t in all_threads if t.start < begin]
    expect(all(end - t.start > WINDOW_NS for t in missing), f'it begins at {begin}, {missing} before it: {report}')
    wanted = sum(t.voluntary + t.involuntary for t in all_threads if t not in missing)
    lost = sum(report['lost'][name] for name in ('switches', 'unreported_switches', 'procstat_excess_switches'))
    expect(report['switches'] + lost >= wanted, f'{report["switches"]} switches, {lost} lost, {wanted} of the load')


def limits():
    """What the unit's cgroup allows it, and what it took."""
    place = '/sys/fs/cgroup' + shown('ControlGroup')['ControlGroup']
    of = {}
    for name in ('memory.max', 'memory.swap.max', 'cpu.weight', 'memory.peak', 'memory.events'):
        with open(f'{place}/{name}') as f:
            of[name] = f.read().split()
    return of


@test
def keeps_what_led_up_to_a_reload(tmp):
    """As installed: nothing is written until then, and then a file that has the seconds before, each time."""
    with installed():
        flying()
        threads, seen = [], set()
        for _ in range(2):
            threads += pingpong()
            equal(set(files_of('signal')), seen, 'files before the reload')
            systemctl('reload', 'kfxt')
            until(lambda: set(files_of('signal')) - seen, f'no file, {said()}')
            path, = set(files_of('signal')) - seen
            seen.add(path)
            verify(path)
            equal(stat.S_IMODE(os.stat(path).st_mode) & 0o077, 0, "the trace's mode")
            expect_what_led_up(path, threads)
        has = limits()
        equal([has[name] for name in ('memory.max', 'memory.swap.max', 'cpu.weight')], [[str(1 << 30)], ['0'], ['1000']], 'limits')
        peak, events = int(has['memory.peak'][0]), dict(zip(has['memory.events'][::2], has['memory.events'][1::2]))
        note(f'{peak >> 20} MiB of 1024 at most')
        equal((peak < 512 << 20, events['max'], events['oom_kill']), (True, '0', '0'), f'memory: {peak}, {events}')
        systemctl('stop', 'kfxt')
        equal(shown('ActiveState', 'Result'), {'ActiveState': 'inactive', 'Result': 'success'},
              f'how the unit ended, {said()}')
        equal(glob.glob('/var/lib/kfxt/*.tmp'), [], 'what is left over')


@test
def triggers_snapshots_and_hooks(tmp):
    """In the confinement of the unit: each file is complete, and the hook gets it, as the unit's user."""
    hooked = '/var/lib/kfxt/hooked'
    with installed():
        with open(CONF, 'a') as f:
            f.write(f'trigger offcpu>500ms:comm=kfxt-unit\non-trigger echo $KFXT_TRIGGER $(id -u) {{}} >>{hooked}\n')
        pid = flying()
        os.symlink('/bin/sleep', tmp + '/kfxt-unit')
        subprocess.run([tmp + '/kfxt-unit', '1'], check=True)
        until(lambda: files_of('offcpu'), f'no file of the trigger, {said()}')
        made, = map(os.path.realpath, files_of('offcpu'))       # the directory of a service without a user of its own is a link
        r = run('snapshot', '--pid', str(pid), '--name', 'by-hand')
        equal(r.returncode, 0, r.stderr)
        asked = r.stdout.decode().strip()
        expect(asked in map(os.path.realpath, files_of('by-hand')), f'{asked}: {glob.glob("/var/lib/kfxt/*")}')
        until(lambda: os.path.exists(hooked) and open(hooked).read().endswith('\n'), f'the hook has not run, {said()}')
        with open(hooked) as f:
            (why, uid, path), = map(str.split, f)
        equal((why, path, uid == '0'), ('offcpu>500ms:comm=kfxt-unit', made, False), 'what the hook got, and that it is root')
        verify(made)
        verify(asked)
        events = map(json.loads, run('dump', '--json', '--type', 'event', made).stdout.splitlines())
        values = {arg['value'] for e in events if e['name'] == 'trigger' for arg in e['args'] if arg['name'] == 'value'}
        note(f'{made}, {asked}: {values}')
        expect(len(values) == 1 and 500_000_000 <= min(values) < 30_000_000_000, f'of the trigger: {values}')
        systemctl('stop', 'kfxt')


@test
def functions_and_stacks_have_names(tmp):
    """The unit may read /proc/kallsyms: functions are found, frames of the kernel have names, those of programs too."""
    with installed():
        with open(CONF, 'a') as f:
            f.write('trigger func:*hrtimer_nanosleep>500ms:comm=kfxt-unit\noff-cpu 100ms\n')
        flying()
        os.symlink('/bin/sleep', tmp + '/kfxt-unit')
        subprocess.run([tmp + '/kfxt-unit', '1'], check=True)
        until(lambda: files_of('func'), f'no file of the trigger, {said()}')
        systemctl('stop', 'kfxt')
    made, = files_of('func')
    verify(made)
    stacks = run('report', '--stacks=off-cpu', '--comm', 'kfxt-unit', made).stdout.decode()
    expect('hrtimer_nanosleep' in stacks and 'clock_nanosleep' in stacks, f'stacks of what slept: {stacks}')


@test
def reports_a_failure(tmp):
    """Once: what is wrong with the options is not tried again."""
    with installed('--no-such-option'):
        systemctl('start', 'kfxt')
        until(lambda: shown('ActiveState')['ActiveState'] == 'failed', 'the unit is not seen to fail')
        equal(shown('Result', 'ExecMainStatus', 'NRestarts'),
              {'Result': 'exit-code', 'ExecMainStatus': '2', 'NRestarts': '0'}, 'how')


@test
def reports_what_is_wrong_in_the_file(tmp):
    with installed():
        with open(CONF, 'a+') as f:
            f.seek(0)
            line = len(f.readlines()) + 1
            f.write('trigers mark=x\n')
        systemctl('start', 'kfxt')
        until(lambda: shown('ActiveState')['ActiveState'] == 'failed', 'the unit is not seen to fail')
        expect(f'{CONF}:{line}: trigers: not known' in said(), said())


if __name__ == '__main__':
    sys.exit(main('service'))
