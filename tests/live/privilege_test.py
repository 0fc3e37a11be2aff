#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Live tests: which rights a recording takes, which it keeps, and that names of what it
records are data.

    privilege_test.py BUILD_DIR [NAME...]

Needs root and BPF. Prints TAP and, last, how many passed, failed and were skipped.
"""
import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(__file__))
from harness import (BUILD, KFXT, PATIENCE, Skip, children_of, equal, expect, gone, helper, load, main, note, paranoid, record, run,  # noqa: E402
                     stat_of, test, until, verify, wait_for_begin)

NOBODY = 65534
CAPS = {'KILL': 5, 'DAC_READ_SEARCH': 2, 'SYS_PTRACE': 19, 'SYS_ADMIN': 21, 'SYS_NICE': 23, 'SYS_RESOURCE': 24,
        'SYSLOG': 34, 'PERFMON': 38, 'BPF': 39, 'CHECKPOINT_RESTORE': 40}
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_NAME, PR_SET_KEEPCAPS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 15, 8, 47, 2


def status_of(text):
    """The lines of a /proc/PID/status that rights are in, as numbers."""
    found = re.findall(r'^(Cap\w+|NoNewPrivs|Seccomp):\s*([0-9a-f]+)$', text, re.M)
    return {name: int(value, 16) for name, value in found}


def bits(*names):
    return sum(1 << CAPS[name] for name in names)


def as_nobody(*names):
    """For preexec_fn: another user, with these capabilities as ambient ones; what systemd does."""
    def become():
        def call(what, *args):
            if what(*args):
                raise OSError(ctypes.get_errno(), what.__name__)
        call(LIBC.prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        low, high = bits(*names) & 0xffffffff, bits(*names) >> 32
        header = ctypes.create_string_buffer(struct.pack('Ii', 0x20080522, 0))
        call(LIBC.capset, header, ctypes.create_string_buffer(struct.pack('6I', low, low, low, high, high, high)))
        for name in names:
            call(LIBC.prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAPS[name], 0, 0)
    return become


def own_dir(tmp):
    """A directory of nobody's with a kfxt that all may run."""
    path = tmp + '/nobody'
    os.mkdir(path)
    os.chmod(tmp, 0o755)
    shutil.copy(KFXT, path + '/kfxt')
    os.chown(path, NOBODY, NOBODY)
    return path


def record_as_nobody(path, caps, *args, code=0):
    """kfxt record of a user with @caps into @path/t.fxt; its messages."""
    r = subprocess.run([path + '/kfxt', 'record', '-v', '-o', path + '/t.fxt', *args], capture_output=True,
                       preexec_fn=as_nobody(*caps), cwd='/', timeout=6 * PATIENCE)
    equal(r.returncode, code, f'exit code with {caps}: {r.stderr.decode()}')
    return r.stderr.decode()


class Recorder:
    """kfxt record that runs; ended on leaving."""

    def __init__(self, trace, *args):
        self.process = subprocess.Popen([KFXT, 'record', '-q', '-o', trace, *args], stdout=subprocess.PIPE)

    def tasks(self):
        """The rights of each of its threads; one of them may end meanwhile."""
        found = []
        for path in glob.glob(f'/proc/{self.process.pid}/task/*/status'):
            with contextlib.suppress(OSError), open(path) as f:
                found.append(status_of(f.read()))
        return [rights for rights in found if rights]

    def confined(self):
        """Rights of its first thread, which others begin before, once it has given up what it can: system calls come last."""
        def rights():
            with open(f'/proc/{self.process.pid}/status') as f:
                found = status_of(f.read())
            return found if found['NoNewPrivs'] == 1 and found['Seccomp'] == 2 else None
        return until(rights, 'it is not confined', 3 * PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=3 * PATIENCE)


# ---- what is kept ----------------------------------------------------------------------

