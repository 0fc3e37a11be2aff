#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs one command on another kernel, in a virtual machine that lives no longer.

    vm.py [options] SERIES -- COMMAND [ARG...]

The machine is an initramfs: this build of kfxt below /kfxt/build, tests/ below
/kfxt/tests, busybox, Debian's Python. What COMMAND leaves in /out comes back. Fails with
125 if the kernel gave no result, and 1 if it complained or something was left in it.
Needs qemu-system-x86 and busybox-static, no rights, no KVM.

    vm.py 6.1 -- build/kfxt check
    vm.py --cpus 4 --args lockdown=integrity 7.2 -- 'python3 tests/live/live_test.py build'
"""
import argparse
import ctypes
import dataclasses
import glob
import io
import mmap
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

import kernels

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOOT_SECONDS = 60
SCRATCH_BYTES = 64 << 20
# The tests call these by name: the programs of a Debian system, not busybox's applets.
PROGRAMS = ('bpftool', 'gzip', 'mount', 'nice', 'printf', 'seq', 'setpriv', 'sh', 'sleep', 'strace', 'taskset',
            'true', 'umount')
NO_RESULT = 125
BOOTED, PANIC = 'init: the kernel has booted', 'Kernel panic'   # in the console; init.sh prints the first
KERNEL_ARGS = ('console=ttyS0 quiet panic=-1 oops=panic log_buf_len=1M rcupdate.rcu_expedited=1 '
               'random.trust_cpu=on no_timer_check watchdog_thresh=60 '
               'rcupdate.rcu_cpu_stall_timeout=60')      # what takes a second takes twenty here
COMPLAINT = re.compile(r'WARNING: |BUG: |Oops|general protection fault|Kernel panic|self-detected stall|'
                       r'detected stalls|soft lockup|hard LOCKUP|INFO: task .* blocked|possible .* lock|'
                       r'inconsistent lock state|suspicious RCU usage|unable to handle|refcount_t: |corruption')


@dataclasses.dataclass
class Machine:
    """What to boot and how."""
    kernel: kernels.Kernel
    cpus: int = 2
    memory: int = 2048          # MiB
    args: str = ''              # more kernel parameters
    limit: int = 600            # seconds for the command
    icount: bool = False        # time is instructions executed, a nanosecond each: for measuring
    files: dict = dataclasses.field(default_factory=dict)       # path in the guest: path here


@dataclasses.dataclass
class Result:
    status: int                 # of the command; 137: killed, its time was up; 125: the VM gave none
    problems: list              # what the kernel complained of, what was left in it
    dmesg: str
    seconds: float


# ---- the initramfs ---------------------------------------------------------------------

class Cpio:
    """An archive as the kernel unpacks it ("newc"); the first of two entries counts."""

    def __init__(self):
        self.buf, self.seen = io.BytesIO(), set()

    def entry(self, name, mode, data=b'', mtime=0):
        if name in self.seen:
            return
        self.seen.add(name)
        raw = name.encode() + b'\0'
        fields = (len(self.seen), mode, 0, 0, 1, int(mtime), len(data), 0, 0, 0, 0, len(raw), 0)
        head = b'070701' + b''.join(b'%08X' % x for x in fields) + raw
        self.buf.write(head + b'\0' * (-len(head) % 4) + data + b'\0' * (-len(data) % 4))

    def parents(self, path):
        parts = path.split('/')[:-1]
        for i in range(1, len(parts) + 1):
            self.entry('/'.join(parts[:i]), stat.S_IFDIR | 0o755)

    def data(self, path, data, mode=0o755, mtime=0):
        path = path.lstrip('/')
        self.parents(path)
        self.entry(path, stat.S_IFREG | mode, data, mtime)

    def link(self, path, target):
        self.entry(path.lstrip('/'), stat.S_IFLNK | 0o777, target.encode())

    def file(self, source, path):
        """A file, with its time, which Python compares with that of what it compiled."""
        st = os.stat(source)
        with open(source, 'rb') as f:
            self.data(path, f.read(), stat.S_IMODE(st.st_mode), st.st_mtime)

    def tree(self, source, path, wanted=lambda name: True):
        for here, dirs, names in os.walk(source):
            dirs.sort()
            for name in filter(wanted, sorted(names)):
                inside = os.path.relpath(os.path.join(here, name), source)
                self.file(os.path.join(here, name), os.path.join(path, inside))

    def close(self):
        self.entry('TRAILER!!!', 0)
        return self.buf.getvalue()


def usr(path):
    """Where a path of a system with merged /usr really is."""
    return re.sub(r'^/(bin|sbin|lib|lib64)/', r'/usr/\1/', path)


class Image:
    """Everything that is the same for each kernel: made once, from what Debian installed."""

    def __init__(self, build):
        self.cpio = Cpio()
        for name in ('bin', 'sbin', 'lib', 'lib64'):
            self.cpio.link(name, 'usr/' + name)
        self.program(self.find('busybox'), '/usr/bin/busybox')
        for name in PROGRAMS:
            self.program(self.find(name), usr(self.find(name)))
        self.python()
        self.systemd()
        self.cpio.file(os.path.join(TESTS, 'vm/init.sh'), '/init')
        self.cpio.tree(TESTS, '/kfxt/tests', lambda name: not name.endswith('.pyc'))
        self.program(os.path.join(build, 'kfxt'), '/kfxt/build/kfxt')
        for name in ('kfxt.service', 'kfxt.conf'):
            self.cpio.file(os.path.join(build, name), '/kfxt/build/' + name)
        for path in sorted(glob.glob(os.path.join(build, 'tests/*'))):
            if not path.endswith(('_test', '_fuzz', '/judged', '/fallback')):     # those need no kernel of their own
                self.program(path, '/kfxt/build/tests/' + os.path.basename(path))
        self.cpio.data('/etc/passwd', b'root:x:0:0:root:/root:/bin/sh\n', 0o644)
        self.bytes = self.cpio.close()

    @staticmethod
    def find(name):
        path = shutil.which(name, path='/usr/sbin:/usr/bin:/sbin:/bin')
        if not path:
            raise kernels.Unavailable(f'{name} is not installed (scripts/install-packages.sh test)')
        return path

    def program(self, source, path):
        """A program or library and the shared libraries it needs."""
        self.cpio.file(source, path)
        r = subprocess.run(['ldd', source], capture_output=True, text=True)
        if 'not found' in r.stdout:
            raise kernels.Unavailable(f'{source} needs a library that is not there')
        for lib in re.findall(r'(?:=> |^\s*)(/\S+) \(0x', r.stdout, re.M):
            self.cpio.file(lib, usr(lib))

    def python(self):
        """Debian's interpreter and its library, with what Python compiled of it."""
        binary = os.path.realpath('/usr/bin/python3')
        name = os.path.basename(binary)
        listed = kernels.output('dpkg', '-L', f'{name}-minimal', f'lib{name}-minimal', f'lib{name}-stdlib')
        for path in listed.splitlines():
            if path.endswith('.so'):
                self.program(path, path)
            elif path.endswith('.py') and path.startswith('/usr/lib/'):
                self.cpio.file(path, path)
                head, tail = os.path.split(path[:-3])
                for compiled in glob.glob(f'{head}/__pycache__/{tail}.cpython-*.pyc'):
                    self.cpio.file(compiled, compiled)
        self.program(binary, binary)
        self.cpio.link('/usr/bin/python3', name)

    def systemd(self):
        """Debian's, with none of its units but the targets that any service waits for."""
        self.program('/usr/lib/systemd/systemd', '/usr/lib/systemd/systemd')
        self.program(self.find('systemctl'), '/usr/bin/systemctl')
        for name in ('basic', 'paths', 'shutdown', 'slices', 'sockets', 'sysinit', 'timers'):
            self.cpio.file(f'/usr/lib/systemd/system/{name}.target', f'/usr/lib/systemd/system/{name}.target')
        self.cpio.file(os.path.join(TESTS, 'vm/kfxt-test.service'), '/etc/systemd/system/kfxt-test.service')

    @staticmethod
    def qemu(machine, tmp):
        return qemu(machine, tmp)

    def initramfs(self, machine, command):
        """This image, and what one run adds to it."""
        job = Cpio()
        modules = {f'/job/{os.path.basename(m)}': m for m in machine.kernel.modules}
        for path, source in {**modules, **machine.files}.items():
            if os.path.isdir(source):
                job.tree(source, path)
            else:
                job.file(source, path)
        job.data('/job/modules', ''.join(m + '\n' for m in modules).encode())
        job.data('/job/command', command.encode() + b'\n')
        job.data('/job/limit', b'%d\n' % machine.limit)
        return self.bytes + job.close()


