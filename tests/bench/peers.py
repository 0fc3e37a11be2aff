# SPDX-License-Identifier: GPL-2.0
"""Recorders of sched_switch and sched_waking of the whole system, each as its users run it, into a directory.

Each is used as `with peer.recording(dir, cpus): ...`, where @cpus are those on which it may run itself;
after that peer.used says what it took. Those that cannot be had say so in peer.missing.
"""
import collections
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../vm'))
import kernels  # noqa: E402

TRACING = '/sys/kernel/tracing'
EVENTS = ('sched_switch', 'sched_waking')
PATIENCE = 60       # seconds until one that was asked to end has ended
SETTLE = 1.0        # seconds until each has begun; all of them have by then

# CPU seconds of all its processes, the most memory of one of them, bytes in files, events lost and recorded
# (None: unknown), seconds it took to end.
Used = collections.namedtuple('Used', 'cpu_s rss_kb bytes lost events seconds')


def wait(p):
    """Resource usage of a process that is to end; one that does not is ended."""
    for n in range(PATIENCE * 1000):
        pid, p.returncode, usage = os.wait4(p.pid, os.WNOHANG)
        if pid:
            return usage
        time.sleep(0.001)
    p.kill()
    os.wait4(p.pid, 0)
    raise RuntimeError(f'{p.args[0]} does not end')


class Peer:
    missing = None
    ending = signal.SIGINT

    def __init__(self, name):
        self.name, self.used = name, None

    def commands(self, into):
        """Of the processes to be started; the last one ends the recording."""
        raise NotImplementedError

    def before(self, into):
        pass

    def stop(self):
        pass

    def after(self, into):
        pass

    def counts(self, summary):
        """(lost, recorded), by what it said."""
        return None, None

    @contextlib.contextmanager
    def recording(self, into, cpus=None):
        own = tempfile.mkdtemp(dir=into)
        self.before(own)
        log = open(own + '/summary', 'w+')
        pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
        running = [subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=log, preexec_fn=pin, env=self.environment(own))
                   for c in self.commands(own)]
        time.sleep(SETTLE)
        dead = [p.args for p in running if p.poll() is not None]
        if dead:
            log.seek(0)
            raise RuntimeError(f'{self.name}: {dead[0][0]} ended at once: {log.read()[-300:]}')
        try:
            yield
        finally:
            begin, cpu, rss = time.time(), 0.0, 0
            self.stop()
            for p in reversed(running):
                p.send_signal(self.ending)
                usage = wait(p)
                cpu += usage.ru_utime + usage.ru_stime
                rss = max(rss, usage.ru_maxrss)
            seconds = time.time() - begin
            self.after(own)
            log.seek(0)
            size = sum(os.path.getsize(f) for f in glob.glob(own + '/*') if os.path.isfile(f) and not f.endswith('/summary'))
            lost, events = self.counts(log.read())
            self.used = Used(cpu, rss, size, lost, events, seconds)
            log.close()
            shutil.rmtree(own)

    def environment(self, into):
        return None


def full_rings(summary):
    """How many events kfxt record says that full rings have lost."""
    return sum(int(n) for line in re.findall(r'kfxt: lost (.*?): rings full', summary) for n in re.findall(r'\d+', line))


class Kfxt(Peer):
    def __init__(self, kfxt, *options, name='kfxt', file='t.fxt'):
        super().__init__(name)
        self.kfxt, self.options, self.file = kfxt, options, file

    def commands(self, into):
        return [[self.kfxt, 'record', '-o', f'{into}/{self.file}', *self.options]]

    def counts(self, summary):
        m = re.search(r'(\d+) switches, (\d+) wakeups', summary)
        return full_rings(summary), int(m[1]) + int(m[2])


class Ftrace(Peer):
    """The kernel's own ring buffers in an instance, spliced to files as they are."""

    def __init__(self, copy, events=tuple(f'sched/{event}' for event in EVENTS), name='raw ftrace'):
        super().__init__(name)
        self.events, self.copy, self.dir = events, copy, f'{TRACING}/instances/kfxt-bench'

    def before(self, into):
        if not os.path.isdir(TRACING + '/instances'):
            subprocess.run(['mount', '-t', 'tracefs', 'tracefs', TRACING], check=True)
        os.mkdir(self.dir)
        for event in self.events:
            self.enable(event, '1')

    def enable(self, event, text):
        with open(f'{self.dir}/events/{event}/enable', 'w') as f:
            f.write(text)

    def commands(self, into):
        for path in sorted(glob.glob(self.dir + '/per_cpu/cpu*')):
            yield [self.copy, path + '/trace_pipe_raw', f'{into}/{os.path.basename(path)}']

    def stop(self):
        for event in self.events:
            self.enable(event, '0')

    def after(self, into):
        self.overrun = 0
        for path in glob.glob(self.dir + '/per_cpu/cpu*/stats'):
            with open(path) as f:
                self.overrun += int(re.search(r'^overrun: (\d+)', f.read(), re.M)[1])
        os.rmdir(self.dir)

    def counts(self, summary):
        return self.overrun, None


