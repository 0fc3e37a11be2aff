#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kfxt on arm64: built by a cross compiler, tested in emulated machines.

    arm64.py BUILD_DIR [RUN...]     builds BUILD_DIR/arm64, tests it; RUN: 6.1/cortex-a72
    arm64.py --sysroot              where arm64's headers and libraries are, which `make` asks

Headers, libraries and what runs in the machine are Debian's packages for arm64, unpacked
in ${KFXT_CACHE:-~/.cache/kfxt}/arm64; this machine's own packages stay as they are. Prints
TAP and, last, how many passed, failed and were skipped. Logs go to BUILD_DIR/arm64/vm.
Needs gcc-aarch64-linux-gnu and qemu-system-arm, no rights, no KVM.

The processors of a machine run in parallel, but what emulates them, if it is an x86,
never reorders loads, nor stores: no test here can find a barrier that is missing.
"""
import collections
import dataclasses
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import kernels
import vm

TOP = os.path.dirname(vm.TESTS)
CROSS = 'aarch64-linux-gnu-'
LIBS = ('lib/aarch64-linux-gnu', 'usr/lib/aarch64-linux-gnu')
SUITE = ('Debian', 'bookworm', 'arm64')
PACKAGES = ('libbpf-dev', 'libdw-dev', 'libelf-dev', 'zlib1g-dev', 'liblzma-dev', 'libiberty-dev', 'libzstd-dev',
            'libprotobuf-c-dev', 'libcmocka-dev',
            'libcap-dev', 'libseccomp-dev', 'libtraceevent-dev', 'systemtap-sdt-dev', 'binutils', 'busybox-static',
            'bpftool', 'coreutils', 'dash', 'gzip', 'libc-bin', 'mount', 'python3', 'util-linux')
LOCALE = '/usr/lib/locale/C.utf8/LC_CTYPE'      # how wide a character is
# Of Python's library, what no test imports and much of it.
PYTHON_LEFT_OUT = re.compile(r'/(config-[^/]*|distutils|ensurepip|idlelib|lib2to3|pydoc_data|sqlite3|test|tkinter|'
                             r'turtledemo|unittest)(/|$)')

# Live tests for which this is fast enough and which have to do with the architecture.
LIVE = ('every_switch_of_two_threads', 'names_in_a_storm', 'recycled_id_is_a_new_koid', 'states_and_wakers',
        'preemption_is_told_from_sleep', 'weights_are_priorities', 'chosen_cpus_only',
        'busy_machine_makes_sense', 'loss_is_counted_exactly', 'two_at_once')
# Of functions, by every mechanism there is.
FUNCTIONS = ('calls_of_each_thread', 'calls_of_the_c_library', 'returns_with_values', 'usdt_arguments',
             'user_parents', 'user_slices_nest', 'parents_as_function_tracer')
# Of sleeps and wakeups; a machine that is emulated samples what runs too seldom.
STACKS = ('every_long_sleep', 'where_it_waits', 'who_wakes_from_where')
# Tests of how long something takes.
TIMING = {'test_many', 'test_many_addrs', 'test_many_names'}
# Unit tests that try every cut or thousands of changes of their input, or full disks and slow pipes: minutes, emulated.
LONG = re.compile(r'_(cut|damage)_test$|^sink_test$')
# Rooms in which nothing depends on the machine but whether a char has a sign; that it need not have one, the
# build with sanitizers shows.
ANY_MACHINE = ('analysis', 'archive', 'cli', 'cli/*', 'control', 'format/*', 'model', 'piece', 'profile', 'report', 'trigger', 'window')
SCALE = '0.1'
LIMIT = 1000        # seconds for all tests of a run; a third of it is plenty


class Run(collections.namedtuple('Run', 'series processor cpus all')):
    """A kernel on a processor, by QEMU's name of it; all tests, or those that record."""

    def __str__(self):
        return f'{self.series}/{self.processor.partition(",")[0]}'


# cortex-a72 has no atomic instructions but load and store exclusive, and the kernel's JIT
# makes other code for it; max has all there is.
RUNS = (Run('6.12', 'max,pauth-impdef=on', 2, True), Run('6.1', 'cortex-a72', 2, False))
KERNELS = {'6.1': ('Debian-Security', 'bookworm-security'), '6.12': ('Debian-Security', 'bookworm-security')}


# ---- packages ----------------------------------------------------------------------------