# ---- the run -----------------------------------------------------------------------------

def tsc_khz():
    """Frequency of this machine's time stamp counter, which an emulated one has too."""
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
        page.write(bytes.fromhex('0f31 48c1e220 4809d0 c3'))       # rdtsc; shl rdx, 32; or rax, rdx; ret
        anchor = ctypes.c_char.from_buffer(page)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(anchor))

        def sample():
            """(ns, ticks) read most closely together, of some."""
            pairs = [(time.monotonic_ns(), read(), time.monotonic_ns()) for _ in range(100)]
            before, ticks, _ = min(pairs, key=lambda p: p[2] - p[0])
            return before, ticks
        first = sample()
        time.sleep(0.1)
        last = sample()
        del read, anchor
    return (last[1] - first[1]) * 10**6 // (last[0] - first[0])


def qemu(machine, tmp):
    # One thread for all CPUs: QEMU's parallel emulation goes wrong while the kernel patches itself.
    # Output goes to files, never to stdio: at the end of its input that would unplug the port.
    khz = 10**6 if machine.icount else tsc_khz()
    clock = ['-icount', 'shift=0,sleep=off'] if machine.icount else []
    return [Image.find('qemu-system-x86_64'), *clock, '-machine', 'q35', '-accel', 'tcg,thread=single', '-cpu', 'max',
            '-smp', str(machine.cpus), '-m', str(machine.memory), '-nodefaults', '-no-user-config', '-display', 'none',
            '-no-reboot', '-kernel', machine.kernel.vmlinuz, '-initrd', f'{tmp}/initrd',
            '-append', f'{KERNEL_ARGS} tsc=reliable tsc_early_khz={khz} {machine.args}',
            # A disk that tests may write to, known by its serial number; every kernel has the driver built in.
            '-drive', f'if=none,id=scratch,format=raw,file={tmp}/disk', '-device', 'nvme,drive=scratch,serial=kfxt-scratch',
            '-chardev', f'file,id=console,path={tmp}/console', '-serial', 'chardev:console',
            '-chardev', 'file,id=output,path=/dev/fd/1', '-chardev', f'file,id=result,path={tmp}/result',
            '-device', 'virtio-serial-pci',
            '-device', 'virtserialport,nr=1,chardev=output', '-device', 'virtserialport,nr=2,chardev=result']


