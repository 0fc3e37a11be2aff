#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests of the unit file: kfxt.service as systemd runs it, without root.

    service_test.py BUILD_DIR [NAME...]

Needs root, BPF and a systemd whose units may come and go: tests/vm/matrix.py's machine. Prints
TAP and, last, how many passed, failed and were skipped.
"""
import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from account import every_switch_of, players  # noqa: E402
from harness import (BUILD, KFXT, PATIENCE, equal, expect, helper, last_cpu, load, main, note, paranoid, scaled,  # noqa: E402
                     test, until, verify)
import fxtread  # noqa: E402, where trace.py found it

UNIT, DROP_IN = '/etc/systemd/system/kfxt.service', '/etc/systemd/system/kfxt.service.d'
SAID = '/run/kfxt-said'
TRACE = '/var/lib/kfxt/trace.fxt'


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
    """The unit as `make install` puts it there; with options, as `systemctl edit` adds them."""
    with open(BUILD + '/kfxt.service') as f:
        text = f.read()
    program, = re.findall(r'(?m)^ExecStart=(\S+) record -o trace.fxt$', text)
    os.makedirs(os.path.dirname(program), exist_ok=True)
    shutil.copy(KFXT, program)
    shutil.copy(BUILD + '/kfxt.service', UNIT)
    os.makedirs(DROP_IN, exist_ok=True)
    if options:
        with open(DROP_IN + '/options.conf', 'w') as f:
            f.write(f'[Service]\nExecStart=\nExecStart={program} record -o trace.fxt {" ".join(options)}\n'
                    f'StandardError=append:{SAID}\n')
    systemctl('daemon-reload')
    try:
        yield
    finally:
        subprocess.run(['systemctl', 'stop', 'kfxt'], check=False)
        shutil.rmtree(DROP_IN)
        os.unlink(UNIT)
        systemctl('daemon-reload')


def said():
    """What the recorder told on stderr, where options were given."""
    return open(SAID).read() if os.path.exists(SAID) else ''


def has_begun():
    return os.path.exists(TRACE) and os.path.getsize(TRACE) > 4096


def recording():
    """Starts the unit; the recorder's process id once records are in its file."""
    if os.path.exists(TRACE):
        os.unlink(TRACE)
    systemctl('start', 'kfxt')
    until(lambda: has_begun() or shown('ActiveState')['ActiveState'] == 'failed', 'the unit does not record')
    now = shown('ActiveState', 'MainPID', 'Result', 'ExecMainStatus')
    equal(now['ActiveState'], 'active', f'state of the unit, {now}, {said()}')
    return int(now['MainPID'])


def stopped():
    """Stops the unit; the trace, which must be whole."""
    systemctl('stop', 'kfxt')
    equal(shown('ActiveState', 'Result', 'ExecMainStatus'),
          {'ActiveState': 'inactive', 'Result': 'success', 'ExecMainStatus': '0'}, 'how the unit ended')
    verify(TRACE)
    return load(TRACE)


@test
def records_without_root(tmp):
    with installed():
        pid = recording()
        status = open(f'/proc/{pid}/status').read()
        uids = set(re.search(r'^Uid:\s+(.*)$', status, re.M)[1].split())
        expect('0' not in uids, f'user ids {uids}')
        rights = {name: int(value, 16) for name, value in re.findall(r'^(Cap\w+|NoNewPrivs|Seccomp):\s*(\w+)$', status, re.M)}
        note(f'user {uids.pop()}, {rights}')
        equal((rights['NoNewPrivs'], rights['Seccomp']), (1, 2), 'no_new_privs and seccomp')
        equal([rights[n] for n in ('CapPrm', 'CapEff', 'CapInh', 'CapAmb')], [0] * 4, 'capabilities while it records')
        out = subprocess.run([helper('pingpong'), str(scaled(20000)), str(last_cpu())], capture_output=True, check=True)
        trace = stopped()
        equal(trace.ledger_sum('lost_switches', 'lost_wakeups'), 0, 'lost')
        every_switch_of(trace, players(out.stdout.decode()))
        mode = os.stat(TRACE)
        equal((stat.S_IMODE(mode.st_mode), mode.st_uid != 0), (0o600, True), "the trace's mode and owner")


@test
def options_of_a_drop_in(tmp):
    """What the unit's other rights are for: tracepoints, the log's levels; and the trace before it is kept."""
    with paranoid(2), installed('-e', 'signal:signal_generate', '-e', 'irq', '--strict'):
        recording()
        os.kill(os.getpid(), signal.SIGURG)
        with open('/dev/kmsg', 'w') as f:
            f.write('<4>kfxt-test of the unit\n')
        stopped()
        found = {(rec['category'], rec['name']) for rec in fxtread.read(TRACE) if rec['type'] == 'event'}
        expect({('signal', 'signal_generate'), ('log', 'printk')} <= found, f'events: {sorted(found)}')
        texts = {args['text']: args.get('level') for rec in fxtread.read(TRACE)
                 if rec['type'] == 'event' and rec['category'] == 'log'
                 for args in [{name: value for name, _, value in rec['arguments']}]}
        equal([level for text, level in texts.items() if 'kfxt-test of the unit' in text], ['warning'], 'level of the line')
        before = os.stat(TRACE).st_ino
        systemctl('start', 'kfxt')
        until(lambda: has_begun() and os.stat(TRACE).st_ino != before, 'the unit does not record again')
        stopped()
        equal(os.stat(TRACE + '.old').st_ino, before, 'the trace before')
        verify(TRACE + '.old')


@test
def reports_a_failure(tmp):
    with installed('--no-such-option'):
        systemctl('start', 'kfxt')
        until(lambda: shown('ActiveState')['ActiveState'] == 'failed', 'the unit is not seen to fail')
        equal(shown('Result', 'ExecMainStatus'), {'Result': 'exit-code', 'ExecMainStatus': '2'}, 'how')


if __name__ == '__main__':
    sys.exit(main('service'))