def relink(root):
    """Makes absolute symbolic links below @root relative: they are meant for a root of their own."""
    for here, dirs, names in os.walk(root):
        for path in (os.path.join(here, name) for name in dirs + names):
            if os.path.islink(path) and os.path.isabs(os.readlink(path)):
                target = os.path.relpath(root + os.readlink(path), here)
                os.unlink(path)
                os.symlink(target, path)


def unpack(apt, names, path):
    """Packages @names and the library of Python, compiled, as it is the same for all machines."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as tmp:
        root = os.path.join(tmp, 'root')
        apt.run('apt-get', 'download', *names, cwd=tmp)
        for deb in sorted(glob.glob(os.path.join(tmp, '*.deb'))):
            kernels.output('dpkg-deb', '-x', deb, root)
        relink(root)
        library = glob.glob(os.path.join(root, 'usr/lib/python3.*'))[0]
        if os.path.basename(library) == f'python3.{sys.version_info.minor}':
            subprocess.run([sys.executable, '-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash',
                            '-s', root, '-x', PYTHON_LEFT_OUT.pattern, library], stdout=subprocess.DEVNULL)
        os.rename(root, path)


def sysroot():
    """Directory with the newest packages; with others that are at hand if the archive is out of reach."""
    base = kernels.cache('arm64')
    # Of this list of packages: another one's are not looked at, however new they are.
    stamp = os.path.join(base, 'current-' + hashlib.sha256(' '.join(PACKAGES).encode()).hexdigest()[:8])
    with kernels.locked():
        try:
            if time.time() - os.lstat(stamp).st_mtime < kernels.FRESH_SECONDS:
                return os.path.realpath(stamp)
        except OSError:
            pass
        try:
            apt = kernels.Apt(*SUITE)
            listed = apt.run('apt-get', 'install', '-y', '--no-install-recommends', '--print-uris', *PACKAGES)
            debs = sorted(re.findall(r"^'\S+' (\S+\.deb) ", listed, re.M))
            path = os.path.join(base, hashlib.sha256('\n'.join(debs).encode()).hexdigest()[:16])
            if not os.path.isdir(path):
                unpack(apt, [deb.partition('_')[0] for deb in debs], path)
        except kernels.Unavailable as e:
            if not os.path.isdir(stamp):
                raise
            print(f'arm64: {e}; using older packages', file=sys.stderr)
            return os.path.realpath(stamp)
        for old in set(os.listdir(base)) - {os.path.basename(path), 'kernels'}:
            old = os.path.join(base, old)
            shutil.rmtree(old) if os.path.isdir(old) and not os.path.islink(old) else os.unlink(old)
        os.symlink(os.path.basename(path), stamp)
        return path


def kernel(series):
    """The newest Kernel of @series for arm64; an older one if the archive is out of reach."""
    base = kernels.cache('arm64', 'kernels', series)
    with kernels.locked():
        try:
            apt = kernels.Apt(*KERNELS[series], 'arm64')
            package, release = apt.newest(series)
            path = os.path.join(base, release)
            if not os.path.isdir(path):
                with tempfile.TemporaryDirectory(dir=kernels.cache('arm64', 'kernels')) as tmp:
                    new = os.path.join(tmp, 'new')
                    os.mkdir(new)
                    kernels.unpack_kernel(apt.download(package, tmp), new)
                    with open(os.path.join(new, 'release'), 'w') as f:
                        f.write(release + '\n')
                    for old in os.listdir(base):
                        shutil.rmtree(os.path.join(base, old))
                    os.rename(new, path)
        except kernels.Unavailable as e:
            kept = os.listdir(base)
            if not kept:
                raise kernels.Unavailable(f'kernel {series} for arm64: {e}') from None
            print(f'arm64: {e}; using {kept[0]}', file=sys.stderr)
            path = os.path.join(base, kept[0])
        return kernels.described(series, path)


# ---- the machine -----------------------------------------------------------------------------

class Image(vm.Image):
    """As that of the machine's own architecture, with programs of @root."""

    def __init__(self, build, root):
        self.build, self.root, self.cpio = build, root, vm.Cpio()
        for name in ('bin', 'sbin', 'lib'):
            self.cpio.link(name, 'usr/' + name)
        for name in ('busybox', 'objcopy', 'readelf', *sorted(set(vm.PROGRAMS) - {'strace'})):
            path = self.inside(name)
            self.program(root + path, vm.usr(path))
        self.program(root + '/lib/ld-linux-aarch64.so.1', '/usr/lib/ld-linux-aarch64.so.1')
        self.python()
        self.cpio.file(root + LOCALE, LOCALE)
        self.cpio.file(os.path.join(vm.TESTS, 'vm/init.sh'), '/init')
        self.cpio.file(os.path.join(TOP, 'Makefile'), '/kfxt/Makefile')
        self.cpio.tree(vm.TESTS, '/kfxt/tests', lambda name: not name.endswith('.pyc'))
        self.program(os.path.join(build, 'kfxt'), '/kfxt/build/kfxt')
        for path in sorted(glob.glob(os.path.join(build, 'tests/*'))):
            if not path.endswith(('/judged', '/fallback')):     # not here
                self.program(path, '/kfxt/build/tests/' + os.path.basename(path))
        self.cpio.data('/etc/passwd', b'root:x:0:0:root:/root:/bin/sh\n', 0o644)
        self.bytes = self.cpio.close()

    def inside(self, name):
        for place in ('/usr/sbin/', '/usr/bin/', '/sbin/', '/bin/'):
            if os.path.lexists(self.root + place + name):
                return place + name
        raise kernels.Unavailable(f'none of the packages has {name}')

    def needs(self, source):
        """Names of the shared libraries it was linked with."""
        shown = kernels.output(CROSS + 'readelf', '-d', source)
        return re.findall(r'\(NEEDED\) +Shared library: \[([^]]+)\]', shown)

    def program(self, source, path):
        """A program or library and the shared libraries it needs."""
        if path.lstrip('/') in self.cpio.seen:
            return
        self.cpio.file(source, path)
        for lib in self.needs(source):
            for place in LIBS:
                if os.path.exists(os.path.join(self.root, place, lib)):
                    self.program(os.path.join(self.root, place, lib), f'/usr/lib/aarch64-linux-gnu/{lib}')

    def python(self):
        library = os.path.realpath(glob.glob(self.root + '/usr/lib/python3.*')[0])
        for here, _, names in os.walk(library):
            inside = here[len(self.root):]
            for name in names:
                if PYTHON_LEFT_OUT.search(here[len(library):]):
                    continue
                if name.endswith('.so'):
                    self.program(os.path.join(here, name), os.path.join(inside, name))
                elif name.endswith(('.py', '.pyc')):
                    self.cpio.file(os.path.join(here, name), os.path.join(inside, name))
        name = os.path.basename(library)
        self.program(self.root + '/usr/bin/' + name, '/usr/bin/' + name)
        self.cpio.link('/usr/bin/python3', name)

    def qemu(self, machine, tmp):
        # One thread for each CPU, so that they really meet.
        return [vm.Image.find('qemu-system-aarch64'), '-machine', 'virt,gic-version=3', '-accel', 'tcg,thread=multi',
                '-cpu', machine.processor, '-smp', str(machine.cpus), '-m', str(machine.memory), '-nodefaults',
                '-no-user-config', '-display', 'none', '-no-reboot', '-kernel', machine.kernel.vmlinuz,
                '-initrd', f'{tmp}/initrd', '-append', f'{vm.KERNEL_ARGS} console=ttyAMA0 {machine.args}',
                '-chardev', f'file,id=console,path={tmp}/console', '-serial', 'chardev:console',
                '-chardev', 'file,id=output,path=/dev/fd/1', '-chardev', f'file,id=result,path={tmp}/result',
                '-device', 'virtio-serial-pci',
                '-device', 'virtserialport,nr=1,chardev=output', '-device', 'virtserialport,nr=2,chardev=result']