def read_result(path, out):
    """Files of the tar at @path go to @out; those init wrote are returned, by name."""
    own = {}
    try:
        with tarfile.open(path) as tar:
            for member in filter(tarfile.TarInfo.isfile, tar):
                name, data = os.path.normpath(member.name), tar.extractfile(member).read()
                if name in ('.status', '.left', '.dmesg'):
                    own[name] = data.decode(errors='replace')
                elif out and not name.startswith(('/', '..')):
                    os.makedirs(os.path.dirname(os.path.join(out, name)), exist_ok=True)
                    with open(os.path.join(out, name), 'wb') as f:
                        f.write(data)
    except (tarfile.TarError, EOFError, OSError):
        pass    # cut short: what is missing will be missed
    return own


def judge(own, console, late):
    """(status, problems, dmesg) of a run, from what its init wrote and the kernel printed."""
    dmesg = own.get('.dmesg', console)
    problems = ['kernel: ' + line for line in dmesg.splitlines() if COMPLAINT.search(line)][:20]
    problems += ['left behind: ' + line for line in own.get('.left', '').split('\n') if line]
    if '.dmesg' not in own:
        tail = ''.join(f'\n    {line}' for line in console.splitlines()[-40:])
        problems.append(('it hung' if late else 'it ended early') + ', the end of its console:' + tail)
    status = own.get('.status', '').strip()
    return int(status) if status and '.dmesg' in own else NO_RESULT, problems, dmesg


def run(image, machine, command, out=None, each_line=None):
    """
    Boots @machine, runs @command (shell), hands its output to @each_line, its files to @out. A kernel that
    panics before it has a first process is booted once more: nothing of ours has run by then, and emulated
    processors now and then execute what a kernel was before it patched itself.
    """
    result, console = run_once(image, machine, command, out, each_line)
    if BOOTED in console or PANIC not in console:
        return result
    why = console[console.index(PANIC):].splitlines()[0]
    (each_line or print)(f'# {machine.kernel.release} did not boot, once more: {why}')
    return run_once(image, machine, command, out, each_line)[0]