@test
def rights_are_dropped(tmp):
    # A thread that compresses is a thread of the recorder's, too.
    compress = [['-z']] if b'--compress' in run('record', '--help').stdout else []
    for args in [[], *compress]:
        with Recorder(tmp + '/t.fxt', *args) as r:
            def confined():
                tasks = r.tasks()
                return tasks and all(t['NoNewPrivs'] == 1 and t['Seccomp'] == 2 for t in tasks)
            until(confined, 'it is not confined', 3 * PATIENCE)
            kept = {tuple(t[n] for n in ('CapPrm', 'CapEff', 'CapInh', 'CapAmb')) for t in r.tasks()}
            # Of the thread that watches how urgently it runs.
            watch = (bits('SYS_NICE'), bits('SYS_NICE'), 0, 0)
            own = status_of(open('/proc/self/status').read())['CapPrm']
            equal(kept, {(0, 0, 0, 0)} | ({watch} if own & bits('SYS_NICE') else set()), f'capabilities {args}')
        equal(r.process.returncode, 0, 'exit code')
        verify(tmp + '/t.fxt')


@test
def rights_of_the_process_that_detaches(tmp):
    """
    It is there from the beginning on, with links and without rights and what others wait for the end of. It is urgent only
    while it sleeps, to count calls at the end before it detaches.
    """
    def rights(pid):
        with open(f'/proc/{pid}/status') as f:
            return status_of(f.read())

    def policy_of(pid):
        try:
            return os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK
        except ProcessLookupError:
            return None

    for args, policy in [[], os.SCHED_OTHER], [['-u', helper('calls') + ':inner', '--caller'], os.SCHED_FIFO]:
        with Recorder(tmp + '/t.fxt', *args) as r:
            r.confined()
            pid, = (pid for pid, name in children_of(r.process.pid).items() if name == 'kfxt-detach')
            until(lambda: rights(pid)['Seccomp'] == 2, 'it is not confined', 3 * PATIENCE)
            equal([rights(pid)[n] for n in ('CapPrm', 'CapEff', 'CapInh', 'CapAmb', 'NoNewPrivs')], [0, 0, 0, 0, 1], 'its rights')
            equal(policy_of(pid), policy, 'its policy')
            if args:
                os.kill(pid, signal.SIGSTOP)
                r.process.send_signal(signal.SIGINT)
                until(lambda: gone(r.process.pid), 'it does not end')
                os.kill(pid, signal.SIGCONT)
                until(lambda: policy_of(pid) in (os.SCHED_OTHER, None), 'it detaches urgently')
    with Recorder(tmp + '/t.fxt', '-u', helper('calls') + ':inner', '--caller') as r:
        r.confined()
        pid, = (pid for pid, name in children_of(r.process.pid).items() if name == 'kfxt-detach')
        until(lambda: rights(pid)['Seccomp'] == 2, 'it is not confined', 3 * PATIENCE)
        files = [os.readlink(path) for path in glob.glob(f'/proc/{pid}/fd/*')]
        expect('anon_inode:bpf_link' in files or 'anon_inode:[perf_event]' in files, f'no links: {files}')
        expect(f'pipe:[{os.fstat(r.process.stdout.fileno()).st_ino}]' not in files, f'stdout of the recorder: {files}')
        equal([f for f in files if f.startswith('socket:')], [], 'its sockets')
        # Without it the recorder detaches itself, and has no functions any more.
        os.kill(pid, signal.SIGKILL)
    equal(r.process.returncode, 0, 'exit code')
    verify(tmp + '/t.fxt')


@test
def rights_to_end_the_command(tmp):
    with Recorder(tmp + '/t.fxt', '--', 'sleep', '1000') as r:
        equal(r.confined()['CapEff'], bits('KILL'), 'capabilities')
    equal(r.process.returncode, 0, 'exit code')
    # Whoever it has become.
    if not shutil.which('setpriv'):
        raise Skip('no setpriv')
    record(tmp + '/u.fxt', '-d', '300ms', '--', 'setpriv', '--reuid', str(NOBODY), '--clear-groups', 'sleep', '1000')