@dataclasses.dataclass
class Machine(vm.Machine):
    processor: str = 'max'


# ---- the runs ------------------------------------------------------------------------------

printing = threading.Lock()


def say(text):
    with printing:
        print(text, flush=True)


def job(run, build):
    """The shell script that a machine runs; after each program a line with its name and exit code."""
    left_out = {os.path.basename(source).removesuffix('.c') for room in ANY_MACHINE
                for source in glob.glob(os.path.join(vm.TESTS, 'unit', room, '*_test.c'))}
    tests = [os.path.basename(t) for t in sorted(glob.glob(os.path.join(build, 'tests/*_test')))]
    commands = {'kfxt check': 'build/kfxt check',
                'live_test': f'python3 tests/live/live_test.py build {" ".join(LIVE)}',
                'func_test': f'python3 tests/live/func_test.py build {" ".join(FUNCTIONS)}',
                'stack_test': f'python3 tests/live/stack_test.py build {" ".join(STACKS)}'}
    if run.all:
        commands.update({t: f'build/tests/{t}' for t in tests if t not in left_out and not LONG.search(t)})
    return '\n'.join([f'export KFXT_TEST_SCALE={SCALE} CMOCKA_MESSAGE_OUTPUT=tap',
                      *(f'{command}\necho "ended $? {name}"' for name, command in commands.items()), 'true'])