def run_once(image, machine, command, out, each_line):
    """The same, without another try; the Result and the console's text."""
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix='kfxt-vm.') as tmp:
        with open(f'{tmp}/initrd', 'wb') as f:
            f.write(image.initramfs(machine, command))
        with open(f'{tmp}/disk', 'wb') as f:
            f.truncate(SCRATCH_BYTES)
        with open(f'{tmp}/errors', 'wb') as errors:
            vm = subprocess.Popen(image.qemu(machine, tmp), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=errors)
        late = threading.Event()
        timer = threading.Timer(machine.limit + BOOT_SECONDS, lambda: (late.set(), vm.kill()))
        timer.start()
        try:
            for line in vm.stdout:
                (each_line or print)(line.decode(errors='replace').rstrip('\r\n'))
        finally:
            timer.cancel()
            vm.kill()
            vm.wait()
        console = ''
        for name in ('errors', 'console'):
            with open(f'{tmp}/{name}', errors='replace') as f:
                console += f.read()
        own = read_result(f'{tmp}/result', out)
    return Result(*judge(own, console, late.is_set()), time.time() - begin), console


# ---- for suites of runs ----------------------------------------------------------------

class Queue:
    """
    Jobs for one thread more than there are CPUs, begun in order: an emulated machine keeps one CPU busy,
    however many it has, but not while its tests wait. A job with an attribute `timing` has limits of time for
    what it does, beside loads that keep all CPUs busy: it runs alone.
    """

    def __init__(self):
        self.jobs, self.running, self.timing, self.errors = [], 0, 0, []
        self.changed = threading.Condition()

    def add(self, *jobs, first=False):
        """Functions to call; by a job under way, too. @first: before all that have not begun."""
        with self.changed:
            self.jobs[0 if first else len(self.jobs):0 if first else len(self.jobs)] = jobs
            self.changed.notify_all()

    def may_begin(self):
        return self.jobs and not (self.running and (self.timing or hasattr(self.jobs[0], 'timing')))

    def work(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.may_begin() or not (self.jobs or self.running))
                if not self.jobs:
                    return
                job = self.jobs.pop(0)
                self.running += 1
                self.timing += hasattr(job, 'timing')
            try:
                job()
            except Exception as e:  # noqa: BLE001: raised again by run()
                self.errors.append(e)
            with self.changed:
                self.running -= 1
                self.timing -= hasattr(job, 'timing')
                self.changed.notify_all()

    def run(self):
        """Returns when all have ended; raises what the first that failed raised."""
        threads = [threading.Thread(target=self.work) for _ in range(os.cpu_count() + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]


def chosen(runs, words):
    """Those of @runs that @words name, whole or by their series; all if there are no words."""
    return [r for r in runs if not words or {r.series, str(r)} & set(words)]


def conclude(suite, counts):
    """Prints the last line of @suite; returns its exit status."""
    print(f'{suite}: {counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped', flush=True)
    return 1 if counts['failed'] else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default=os.path.join(os.path.dirname(TESTS), 'build'))
    p.add_argument('--out', help='directory for what the command leaves in /out')
    p.add_argument('--file', action='append', default=[], metavar='SOURCE:PATH', help='a file or directory more')
    p.add_argument('--args', default='', help='kernel parameters, e.g. "lockdown=integrity"')
    for name in ('cpus', 'memory', 'limit'):
        p.add_argument('--' + name, type=int, default=getattr(Machine, name))
    p.add_argument('--icount', action='store_true', help='time is instructions executed, a nanosecond each')
    p.add_argument('--dmesg', action='store_true', help='print the kernel log too')
    p.add_argument('series', choices=(*kernels.SUITES, *kernels.FLAVOURS))
    p.add_argument('command', nargs=argparse.REMAINDER)     # the command's options are its own
    a = p.parse_args()
    if a.command[:1] == ['--']:
        del a.command[0]
    if not a.command:
        p.error('no command')
    machine = Machine(kernels.get(a.series), a.cpus, a.memory, a.args, a.limit, a.icount,
                      {path: source for source, _, path in (f.partition(':') for f in a.file)})
    command = a.command[0] if len(a.command) == 1 else shlex.join(a.command)
    result = run(Image(a.build), machine, command, a.out, lambda line: print(line, flush=True))
    if a.dmesg:
        print(result.dmesg)
    for problem in result.problems:
        print(f'vm: {problem}', file=sys.stderr)
    return result.status or bool(result.problems)


if __name__ == '__main__':
    try:
        sys.exit(main())
    except kernels.Unavailable as e:
        sys.exit(f'vm: {e}')