class Perf(Peer):
    def __init__(self):
        super().__init__('perf record')
        self.missing = None if shutil.which('perf') else 'not installed (package linux-perf)'

    def commands(self, into):
        return [['perf', 'record', '-a', *(w for e in EVENTS for w in ('-e', f'sched:{e}')), '-o', into + '/perf.data']]

    def counts(self, summary):
        m = re.search(r'[Ll]ost (\d+)', summary)
        return int(m[1]) if m else 0, None


class TraceCmd(Peer):
    def __init__(self):
        super().__init__('trace-cmd')
        self.missing = None if shutil.which('trace-cmd') else 'not installed'
        if not self.missing:
            self.missing = self.cannot()

    @staticmethod
    def cannot():
        """Its last word, where it cannot record: it insists on function tracing, which some kernels do not have."""
        with tempfile.TemporaryDirectory() as tmp:
            r = subprocess.run(['timeout', '-k', '1', '10', 'trace-cmd', 'record', '-e', 'sched:sched_switch',
                                '-o', tmp + '/trace.dat', 'true'], capture_output=True, text=True)
        with open(TRACING + '/tracing_on', 'w') as f:   # which it leaves off
            f.write('1')
        return 'it ends with: ' + ' '.join(r.stderr.split()) if r.returncode else None

    def commands(self, into):
        return [['trace-cmd', 'record', *(w for e in EVENTS for w in ('-e', f'sched:{e}')), '-o', into + '/trace.dat']]

    def counts(self, summary):
        return sum(map(int, re.findall(r'overrun: (\d+)', summary))), None


class Bpftrace(Peer):
    """Counts only: no event is kept."""

    def __init__(self):
        super().__init__('bpftrace, counting')
        self.missing = None if shutil.which('bpftrace') else 'not installed'

    def commands(self, into):
        return [['bpftrace', '-q', '-e', ' '.join(f'tracepoint:sched:{e} {{ @{e} = count(); }}' for e in EVENTS)]]


PERFETTO_CONFIG = '''
write_into_file: true
file_write_period_ms: 500
buffers { size_kb: 65536 }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "sched/sched_switch" ftrace_events: "sched/sched_waking" buffer_size_kb: 16384 drain_period_ms: 250
} } }
'''
PERFETTO_PACKAGES = ('perfetto', 'libc6', 'libstdc++6', 'libgcc-s1', 'zlib1g')


class Perfetto(Peer):
    """From Debian unstable, run by the C library of there."""

    def __init__(self):
        super().__init__('Perfetto (traced)')
        try:
            self.root = self.unpacked()
        except (kernels.Unavailable, OSError) as e:
            self.missing = f'the package cannot be had: {e}'

    @staticmethod
    def unpacked():
        root = kernels.cache('perfetto')
        with kernels.locked():
            if os.path.exists(root + '/whole'):
                return root
            apt = kernels.Apt('Debian', 'sid')
            with tempfile.TemporaryDirectory(dir=kernels.cache()) as tmp:
                for package in PERFETTO_PACKAGES:
                    kernels.output('dpkg-deb', '-x', apt.download(package, tmp), root)
            open(root + '/whole', 'w').close()
        return root

    def run(self, program, *args):
        libraries = ':'.join(glob.glob(self.root + '/usr/lib/*-linux-gnu') + [self.root + '/usr/lib/perfetto'])
        loader, = glob.glob(self.root + '/usr/lib*/ld-linux-*.so.*')
        path, = glob.glob(f'{self.root}/usr/*bin/{program}')
        return [loader, '--library-path', libraries, path, *args]

    def environment(self, into):
        return {**os.environ, 'PERFETTO_PRODUCER_SOCK_NAME': into + '/producer',
                'PERFETTO_CONSUMER_SOCK_NAME': into + '/consumer'}

    def before(self, into):
        with open(into + '/config', 'w') as f:
            f.write(PERFETTO_CONFIG)

    def commands(self, into):
        yield self.run('traced')
        time.sleep(0.3)
        yield self.run('traced_probes')
        time.sleep(0.3)
        yield self.run('perfetto', '--txt', '-c', into + '/config', '-o', into + '/t.perfetto-trace')


def peers(tests):
    """Those that are compared; with .missing where there is none."""
    return [Ftrace(tests + '/ftrace_copy'), Perf(), TraceCmd(), Perfetto(), Bpftrace()]


def describe():
    """The machine, in a line."""
    with open('/proc/cpuinfo') as f:
        model = re.search(r'^model name\s*: (.*)', f.read(), re.M)
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30
    virtual = ', virtual' if 'hypervisor' in open('/proc/cpuinfo').read() else ''
    return (f'{model[1] if model else os.uname().machine}, {os.cpu_count()} CPUs{virtual}, {memory:.0f} GiB, '
            f'Linux {os.uname().release}')


def version(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    return (r.stdout + r.stderr).strip().splitlines()[0] if r.returncode == 0 else ''