def callers_of(trace):
    return {c.args.get('parent') for c in load(trace).calls}


@test
def rights_to_name_callers(tmp):
    """Mappings and files of any user; they are kept for that alone."""
    calls = helper('calls')
    have = {f['name'] for f in json.loads(run('check', '--json').stdout)['features'] if f['have']}
    if not have & {'uprobe', 'uprobe.multi'}:
        raise Skip('no uprobes')
    # Single ones are root's since "perf/core: Require CAP_SYS_ADMIN for uprobes", which older kernels got, too.
    caps = ('BPF', 'PERFMON') + (() if 'uprobe.multi' in have else ('SYS_ADMIN',))
    for options, names in (['--caller'], ('SYS_PTRACE', 'DAC_READ_SEARCH', 'CHECKPOINT_RESTORE')), ([], ()):
        with Recorder(tmp + '/t.fxt', '-u', calls + ':inner', *options) as r:
            equal(r.confined()['CapEff'], bits(*names), f'capabilities {options}')
    path = own_dir(tmp)
    os.chmod(tmp, 0o755)
    shutil.copy(calls, path + '/calls')
    work = f'for i in 1 2 3 4 5 6 7 8 9; do {path}/calls chain=5; done'
    with paranoid(2):
        messages = record_as_nobody(path, caps, '-u', path + '/calls:inner', '--caller', '--', 'sh', '-c', work)
    equal(callers_of(path + '/t.fxt'), {('string', 'middle')}, f'callers, without root: {messages}')
    # The mappings of a program of another user that was there before: for CAP_PERFMON since 6.15, else it is said.
    before = subprocess.Popen([path + '/calls', 'wait', 'chain=5'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    equal(before.stdout.readline(), b'ready\n', 'the program')
    trace = path + '/u.fxt'
    with paranoid(2):
        recorder = subprocess.Popen([path + '/kfxt', 'record', '-o', trace, '-u', path + '/calls:inner', '--caller'],
                                    stderr=subprocess.PIPE, preexec_fn=as_nobody(*caps))
        wait_for_begin(recorder, trace)
    before.communicate(b'\n', timeout=PATIENCE)
    recorder.send_signal(signal.SIGINT)
    said = recorder.communicate(timeout=PATIENCE)[1].decode()
    unnamed = '5 callers without a name: what was mapped there is not known' in said
    equal({kind for kind, _ in callers_of(trace)}, {'pointer' if unnamed else 'string'}, f'callers of another user: {said}')
    equal(unnamed, tuple(map(int, os.uname().release.split('.')[:2])) < (6, 15), f'can they have names? {said}')


@test
def rights_for_stacks(tmp):
    """Those to read what is mapped, if user stacks are to be unwound."""
    for options, names in ((['--stacks'], ('SYS_PTRACE', 'DAC_READ_SEARCH', 'CHECKPOINT_RESTORE')),
                           (['--stacks', '--user-stack=none'], ())):
        with Recorder(tmp + '/t.fxt', *options) as r:
            equal(r.confined()['CapEff'], bits(*names), f'capabilities {options}')


@test
def no_sandbox(tmp):
    own = status_of(open('/proc/self/status').read())
    out = record(tmp + '/t.fxt', '--no-sandbox', '--', 'sh', '-c', 'cat /proc/$PPID/status')
    equal(status_of(out), own, 'rights of the recorder')


@test
def the_command_keeps_its_rights(tmp):
    own = status_of(open('/proc/self/status').read())
    equal(status_of(record(tmp + '/t.fxt', '--', 'cat', '/proc/self/status')), own, 'rights of the command')
    equal(record(tmp + '/t.fxt', '--', 'nice'), f'{os.nice(0)}\n', 'its priority')


@test
def the_command_may_be_setuid(tmp):
    path = own_dir(tmp)
    if 'busybox' in os.path.realpath(shutil.which('id')):
        raise Skip("busybox's id gives up what it gets")
    shutil.copy(shutil.which('id'), path + '/id')
    os.chmod(path + '/id', 0o4755)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        raise Skip('mounted nosuid')
    r = subprocess.run([path + '/kfxt', 'record', '-q', '-o', path + '/t.fxt', '--', path + '/id', '-u'],
                       capture_output=True, preexec_fn=as_nobody('BPF', 'PERFMON'), timeout=6 * PATIENCE)
    equal((r.returncode, r.stdout), (0, b'0\n'), f'who the command is: {r.stderr.decode()}')


# ---- what is needed --------------------------------------------------------------------

@test
def check_in_user_namespace(_):
    """It has all capabilities there, and the kernel counts none of them."""
    r = subprocess.run(['unshare', '-Ur', KFXT, 'check', '--json'], capture_output=True, timeout=6 * PATIENCE)
    equal((r.returncode, r.stderr), (5, b''), 'exit code and messages of check')
    rows = {f['name']: f for f in json.loads(r.stdout)['features']}
    expect(rows['CAP_BPF']['have'], 'it has no CAP_BPF')
    equal(rows['BPF ring buffer']['remedy'],
          'run outside of the container: capabilities in its user namespace do not count', 'remedy')


@test
def two_capabilities_do(tmp):
    path = own_dir(tmp)
    messages = record_as_nobody(path, ('BPF', 'PERFMON'), '--', 'sh', '-c', 'sleep 0.2')
    expect('capabilities kept: none' in messages, f'what it keeps: {messages}')
    verify(path + '/t.fxt')
    t = load(path + '/t.fxt')
    expect(any(name == 'sh' for name in t.processes.values()), 'the command has no name')
    expect(os.getpid() in {p % 10_000_000 for p in t.processes}, 'processes of others have no names')
    for lacks in ('BPF', 'PERFMON'):
        said = record_as_nobody(path, {'BPF', 'PERFMON'} - {lacks}, '-d', '1', code=5)
        expect(re.search(r'not permitted \(run as root, or once: sudo setcap cap_bpf,\S+\+ep '
                         + re.escape(path + '/kfxt'), said), f'message without {lacks}: {said}')


@test
def tracepoints_take_one_more(tmp):
    path = own_dir(tmp)
    event = 'signal:signal_generate'
    expect('tracefs' in record_as_nobody(path, ('BPF', 'PERFMON'), '-e', event, '-d', '1', code=5), 'what is missing')
    with paranoid(2):
        for what in (event, 'syscalls'):
            messages = record_as_nobody(path, ('BPF', 'PERFMON', 'DAC_READ_SEARCH'), '-e', what,
                                        '--', 'sh', '-c', 'sleep 100 & kill $!; wait')
            expect(re.search(r', [1-9]\d* events?, ', messages), f'no event of {what}: {messages}')
            verify(path + '/t.fxt')


@test
def capabilities_of_the_file(tmp):
    path = own_dir(tmp)
    low, high = bits('BPF', 'PERFMON') & 0xffffffff, bits('BPF', 'PERFMON') >> 32
    try:
        os.setxattr(path + '/kfxt', 'security.capability', struct.pack('5I', 0x02000001, low, 0, high, 0))
    except OSError as e:
        raise Skip(f'no capabilities on files here: {e}')
    record_as_nobody(path, (), '--', 'true')
    verify(path + '/t.fxt')
    out = subprocess.run([path + '/kfxt', 'record', '-q', '-o', path + '/t.fxt', '--', 'cat', '/proc/self/status'],
                         capture_output=True, preexec_fn=as_nobody(), timeout=6 * PATIENCE).stdout.decode()
    equal(status_of(out)['CapPrm'], 0, 'capabilities that came to the command')


@test
def check_names_the_command(tmp):
    path = own_dir(tmp) + "/it's kfxt"
    os.rename(os.path.dirname(path) + '/kfxt', path)
    r = subprocess.run([path, 'check'], capture_output=True, preexec_fn=as_nobody())
    equal(r.returncode, 5, 'exit code')
    last = r.stdout.decode().splitlines()[-1]
    words = re.fullmatch(r'to give it the rights: (sudo setcap \S+ .*)', last)
    expect(words, f'last line of check: {last}')
    shown = subprocess.run(['sh', '-c', f'set -- {words[1]}; printf %s "$4"'], capture_output=True).stdout.decode()
    equal(shown, path, 'the path, as a shell reads it')
    r = subprocess.run([path, 'check', '--json'], capture_output=True, preexec_fn=as_nobody())
    equal(json.loads(r.stdout)['rights'], words[1], 'the same in JSON')
    equal(json.loads(run('check', '--json').stdout)['rights'], None, 'what root is told')


# ---- the unit file ---------------------------------------------------------------------

def unit():
    if not os.path.exists(BUILD + '/kfxt.service'):
        raise Skip('no unit file on this machine')
    text = open(BUILD + '/kfxt.service').read()
    return dict(re.findall(r'^(\w+)=(.*)$', text, re.M))


@test
def rights_of_the_unit_do(tmp):
    path = own_dir(tmp)
    caps = [c.removeprefix('CAP_') for c in unit()['AmbientCapabilities'].split()]
    equal(unit()['CapabilityBoundingSet'].split(), unit()['AmbientCapabilities'].split(), 'the bounds')
    # Triggers on pressure need it; a machine whose root has not got it can try the others.
    if not status_of(open('/proc/self/status').read())['CapPrm'] >> CAPS['SYS_RESOURCE'] & 1:
        caps.remove('SYS_RESOURCE')
    with paranoid(2):
        messages = record_as_nobody(path, caps, '-e', 'signal:signal_generate', '-e', 'irq', '-d', '500ms')
    # A line may be gone from there by then; that message has other words.
    expect('no level: /dev/kmsg: ' not in messages, f'log: {messages}')
    verify(path + '/t.fxt')


@test
def unit_is_well_formed(tmp):
    if not shutil.which('systemd-analyze'):
        raise Skip('no systemd-analyze')
    unit()
    text = open(BUILD + '/kfxt.service').read()
    text, n = re.subn(r'(?m)^ExecStart=\S+', f'ExecStart={KFXT}', text)
    equal(n, 1, 'ExecStart')
    open(tmp + '/kfxt.service', 'w').write(text)
    r = subprocess.run(['systemd-analyze', 'verify', '--man=no', tmp + '/kfxt.service'], capture_output=True)
    equal((r.returncode, r.stderr.decode()), (0, ''), 'systemd-analyze verify')


@test
def unit_allows_the_calls(tmp):
    """SystemCallFilter= against what a recording calls."""
    if not shutil.which('systemd-analyze') or not shutil.which('strace'):
        raise Skip('no systemd-analyze or no strace')

    def expand(name):
        if not name.startswith('@'):
            return {name}
        lines = subprocess.run(['systemd-analyze', 'syscall-filter', name], capture_output=True, check=True)
        words = [line.strip() for line in lines.stdout.decode().splitlines()[1:]]
        return set().union(*(expand(w) for w in words if w and not w.startswith('#')))
    allowed = set().union(*map(expand, unit()['SystemCallFilter'].split())) | expand('@default')
    subprocess.run(['strace', '-f', '-o', tmp + '/calls', KFXT, 'record', '-q', '-o', tmp + '/t.fxt', '-e', 'irq', '-d', '300ms'],
                   check=True, timeout=6 * PATIENCE)
    called = set(re.findall(r'(?m)^\d+ +(\w+)\(', open(tmp + '/calls').read()))
    expect('bpf' in called and 'seccomp' in called, f'what strace saw: {called}')
    # The instance of tracefs, which the unit cannot make, as /sys is read-only there, is no need.
    equal(called - allowed, set(), 'calls that the unit does not allow')


# ---- what is hidden --------------------------------------------------------------------

@test
def names_although_proc_hides(tmp):
    """With hidepid= the recorder keeps the right to read what others are called, and reads it."""
    if not shutil.which('unshare'):
        raise Skip('no unshare')
    other = subprocess.Popen(['sleep', '1234.5'], preexec_fn=as_nobody())
    try:
        r = subprocess.run(['unshare', '-m', 'sh', '-c', 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', 'sh',
                            KFXT, 'record', '-v', '-o', tmp + '/t.fxt', '-d', '300ms'], capture_output=True,
                           timeout=6 * PATIENCE)
        if b'mount' in r.stderr and r.returncode != 0:
            raise Skip('no /proc with hidepid= here')
        equal(r.returncode, 0, f'exit code: {r.stderr.decode()}')
        expect(b'capabilities kept: cap_sys_ptrace\n' in r.stderr, f'what it keeps: {r.stderr.decode()}')
        equal(load(tmp + '/t.fxt').cmdlines.get(other.pid), 'sleep 1234.5', 'a command line of nobody')
    finally:
        other.kill()
        other.wait()


# ---- options ---------------------------------------------------------------------------

@test
def priority_and_cpus(tmp):
    cpu = max(os.sched_getaffinity(0))
    for args, nice, cpus in (([], -20, os.sched_getaffinity(0)), (['--nice', '5'], 5, os.sched_getaffinity(0)),
                             (['--nice=-3', '--cpu-affinity', str(cpu)], -3, {cpu})):
        with Recorder(tmp + '/t.fxt', *args, '--', 'sh', '-c', 'nice; grep Cpus_allowed_list /proc/self/status') as r:
            out = r.process.stdout.readline(), r.process.stdout.readline()
        equal(out[0], b'%d\n' % os.nice(0), 'priority of the command')
        allowed = open('/proc/self/status').read().partition('Cpus_allowed_list:\t')[2].partition('\n')[0]
        equal(out[1].split()[1].decode(), allowed, 'CPUs of the command')
        with Recorder(tmp + '/t.fxt', *args) as r:
            r.confined()
            equal(int(stat_of(r.process.pid)[16]), nice, f'priority with {args}')
            equal(os.sched_getaffinity(r.process.pid), cpus, f'CPUs with {args}')
        verify(tmp + '/t.fxt')
    for args in (['--nice', '20'], ['--nice', '-21'], ['--nice', 'x'], ['--cpu-affinity', '4095']):
        equal(run('record', '-o', tmp + '/u.fxt', '-d', '1', *args).returncode, 2, f'exit code of {args}')


@test
def memory_is_told(tmp):
    def told(*args):
        found = re.search(r'memory: ([\d.]+) MiB locked in rings and maps, ([\d.]+) MiB with the recorder',
                          run('record', '-v', '-o', tmp + '/t.fxt', '-d', '100ms', *args).stderr.decode())
        expect(found, 'it is not told')
        return float(found[1]), float(found[2])
    (small, small_all), (large, large_all) = told('-m', '16M'), told('-m', '64M')
    cpus = len(os.sched_getaffinity(0))
    expect(large - small > 47 * cpus, f'rings of 16 and 64 MiB on {cpus} CPUs: {small}, then {large} MiB')
    expect(small < small_all < small + 64 and large < large_all < large + 64, f'in all {small_all}, {large_all} MiB')


# ---- names are data --------------------------------------------------------------------

def safe(output, what):
    """Text as a terminal may see it: UTF-8, newlines, nothing that drives or reorders."""
    text = output.decode()      # raises where it is not
    bad = re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]', text)
    expect(not bad, f'{what}: {bad and text[max(0, bad.start() - 40):bad.end() + 20]!r}')


def named_threads(names, go):
    """Threads that are called so, and run when @go is set."""
    started = threading.Barrier(len(names) + 1)

    def work(name):
        LIBC.prctl(PR_SET_NAME, name, 0, 0, 0)
        started.wait()
        go.wait()
    threads = [threading.Thread(target=work, args=(n,)) for n in names]
    for t in threads:
        t.start()
    started.wait()
    return threads


@test
def names_of_all_bytes(tmp):
    all_bytes = bytes(range(1, 256))
    names = [b'\xe2\x80\xaeA' + b'\xc2\x9b2J', b'\xe2\x81\xa6\xe2\x80\x8e"\\'] + \
        [all_bytes[i:i + 15] for i in range(0, 255, 15)]
    go, trace = threading.Event(), tmp + '/t.fxt'
    threads = named_threads(names, go)
    # The shell itself waits for a line.
    child = subprocess.Popen([b'sh', b'-c', b'read x # ' + all_bytes.replace(b'\n', b'')], stdin=subprocess.PIPE)
    try:
        record(trace, '--', 'sleep', '0.3')
    finally:
        child.communicate()
        go.set()
        for t in threads:
            t.join()
    verify(trace)
    found = load(trace)
    expect(sum('\ufffd' in name for name, _ in found.threads.values()) >= 8, 'the threads are not in the trace')
    expect('\ufffd' in found.cmdlines.get(child.pid, ''), f'the command line is {found.cmdlines.get(child.pid)!r}')
    for command in ('dump', 'report', 'verify'):
        args = ['-n', '10000'] if command == 'report' else []
        safe(run(command, *args, trace).stdout, command)
        out = run(command, *args, '--json', trace).stdout
        safe(out, command + ' --json')
        for line in out.decode().splitlines() if command == 'dump' else [out.decode()]:
            json.loads(line)
    text = run('report', '-n', '10000', trace).stdout.decode()
    note(f'{len(found.threads)} threads, {len(text.splitlines())} lines of report')


@test
def messages_of_all_bytes(tmp):
    nasty = b'\x1b]0;x\x07\x9b2J\xc2\x9b\xe2\x80\xae\r\x7f' + bytes(range(1, 256)).replace(b'/', b'')
    out = os.fsencode(tmp)
    path = out + b'/' + nasty[:200]
    open(path, 'wb').write(nasty)
    for args in ([b'record', b'-o', out + b'/t.fxt', b'--', b'./' + nasty], [b'record', b'-d', b'1', b'--comm', nasty],
                 [b'record', b'-o', out + b'/' + nasty + b'/x', b'-d', b'1'], [b'record', b'-e', nasty],
                 [b'record', b'-d', nasty], [b'record', b'-f', nasty], [b'record', b'-u', nasty + b':x'], [b'record', b'--nice', nasty],
                 [b'record', b'-p', nasty], [b'record', b'--cgroup', nasty], [b'record', b'--' + nasty],
                 [b'record', b'-q', b'-o', out + b'/u.fxt', b'-d', b'100ms', b'--comm', b'\x1b*'],
                 [b'dump', path], [b'verify', path], [b'report', path], [b'convert', path, b'-o', out + b'/c.fxt'],
                 [b'convert', b'--stats', path, b'-o', out + b'/c.fxt'], [b'list', nasty], [b'list', b'-f', nasty],
                 [b'list', b'-u', path + b':*'], [b'mark', b'--' + nasty], [nasty], [b'help', nasty], [b'check', nasty]):
        r = subprocess.run([os.fsencode(KFXT), *args], capture_output=True, timeout=6 * PATIENCE)
        expect(r.returncode in (0, 1, 2, 3, 5), f'exit code {r.returncode} of {args}')
        safe(r.stderr, f'messages of {args}')
        safe(r.stdout, f'output of {args}')


if __name__ == '__main__':
    sys.exit(main('privileges'))
