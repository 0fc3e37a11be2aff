# SPDX-License-Identifier: GPL-2.0
"""What the live tests share: how they are listed and run, kfxt, a tracing instance.

KFXT_TEST_SCALE=0.1 is for a machine ten times slower, such as an emulated one: a tenth
of the work, ten times the patience.
"""
import collections
import contextlib
import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback

sys.path.insert(0, os.path.dirname(__file__))
from trace import Trace  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
SCALE = float(os.environ.get('KFXT_TEST_SCALE', 1))
TRACEFS = '/sys/kernel/tracing'
CGROUPS = '/sys/fs/cgroup/unified', '/sys/fs/cgroup'
# For a shell in a mount namespace of its own: kfxt finds tracefs wherever it is mounted, as in a container or chroot.
UNMOUNT_OTHERS = f'''while read -r _ dir type _; do
    [ "$type" != tracefs ] || [ "$dir" = {TRACEFS} ] || umount -l "$(printf %b "$dir")"
done </proc/mounts'''
TESTS = []


def scaled(count):
    return int(count * SCALE)


PATIENCE = 40 / SCALE       # seconds until what should come has not come
LIMIT = 15 * PATIENCE       # seconds for one test
PR_SET_CHILD_SUBREAPER = 36


@contextlib.contextmanager
def tracefs_twice(tmp):
    """It is mounted in a second place, too."""
    os.mkdir(tmp + '/tracefs')
    subprocess.run(['mount', '-t', 'tracefs', 'none', tmp + '/tracefs'], check=True)
    try:
        yield
    finally:
        subprocess.run(['umount', '-l', tmp + '/tracefs'], check=True)


class Skip(Exception):
    pass


def test(fn):
    TESTS.append(fn)
    return fn


def helper(name):
    return os.path.join(BUILD, 'tests', name)


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def equal(got, wanted, what):
    expect(got == wanted, f'{what}: got {got!r}, wanted {wanted!r}')


def note(text):
    print(f'# {text}', flush=True)


def until(condition, text, seconds=PATIENCE):
    """Waits for @condition(), and returns what it returned."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        expect(time.monotonic() < end, text)
        time.sleep(0.01)
    return result


@contextlib.contextmanager
def cgroup():
    """A new cgroup of the v2 hierarchy with another one below; what is made in it goes with it."""
    top = [path for path in CGROUPS if os.path.exists(path + '/cgroup.procs')]
    own = None
    if not top:
        own = f'/tmp/kfxt-cgroup-{os.getpid()}'
        os.mkdir(own)
        if subprocess.run(['mount', '-t', 'cgroup2', 'none', own], capture_output=True).returncode:
            os.rmdir(own)
            raise Skip('no cgroup v2 hierarchy')
    path = f'{(top or [own])[0]}/kfxt-test-{os.getpid()}'
    os.makedirs(path + '/below')
    try:
        yield path
    finally:
        for place, _, _ in list(os.walk(path, topdown=False)):
            until(lambda: not open(place + '/cgroup.procs').read(), 'in use')
            os.rmdir(place)
        if own:
            subprocess.run(['umount', own], check=True)
            os.rmdir(own)


def run(*args, **kwargs):
    kwargs.setdefault('timeout', 6 * PATIENCE)
    return subprocess.run([KFXT, *args], capture_output=True, **kwargs)


def record(trace, *args, code=0):
    """kfxt record into @trace; its stdout as text. Fails the test unless it exits with @code."""
    r = run('record', '-o', trace, *args)
    equal(r.returncode, code, f'exit code of record: {r.stderr.decode()} (record {args})')
    return r.stdout.decode()


def start(trace, *args, **kwargs):
    """kfxt record into @trace, a file, once it has begun."""
    p = subprocess.Popen([KFXT, 'record', '-o', trace, *args], stderr=subprocess.PIPE, **kwargs)
    wait_for_begin(p, trace)
    return p


def status_of(pid):
    """Of a recorder; nothing before it records."""
    r = run('status', '--json', '--pid', str(pid))
    return json.loads(r.stdout) if r.returncode == 0 else None


def wait_for_begin(p, trace):
    """Until a recording has begun: into one file, the names of what runs already are more than that; else it answers then."""
    def has_begun():
        if '%' in trace:
            return status_of(p.pid)
        return os.path.exists(trace) and os.path.getsize(trace) > 4096
    until(lambda: p.poll() is not None or has_begun(), 'recording does not start')
    if p.poll() is not None:
        raise AssertionError(f'recording does not start: {p.stderr and p.stderr.read()}')


def load(trace):
    """Reads a trace that must be without fault."""
    t = Trace(trace)
    equal(t.problems, [], 'problems the independent reader found')
    return t


def verify(trace):
    r = run('verify', trace)
    expect(r.returncode == 0, 'kfxt verify: ' + r.stdout.decode().partition('problem:')[2])


def verify_cut(trace):
    """A recording that was cut short: verify says so and finds nothing else wrong."""
    r = run('verify', trace)
    equal(r.returncode, 3, 'exit code of verify for a trace without an end')
    equal(re.findall(r'problem: (\w+)', r.stdout.decode()), ['no_end'], 'what verify says')


def last_cpu():
    return max(os.sched_getaffinity(0))


def stat_of(pid):
    """What is after the name in /proc/PID/stat: the state first, nice as the 17th, where it runs or ran last as the 37th."""
    with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
        return f.read().rpartition(')')[2].split()


def gone(pid):
    """Whether it has ended; perhaps nobody has waited for it."""
    try:
        return stat_of(pid)[0] == 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return True


def children_of(pid):
    """{process id: name} of those that live; of a recorder kfxt-files and kfxt-markers are its own, another one is the command."""
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        pids = f.read().split()
    found = {}
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f'/proc/{pid}/stat', encoding='utf-8') as f:
            name, _, state = f.read().partition('(')[2].rpartition(') ')
            if state[0] != 'Z':
                found[int(pid)] = name
    return found


def command_of(recorder):
    """Process id of the command that a recorder has started, once it runs: a child of the recorder's own is first called as it is."""
    return until(lambda: commands_of(recorder.pid), 'no command')[0]


