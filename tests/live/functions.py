# SPDX-License-Identifier: GPL-2.0
"""What the tests of functions need besides harness.py: which mechanisms are here, what a
process holds in the kernel, traces of millions of calls, ELF files, the function tracer.
"""
import collections
import contextlib
import fnmatch
import glob
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../vm'))
import left  # noqa: E402
from harness import PATIENCE, TRACEFS, Instance, children_of, expect, helper, note, run, test, until  # noqa: E402

KERNEL = ('kprobe.session', 'kprobe.multi', 'module', 'fentry', 'kprobe')
USER = ('uprobe.multi', 'uprobe')
NOT_ENTRY, NOT_RETURN, NOT_PARENT = {'kprobe.session'}, {'module'}, {'fentry'}
# Where more of the kernel is preempted (6.13 has lazy preemption; on 7.x kprobes' programs are too), a
# thread can be so inside of the program of one of these; calls of others on that CPU are then lost, and
# counted. No such test can ask for each of them.
RELEASE = tuple(map(int, os.uname().release.split('.')[:2]))
NOT_EXACT = {'fentry', 'kprobe'} if RELEASE >= (7, 0) else {'fentry'} if RELEASE >= (6, 13) else set()
WIDE = ('kprobe.multi', 'module')       # those for any number of functions, at entry


def features():
    """Mechanism: why it is not here, or None."""
    found = json.loads(run('check', '--json').stdout)['features']
    return {f['name']: None if f['have'] else f['reason'] or 'no reason' for f in found
            if f['name'] in KERNEL + USER}


MISSING = {name: why for name, why in features().items() if why}


def here(*names, but=()):
    return [n for n in names if n not in MISSING and n not in but]


def by_each(names):
    """A test for each of these mechanisms."""
    def wrap(fn):
        for how in names:
            def one(tmp, how=how):
                fn(tmp, how)
            one.__name__ = f'{fn.__name__} by_{how}'
            test(one)
        return fn
    return wrap


def only_if(condition, reason):
    """A test that is there if @condition is."""
    def wrap(fn):
        if condition:
            return test(fn)
        note(f'{fn.__name__}: not here, {reason}')
        return fn
    return wrap


# ---- functions of the kernel -----------------------------------------------------------

def read_text(path):
    """Of a file, "" if it cannot be read."""
    try:
        with open(path, errors='replace') as f:
            return f.read()
    except OSError:
        return ''


def traceable():
    """(name, module or None) of all that ftrace can trace; [] if it does not tell."""
    words = [line.split() for line in read_text(TRACEFS + '/available_filter_functions').splitlines()]
    return [(w[0], w[1].strip('[]') if len(w) > 1 else None) for w in words]


TRACEABLE = traceable()
NAMES = {name for name, _ in TRACEABLE}
# One function, by the name that the kernel chose among three.
GETPPID = next((n for n in ('__x64_sys_getppid', '__arm64_sys_getppid', '__do_sys_getppid', '__ia32_sys_getppid') if n in NAMES), None)
HAVE_TRACER = bool(TRACEABLE) and 'function' in read_text(TRACEFS + '/available_tracers').split()


def matching(pattern):
    return [entry for entry in TRACEABLE if fnmatch.fnmatchcase(entry[0], pattern)]


def subject(how, count, threads=1):
    """A function that @how traces and nobody but the workload calls: options, name, workload."""
    calls = [helper('calls'), f'threads={threads}']
    if how in USER:
        return ['-u', f'{calls[0]}:inner', '--func-via', how], 'inner', [*calls, f'chain={count}']
    return ['-f', GETPPID, '--func-via', how], GETPPID, [*calls, f'getppid={count}']


def some(how):
    """Options for as many functions as @how should be able to take in a test."""
    what = {'uprobe.multi': ['-u', 'libc.so.6:str*'], 'uprobe': ['-u', 'libc.so.6:mem*'],
            'kprobe': ['-f', 'vfs_[rw]*'], 'fentry': ['-f', 'vfs_re*']}
    return [*what.get(how, ['-f', 'vfs_*']), *(['--returns'] if how in NOT_ENTRY else []), '--func-via', how]