def build(into):
    command = ['make', '--no-print-directory', '-s', f'-j{os.cpu_count()}', '-C', TOP, 'WERROR=1',
               f'CROSS_COMPILE={CROSS}', f'O={into}', 'all', 'unit']
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return r.stdout.splitlines()[-20:] if r.returncode else []


class Counter:
    """Counts the TAP of one program after the other, in @counts, which other runs share."""

    def __init__(self, run, counts):
        self.run, self.counts = run, counts
        self.not_ok = 0     # of the program that runs

    def result(self, kind, name, problems=()):
        with printing:
            self.counts[kind] += 1
        text = f'{"not ok" if kind == "failed" else "ok"} - {self.run}: {name}'
        say(text + ''.join(f'\n# {p}' for p in problems))

    def take(self, line):
        skipped = re.match(r'not ok \d+ # SKIP (.*)', line)      # as cmocka has it
        tested = re.match(r'(not )?ok (?:\d+ )?- (.*)', line)
        ended = re.match(r'ended (\d+) (.*)', line)
        if skipped:
            self.result('skipped', f'{skipped[1]} # SKIP')
        elif tested:
            name = tested[2]
            self.not_ok += bool(tested[1])
            if tested[1] and name in TIMING:
                self.result('skipped', f'{name} # SKIP emulated, it takes longer')
            else:
                self.result('failed' if tested[1] else 'skipped' if '# SKIP' in name else 'passed', name)
        elif ended:
            # One that failed and did not say so crashed; one that has no tests is one.
            if ended[1] != '0' and not self.not_ok:
                self.result('failed', f'{ended[2]}: exit code {ended[1]}')
            elif not ended[2].endswith('_test'):
                self.result('passed', ended[2])
            self.not_ok = 0
        elif line.strip() and not re.match(r'1\.\.\d+|TAP version|# (not )?ok - tests', line):
            say(f'# {self.run}: {line}')


def execute(run, image, logs, counts):
    """Boots and tests; what came of it is added to @counts."""
    count = Counter(run, counts)
    out = os.path.join(logs, re.sub(r'\W+', '-', str(run)))
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    try:
        machine = Machine(kernel(run.series), run.cpus, limit=LIMIT, processor=run.processor)
    except kernels.Unavailable as e:
        count.result('failed', 'there is a kernel', [e])
        return
    with open(os.path.join(out, 'output'), 'w') as log:
        ended = vm.run(image, machine, job(run, image.build), out, lambda line: (log.write(line + '\n'), count.take(line)))
    with open(os.path.join(out, 'dmesg'), 'w') as f:
        f.write(ended.dmesg)
    problems = ended.problems + ([f'status {ended.status}'] if ended.status else [])
    count.result('failed' if problems else 'passed', 'boots, complains of nothing, keeps nothing', problems)
    say(f'# {run}: {machine.kernel.release}, {ended.seconds:.0f} s')


def enqueue(queue, directory, runs=RUNS):
    """
    Adds to @queue the build below @directory, which adds @runs once it is done, the next to begin. Returns
    what is to be called when all have ended, which returns the suite's exit status.
    """
    into = os.path.join(directory, 'arm64')
    counts = collections.Counter()

    def build_and_add():
        problems = build(into)
        say(f'{"not ok" if problems else "ok"} - it builds' + ''.join(f'\n# {p}' for p in problems))
        counts['failed' if problems else 'passed'] += 1
        if not problems:
            image = Image(into, sysroot())
            queue.add(*(functools.partial(execute, run, image, os.path.join(into, 'vm'), counts) for run in runs),
                      first=True)
    queue.add(build_and_add, first=True)
    return lambda: vm.conclude('arm64', counts)


def main():
    if sys.argv[1:] == ['--sysroot']:
        print(sysroot())
        return 0
    into = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
    queue = vm.Queue()
    conclude = enqueue(queue, into, vm.chosen(RUNS, sys.argv[2:]))
    queue.run()
    return conclude()


if __name__ == '__main__':
    try:
        sys.exit(main())
    except kernels.Unavailable as e:
        sys.exit(f'arm64: {e}')
