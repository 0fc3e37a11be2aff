# SPDX-License-Identifier: GPL-2.0
"""What the live tests share: how they are listed and run, kfxt, a tracing instance.

KFXT_TEST_SCALE=0.1 is for a machine ten times slower, such as an emulated one: a tenth
of the work, ten times the patience.
"""
import collections
import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(__file__))
from trace import Trace  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
SCALE = float(os.environ.get('KFXT_TEST_SCALE', 1))
TRACEFS = '/sys/kernel/tracing'
TESTS = []


def scaled(count):
    return int(count * SCALE)


PATIENCE = 20 / SCALE       # seconds until what should come has not come


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
    end = time.time() + seconds
    while not (result := condition()):
        expect(time.time() < end, text)
        time.sleep(0.01)
    return result


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
    end = time.time() + PATIENCE
    while not (os.path.exists(trace) and os.path.getsize(trace) > 4096):
        expect(time.time() < end and p.poll() is None, 'recording does not start')
        time.sleep(0.02)
    return p


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
        self.write('buffer_size_kb', '65536')
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


def main(suite):
    """Runs all tests, or those named in the command, also by mechanism ("by_uprobe"); the exit code."""
    chosen = [t for t in TESTS if len(sys.argv) < 3 or {t.__name__, *t.__name__.split()} & set(sys.argv[2:])]
    if not chosen:
        sys.exit(f'{suite}: no test is called {" or ".join(sys.argv[2:])}')
    if os.geteuid():
        sys.exit(f'{suite}: needs root')
    counts = collections.Counter()
    print(f'1..{len(chosen)}')
    for number, fn in enumerate(chosen, 1):
        tmp = tempfile.mkdtemp(prefix='kfxt-live.')
        name = fn.__name__.replace('_', ' ')
        begin = time.time()
        try:
            fn(tmp)
            result, text = 'passed', f'ok {number} - {name}'
        except Skip as e:
            result, text = 'skipped', f'ok {number} - {name} # SKIP {e}'
        except Exception as e:  # noqa: BLE001: one test must not end the others
            result, text = 'failed', f'not ok {number} - {name}\n# {type(e).__name__}: {str(e)[:2000]}'
        counts[result] += 1
        print(f'{text} ({time.time() - begin:.1f} s)', flush=True)
        shutil.rmtree(tmp, ignore_errors=True)
    print(f'{suite}: {counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped')
    return 1 if counts['failed'] else 0