class FunctionTracer(Instance):
    """The kernel's own, for some functions."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def __enter__(self):
        super().__enter__()
        self.write('set_ftrace_filter', ' '.join(self.names))
        self.write('current_tracer', 'function')
        return self

    def __exit__(self, *args):
        self.write('current_tracer', 'nop')
        super().__exit__(*args)

    def calls(self):
        """By thread: [(time in us, function, caller)]."""
        found = collections.defaultdict(list)
        for m in self.lines(r'-(\d+) +\[\d+\] \S+ +(\d+)\.(\d{6}): (\S+) <-(\S+)'):
            found[int(m[1])].append((int(m[2]) * 10**6 + int(m[3]), m[4], m[5]))
        return found


# ---- calls -------------------------------------------------------------------------------

def counts_of(out):
    """What the workload said: [(tid, function, count)]."""
    lines = [line.split() for line in out.splitlines()]
    return [(int(tid), name, int(count)) for tid, name, count in lines if tid != 'all']


def nested(calls):
    """
    (call, names of those it is inside of) for slices of one thread, which must nest. Those that have not returned by the end of the
    recording, or of their thread, end there together.
    """
    stack, found = [], []
    for c in sorted(calls, key=lambda c: (c.ts, -c.end)):
        expect(c.ts < c.end, f'{c} takes no time')
        while stack and stack[-1].end <= c.ts:
            stack.pop()
        if stack:
            together = c.end == stack[-1].end and 'unfinished' in c.args and 'unfinished' in stack[-1].args
            expect(stack[-1].ts < c.ts and (c.end < stack[-1].end or together), f'{c} is not inside of {stack[-1]}')
        found.append((c, [s.name for s in stack]))
        stack.append(c)
    return found


def sift(path, by_name=False):
    """Number of calls in a file and all other records of it: of millions, the reader reads only those.

    With @by_name not the number but a Counter by (tid, name).
    """
    with open(path, 'rb') as f:
        data = f.read()
    word = struct.Struct('<Q').unpack_from
    strings, threads, rest, calls, pos, kept = {}, {}, [], 0, 0, 0
    quick, counts = collections.Counter(), collections.Counter()
    runs = None
    while pos < len(data):
        run_of = runs and runs.match(data, pos)
        if run_of:
            rest.append(data[kept:pos])
            kept = run_of.end()
            calls += (kept - pos) // 32
            if by_name:
                quick.update(struct.iter_unpack('<6xH16xQ', data[pos:kept]))
            pos = kept
            continue
        header = word(data, pos)[0]
        size = (header >> 4 & 0xffffffff if header & 15 == 15 else header >> 4 & 0xfff) * 8
        if header & 15 == 4 and strings.get(header >> 32 & 0xffff) in ('function', 'usdt'):
            rest.append(data[kept:pos])
            kept = pos + size
            calls += 1
            if by_name:
                counts[named(data, pos, threads, strings)] += 1
        elif header & 15 == 2:
            index = header >> 16 & 0x7fff
            strings[index] = data[pos + 8:pos + 8 + (header >> 32 & 0x7fff)].decode()
            if strings[index] == 'function' and not runs:
                runs = re.compile(rb'(?:\x44\0\0\0%b.[\0-\x7f].{24})+' % re.escape(struct.pack('<H', index)), re.S)
        elif header & 15 == 3:
            threads[header >> 16 & 0xff] = word(data, pos + 16)[0]
        pos += size
    rest.append(data[kept:])
    for (name, tid), count in quick.items():
        counts[tid, strings[name]] += count
    return counts if by_name else calls, b''.join(rest)


def named(data, pos, threads, strings):
    """(tid, name) of the event at @pos."""
    header = struct.unpack_from('<Q', data, pos)[0]
    thread, name, at = header >> 24 & 0xff, header >> 48, pos + 16
    if not thread:
        threads = {0: struct.unpack_from('<Q', data, at + 8)[0]}
        at += 16
    return threads[thread], data[at:at + (name & 0x7fff)].decode() if name & 0x8000 else strings[name]


# ---- what a process holds in the kernel ------------------------------------------------------

KINDS = {'prog_id': 'BPF program', 'map_id': 'BPF map', 'link_id': 'BPF link'}


def held(pid):
    """Its BPF objects, as left.py calls them."""
    found = set()
    for path in glob.glob(f'/proc/{pid}/fdinfo/*'):
        found |= {f'{KINDS[kind]} {number}'
                  for kind, number in re.findall(r'^(prog_id|map_id|link_id):\s*(\d+)', read_text(path), re.M)}
    return found


def has_links(pid):
    return any('link' in x for x in held(pid))


def stopped_detacher(p, in_time):
    """The process that detaches for a recorder, stopped, if it still has to close what @in_time(its id) looks for."""
    def found():
        return p.poll() is not None or [pid for pid, name in children_of(p.pid).items() if name == 'kfxt-detach']
    pids = until(found, 'nobody detaches', 3 * PATIENCE)
    if pids is True:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[0], signal.SIGSTOP)
        if in_time(pids[0]):
            return pids[0]
        os.kill(pids[0], signal.SIGCONT)
    return None


@contextlib.contextmanager
def stopped_while_it_detaches(begin, in_time=has_links):
    """The recorder that @begin() starts and the process that detaches for it, stopped until the end; again where that was too fast."""
    end = time.monotonic() + 3 * PATIENCE
    pid = None
    while not pid:
        expect(time.monotonic() < end, 'it has detached each time before we could stop it')
        p = begin()
        pid = stopped_detacher(p, in_time)
        if not pid:
            p.communicate(timeout=3 * PATIENCE)
    try:
        yield p, pid
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: pid not in children_of(os.getpid()), 'it detaches for ever', 3 * PATIENCE)


def attached(pid):
    """The same, once there are programs; nothing if it has ended."""
    until(lambda: any('program' in x for x in held(pid)) or not os.path.exists(f'/proc/{pid}/exe'),
          'no program is loaded')
    return held(pid)


def hooked():
    """Functions of the kernel that something is attached to; of no use where ftrace is out of reach."""
    return set(left.lines('enabled_functions')) if TRACEABLE else set()


def expect_gone(objects, hooks):
    """All of @objects, and hooks other than @hooks."""
    def still():
        present = {f'{kind} {number}' for kind, command in left.NEXT_ID.items() for number in left.bpf_ids(command)}
        return objects & present or hooked() - hooks
    until(lambda: not still(), f'still there: {sorted(still())[:10]}')


class KernelLog:
    """What the kernel complains of from now on."""

    def __init__(self):
        self.fd = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def complaints(self):
        found = []
        while True:
            try:
                line = os.read(self.fd, 8192).decode(errors='replace')
            except BlockingIOError:
                return found
            except BrokenPipeError:     # overtaken
                continue
            if int(line.partition(',')[0]) > 7:     # not of the kernel itself
                continue
            if re.search(r'WARNING: |BUG: |Oops|protection fault|stall|lockup|blocked for more', line):
                found.append(line)


# ---- ELF --------------------------------------------------------------------------------------

SYMTAB = 2


def sections(data):
    """(offset of the header, type, offset, size, link) of each."""
    at, size, count = struct.unpack_from('<Q', data, 40)[0], *struct.unpack_from('<HH', data, 58)
    for i in range(at, at + size * count, size):
        _, kind, _, _, offset, length, link = struct.unpack_from('<IIQQQQI', data, i)
        yield i, kind, offset, length, link


def symbols(path):
    """Functions of a program that is loaded as it lies in its file: {name: offset}."""
    with open(path, 'rb') as f:
        data = f.read()
    found, every = {}, list(sections(data))
    for _, kind, offset, length, link in every:
        if kind != SYMTAB:
            continue
        for i in range(offset, offset + length, 24):
            name, info, _, index, value = struct.unpack_from('<IBBHQ', data, i)
            start = every[link][2] + name
            if info & 15 == 2 and index:
                found[data[start:data.index(b'\0', start)].decode()] = value
    return found


def strip(source, target):
    """A copy without its symbols."""
    with open(source, 'rb') as f:
        data = bytearray(f.read())
    for header, kind, *_ in list(sections(data)):
        if kind == SYMTAB:
            struct.pack_into('<I', data, header + 4, 0)
    with open(target, 'wb') as f:
        f.write(data)
    os.chmod(target, 0o755)