def commands_of(pid):
    return [child for child, name in children_of(pid).items() if name != 'kfxt' and not name.startswith('kfxt-')]


def switches_of(pid):
    """How often the threads of a process have been switched out so far; 0 once it has ended."""
    total = 0
    try:
        for tid in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{tid}/status', encoding='utf-8', errors='replace') as f:
                total += sum(int(line.split()[1]) for line in f if 'ctxt_switches' in line)
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return total


def stop_while(recorder, pid, switches):
    """The recorder does not run while the process makes this many switches, or until that has ended."""
    recorder.send_signal(signal.SIGSTOP)
    try:
        end = switches_of(pid) + switches
        until(lambda: not 0 < switches_of(pid) < end, f'{pid} does not run', 3 * PATIENCE)
    finally:
        recorder.send_signal(signal.SIGCONT)


def kill_between_writes(recorder):
    """SIGKILL may end write(2) half-way, SIGSTOP waits for its end."""
    recorder.send_signal(signal.SIGSTOP)
    until(lambda: all(stat_of(tid)[0] == 'T' for tid in os.listdir(f'/proc/{recorder.pid}/task')), 'it does not stop')
    recorder.kill()


@contextlib.contextmanager
def running(*command, **kwargs):
    """A process that is ended at the end."""
    kwargs.setdefault('stdout', subprocess.DEVNULL)
    p = subprocess.Popen(command, **kwargs)
    try:
        yield p
    finally:
        p.kill()
        p.wait()


def readable(pipe):
    """Bytes that wait in it."""
    return struct.unpack('i', fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


@contextlib.contextmanager
def paranoid(most):
    """Debian's and Ubuntu's kernels know 3 and 4, where CAP_PERFMON no longer opens perf events."""
    name = '/proc/sys/kernel/perf_event_paranoid'
    was = open(name).read()
    if int(was) > most:
        open(name, 'w').write(str(most))
    try:
        yield
    finally:
        if int(was) > most:
            open(name, 'w').write(was)


def on_each_cpu(fn):
    """Calls @fn with the number of each CPU, by a thread that runs there."""
    def pinned(cpu):
        os.sched_setaffinity(0, {cpu})
        fn(cpu)
    for cpu in sorted(os.sched_getaffinity(0)):
        thread = threading.Thread(target=pinned, args=(cpu,))
        thread.start()
        thread.join()


class Instance:
    """A private tracefs instance that records events ("system:event", or sched's) by the boot clock."""

    def __init__(self, *events):
        self.events = events
        if not os.path.exists(TRACEFS + '/instances'):
            subprocess.run(['mount', '-t', 'tracefs', 'tracefs', TRACEFS], check=True)
        self.dir = f'{TRACEFS}/instances/kfxt-test-{os.getpid()}'

    def write(self, name, text):
        with open(f'{self.dir}/{name}', 'w') as f:
            f.write(text)

    def __enter__(self):
        os.mkdir(self.dir)
        self.write('trace_clock', 'boot')
        # Of all at once the kernel waits for a worker on each CPU, which a busy machine may not run for long.
        on_each_cpu(lambda cpu: self.write(f'per_cpu/cpu{cpu}/buffer_size_kb', '65536'))
        for event in self.events:
            path = event.replace(':', '/')
            self.write(f'events/{path if "/" in path else "sched/" + path}/enable', '1')
        return self

    def __exit__(self, *_):
        self.write('tracing_on', '0')
        os.rmdir(self.dir)

    def lines(self, pattern):
        """Matches of @pattern, one for each line of the trace that has one. Ends the tracing."""
        self.write('tracing_on', '0')
        line = re.compile(pattern)
        with open(self.dir + '/trace', errors='replace') as f:
            yield from filter(None, map(line.search, f))


def children():
    """Processes that this one has started, or that had nobody else left; none but itself waits for them."""
    with open(f'/proc/self/task/{os.getpid()}/children', encoding='ascii') as f:
        return [int(pid) for pid in f.read().split()]


def end_process(pid):
    """Kills a child and waits for it; what it was, or nothing if it had ended."""
    with contextlib.suppress(OSError):
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
            name, state = re.search(r'\((.*)\) (\S)', f.read(), re.S).groups()
        if state != 'Z':
            os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while os.waitpid(pid, os.WNOHANG)[0] == 0 and time.monotonic() < end:
            time.sleep(0.01)
        return [] if state == 'Z' else [f'{name} ({pid})']
    return []


def end_what_is_left(tmp):
    """A test that failed has not ended what it began, and what still runs would count for the next. Names what there was."""
    left = []
    while new := [pid for pid in children() if pid not in left]:
        for pid in new:     # its own children become ours
            left += [pid, *end_process(pid)]
    with open('/proc/mounts', encoding='utf-8', errors='replace') as f:
        mounts = [line.split()[1] for line in f]
    for path in reversed([path for path in mounts if path.startswith(tmp + '/')]):
        left.append(path)
        subprocess.run(['umount', '-l', path], check=False, capture_output=True)
    return [what for what in left if isinstance(what, str)]


@contextlib.contextmanager
def limited(seconds):
    """A test that hangs has failed; with where it was."""
    def on_alarm(*_):
        raise TimeoutError(f'not done after {seconds} s')
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def place_of(error):
    """The line of the test that it came from."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename != __file__ and not frame.filename.startswith('/usr/'):
            return f'{os.path.basename(frame.filename)}:{frame.lineno}'
    return ''


def run_test(fn):
    """What came of it, what to say of it, and the error."""
    tmp = tempfile.mkdtemp(prefix='kfxt-live.')
    try:
        with limited(int(LIMIT)):
            fn(tmp)
        came = 'passed', '', None
    except Skip as e:
        came = 'skipped', f' # SKIP {e}', None
    except Exception as e:  # noqa: BLE001: one test must not end the others
        said = str(e)[:2000].replace('\n', '\n# ')
        came = 'failed', f'\n# {type(e).__name__}: {said} ({place_of(e)})', e
    if left := end_what_is_left(tmp):
        note(f'ended by force after this test: {", ".join(left)}')
    shutil.rmtree(tmp, ignore_errors=True)
    return came


def failed(suite, name, error):
    """For tests/run.sh, which runs the test once more."""
    if path := os.environ.get('KFXT_TEST_FAILED'):
        message = (str(error).splitlines() or [''])[0].replace('\t', ' ')
        with open(path, 'a', encoding='utf-8') as f:
            f.write(f'{suite}\t{sys.argv[0]}\t{name}\t{type(error).__name__}: {message[:300]}\n')


def main(suite):
    """Runs all tests, or those named in the command (or by_MECHANISM), but not those after "!"; the exit code."""
    asked = {w for w in sys.argv[2:] if not w.startswith('!')}
    others = {w[1:] for w in sys.argv[2:] if w.startswith('!')}
    names = {t: {t.__name__, *t.__name__.split()} for t in TESTS}
    chosen = [t for t in TESTS if (not asked or names[t] & asked) and not names[t] & others]
    # What this kernel cannot run is a function of the program, too, though not among TESTS.
    absent = {name for name in asked | others if callable(getattr(sys.modules['__main__'], name, None))}
    unknown = (asked | others).difference(absent, *names.values())
    if unknown or not chosen:
        sys.exit(f'{suite}: no test is called {" or ".join(sorted(unknown or asked))}')
    if os.geteuid():
        sys.exit(f'{suite}: needs root')
    # What a process below us leaves running becomes our child, to be ended.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    counts = collections.Counter()
    print(f'1..{len(chosen)}')
    for number, fn in enumerate(chosen, 1):
        begin = time.time()
        result, text, error = run_test(fn)
        if error:
            failed(suite, fn.__name__, error)
        counts[result] += 1
        name = fn.__name__.replace('_', ' ')
        print(f'{"not ok" if error else "ok"} {number} - {name}{text} ({time.time() - begin:.1f} s)', flush=True)
    print(f'{suite}: {counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped')
    return 1 if counts['failed'] else 0
