#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Stack samples through all formats, found again by readers that share nothing with kfxt.

    samples_test.py BUILD_DIR [NAME...]

Each test makes a trace and says which samples must be in what kfxt makes of it. Prints TAP and the totals.
"""
import collections
import json
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import fxtsamples  # noqa: E402
import pftrace_reader  # noqa: E402
from cases import case, equal, run  # noqa: E402
from fxtsamples import Frame, Sample  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
KFXT = os.path.join(BUILD, 'kfxt')
T = 10**12


# ---- packets that are made here ------------------------------------------------------------

def varint(n):
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n)


def msg(field, *parts):
    data = b''.join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def packet(ts, *parts, flags=2, seq=7):
    return msg(1, num(8, ts), num(10, seq), num(13, flags), *parts)


INTERNED = msg(12, *(msg(5, num(1, iid), msg(2, name)) for iid, name in ((1, 'main'), (2, 'work'), (3, 'sys_read'))),
               msg(16, num(1, 1), msg(2, b'\x00\xab')), msg(17, num(1, 1), msg(2, '/bin/prog')),
               msg(17, num(1, 2), msg(2, '[kernel]')), msg(18, num(1, 1), msg(2, 'prog.c')),
               msg(19, num(1, 1), num(2, 1), num(7, 1)), msg(19, num(1, 2), num(7, 2)),
               msg(6, num(1, 1), num(2, 1), num(3, 1), num(4, 0x10), num(7, 1)),
               msg(6, num(1, 2), num(2, 2), num(3, 1), num(4, 0x20), num(5, 1), num(6, 9), num(7, 1)),
               msg(6, num(1, 3), num(2, 3), num(3, 2), num(7, 2)),
               msg(7, num(1, 1), num(2, 1), num(2, 2)), msg(7, num(1, 2), msg(2, varint(1), varint(2), varint(3))))
MAIN = Frame('main', '/bin/prog', '00ab', 0x10, '', 0, 'native')
WORK = Frame('work', '/bin/prog', '00ab', 0x20, 'prog.c', 9, 'native')
READ = Frame('sys_read', '[kernel]', '', 0, '', 0, 'kernel')


def defaults(source):
    return msg(59, msg(12, msg(1, num(2, 99), num(4, 1))), msg(100, msg(1, source), msg(2, msg(2, 'w'), num(3, 1))))


def perf(ts, cpu, pid, tid, iid, mode=2, **more):
    return packet(ts, msg(66, num(1, cpu), num(2, pid), num(3, tid), num(4, iid), num(5, mode)), **more)


def stack(pid, tid, iid, weight, cpu=1, mode=1):
    return msg(135, msg(1, num(2, pid), num(3, tid)), msg(3, num(2, cpu), num(3, mode)), num(6, iid),
               num(11, weight))


# A thread 100/101, one whose process is not known, three sources, and state that is cleared in between.
TRACE = (packet(T, defaults('off-cpu'), INTERNED, stack(100, 101, 2, 4000, mode=2), flags=3) +
         perf(T + 1000, 0, 100, 101, 1) + packet(T + 2000, stack(100, 100, 1, 5000)) +
         packet(T + 3000, defaults('waker'), stack(100, 101, 1, 6000)) +
         packet(T + 4000, defaults('locks'), INTERNED, stack(0, 15, 2, 7000), flags=3))
SAMPLES = [
    Sample(T, 'off-cpu', 100, 101, 1, False, 4000, [MAIN, WORK, READ]),
    Sample(T + 1000, 'cpu', 100, 101, 0, True, 10101010, [MAIN, WORK]),
    Sample(T + 2000, 'off-cpu', 100, 100, 1, True, 5000, [MAIN, WORK]),
    Sample(T + 3000, 'waker', 100, 101, 1, True, 6000, [MAIN, WORK]),
    Sample(T + 4000, 'locks', 15, 15, 1, True, 7000, [MAIN, WORK, READ]),
]


# ---- running kfxt -----------------------------------------------------------------------------

def kfxt(*args, status=0):
    done = subprocess.run([KFXT, *args], capture_output=True, timeout=60)
    equal(done.returncode, status, done.stderr.decode())
    return done.stdout.decode()


def write(tmp, name, data):
    path = os.path.join(tmp, name)
    with open(path, 'wb') as file:
        file.write(data)
    return path


def convert(path, out, *options):
    stats = json.loads(kfxt('convert', '-q', '--stats=json', '--strict', '-o', out, path, *options))
    return stats['input'], stats['output']


def samples_of(path):
    """Those of an FXT file, which must be clean, in order of time."""
    kfxt('verify', '-q', path)
    found = fxtsamples.read(path)
    equal(found.problems, [])
    return sorted(found.samples)


# ---- tests --------------------------------------------------------------------------------------

@case
def from_perfetto(tmp):
    out = os.path.join(tmp, 't.fxt')
    counts, made = convert(write(tmp, 't.pftrace', TRACE), out)
    equal(samples_of(out), SAMPLES)
    equal((counts['samples'], made['samples'], made['instants'], counts['unknown_ids']), (5, 5, 0, 0))


@case
def to_perfetto_and_back(tmp):
    """The packets go through on a sequence of their own; a thread of the kernel is its own process."""
    fxt, out, back = (os.path.join(tmp, name) for name in ('t.fxt', 'o.pftrace', 'b.fxt'))
    convert(write(tmp, 't.pftrace', TRACE), fxt)
    convert(fxt, out)
    sequences = collections.Counter(pftrace_reader.one(pftrace_reader.message(data), 10)
                                    for number, data in pftrace_reader.fields(open(out, 'rb').read())
                                    if {66, 135} & set(pftrace_reader.message(data)))
    equal(sequences, {3: len(SAMPLES)})
    found = pftrace_reader.read(out).packets
    equal((found[66], found[135]), (1, 4))
    convert(out, back)
    equal(samples_of(back), SAMPLES)


def fxt_of(tmp, *blobs):
    """An FXT file with these BLOBs, and objects of threads 101 of process 100 and 15 of the kernel."""
    def words(*values):
        return struct.pack(f'<{len(values)}Q', *values)

    def string(index, text):
        data = text.encode() + bytes(-len(text) % 8)
        return words(2 | (1 + len(data) // 8) << 4 | index << 16 | len(text) << 32) + data

    def thread(koid, process):
        return words(7 | 4 << 4 | 2 << 16 | 2 << 24 | 1 << 40, koid, 8 | 2 << 4 | 3 << 16, process)
    out = words(0x0016547846040010, 0x21, 10**9) + string(1, 'perfetto') + string(2, 'thread') + string(3, 'process')
    for process in (0, 100):
        out += words(7 | 2 << 4 | 1 << 16 | 2 << 24, process)
    out += thread(101, 100) + thread(15, 0)
    for blob in blobs:
        data = blob + bytes(-len(blob) % 8)
        out += words(5 | (1 + len(data) // 8) << 4 | 1 << 16 | len(blob) << 32 | 3 << 48) + data
    return write(tmp, 't.fxt', out)


@case
def koids_become_ids(tmp):
    """FXT has recycled ids and threads of the kernel by koids, packets have the ids of Linux."""
    fxt = fxt_of(tmp, packet(T, defaults('waker'), INTERNED, stack(20000100, 30000101, 1, 5), flags=3, seq=2) +
                 packet(T + 1, stack(0, 15, 1, 6), seq=2) + perf(T + 2, 0, 0, 4200010003, 1, seq=2))
    out, back = (os.path.join(tmp, name) for name in ('o.pftrace', 'b.fxt'))
    equal([(s.process, s.thread) for s in fxtsamples.read(fxt).samples],
          [(20000100, 30000101), (0, 15), (0, 4200010003)])
    convert(fxt, out)
    convert(out, back)
    got = [(s.source, s.process, s.thread, s.weight) for s in samples_of(back)]
    equal(got[:2], [('waker', 100, 101, 5), ('waker', 0, 15, 6)])


@case
def verified(tmp):
    """Each kind of problem, alone; a packet may be in two BLOBs."""
    good = packet(T, defaults('off-cpu'), INTERNED, stack(100, 101, 1, 9), flags=3, seq=2)
    cases = {
        '': (good + perf(T, 0, 0, 15, 2, seq=2) + perf(T, 0, 0, 0, 2, seq=2),),
        'sample_thread': (good + perf(T, 0, 100, 102, 2, seq=2),),
        'sample_unknown': (good + perf(T, 0, 100, 101, 7, seq=2),),
        'sample_unusable': (good + perf(T, 0, 100, 101, 1, seq=5),),
    }
    for problem, blobs in cases.items():
        said = json.loads(kfxt('verify', '--json', fxt_of(tmp, *blobs), status=3 if problem else 0))
        equal([x['kind'] for x in said['problems']], [problem] if problem else [])
    for cut in range(1, len(good), 7):
        kfxt('verify', '-q', fxt_of(tmp, good[:cut], good[cut:]))


@case
def dumped(tmp):
    """As text and JSON, after their BLOB, with the filters of records."""
    path = write(tmp, 't.pftrace', TRACE)
    lines = [line.split() for line in kfxt('dump', path).splitlines()]
    kinds = [line[2] for line in lines if line[2] in ('blob', 'sample')]
    equal(kinds, ['blob'] + ['sample'] * 5)
    equal(next(line for line in lines if 'source="off-cpu"' in line)[1:],
          '1000.000000000 sample source="off-cpu" process=100 thread=101 cpu=1 mode=kernel weight=4000 '
          'stack=[main; work; sys_read]'.split())

    def select(*args):
        return [json.loads(line) for line in kfxt('dump', '--json', '--type', 'sample', *args, path).splitlines()]
    for s, x in zip(SAMPLES, sorted(select(), key=lambda x: x['ts_ns'])):
        frames = [Frame(f['name'], f['mapping'], f.get('build_id', ''), int(f.get('rel_pc', '0'), 0),
                        f.get('source_file', ''), f.get('line', 0), f['kind']) for f in x['frames']]
        equal(Sample(x['ts_ns'], x['source'], x['process'], x['thread'], x['cpu'], x['mode'] == 'user', x['weight_ns'],
                     frames), s)
    equal([len(select(*args)) for args in (['--tid=101'], ['--cpu=0'], ['--from=1000.000002'], ['--to=1000.000002'])],
          [3, 1, 3, 3])


V8 = [('Profile', {'startTime': 100}),
      ('ProfileChunk', {'cpuProfile': {'nodes': [
          {'id': 1, 'callFrame': {'functionName': '(root)'}},
          {'id': 2, 'parent': 1, 'callFrame': {'functionName': 'f', 'url': 'a.js', 'lineNumber': 3, 'columnNumber': 1}},
          {'id': 3, 'parent': 2, 'callFrame': {'functionName': 'g'}}], 'samples': [3, 2, 1]},
                        'timeDeltas': [10, 20, -5], 'lines': [0, 9, 0]})]


@case
def from_json(tmp):
    """Profiles of V8 and the member samples; a sample without a known stack is an instant."""
    events = [{'name': name, 'ph': 'P', 'id': '0x1', 'pid': 1, 'tid': 2, 'ts': 100, 'args': {'data': data}}
              for name, data in V8]
    listed = [{'cpu': 1, 'tid': 5, 'ts': 1000.5, 'name': 'cycles', 'sf': 7, 'weight': 3},
              {'cpu': 2, 'pid': 5, 'tid': 6, 'ts': 1001, 'name': 'off-cpu', 'sf': '5', 'weight': 4},
              {'tid': 5, 'ts': 1002, 'name': 'lost', 'sf': 99}]
    frames = {'5': {'name': 'main', 'category': 'libc.so'}, 7: {'parent': 5, 'name': 'f'}}
    text = json.dumps({'traceEvents': events, 'stackFrames': frames, 'samples': listed})
    out = os.path.join(tmp, 't.fxt')
    counts, made = convert(write(tmp, 't.json', text.encode()), out)

    def frame(name, source='', line=0, mapping=''):
        return Frame(name, mapping, '', 0, source, line, None)
    equal(samples_of(out), [
        Sample(110000, 'v8', 1, 2, None, True, 10000, [frame('f', 'a.js', 4), frame('g')]),
        Sample(125000, 'v8', 1, 2, None, True, 0, [frame('(root)')]),
        Sample(130000, 'v8', 1, 2, None, True, 20000, [frame('f', 'a.js', 9)]),
        Sample(1000500, 'cycles', 5, 5, 1, True, 3, [frame('main', mapping='libc.so'), frame('f')]),
        Sample(1001000, 'off-cpu', 5, 6, 2, True, 4, [frame('main', mapping='libc.so')])])
    equal((made['samples'], made['instants'], counts['profile_samples'], counts['listed_samples']), (5, 2, 3, 3))
    equal(counts['dropped_members'], 0)


@case
def to_json_and_back(tmp):
    """All but files, addresses, lines and modes comes back; other packets of BLOBs are left out and counted."""
    fxt, out, back = (os.path.join(tmp, name) for name in ('t.fxt', 'o.json', 'b.fxt'))
    convert(write(tmp, 't.pftrace', TRACE), fxt)
    _, made = convert(fxt, out)
    equal(made['left_out'], 0)
    with open(out, encoding='utf-8') as file:
        trace = json.load(file)
    found = []
    for s in trace['samples']:
        names, at = [], s['sf']
        while at:
            names.insert(0, (trace['stackFrames'][str(at)]['name'], trace['stackFrames'][str(at)]['category']))
            at = trace['stackFrames'][str(at)].get('parent')
        found.append((round(s['ts'] * 1000), s['name'], s['pid'], s['tid'], s['cpu'], s['weight'], names))
    equal(found, [(*s[:5], s.weight, [f[:2] for f in s.frames]) for s in SAMPLES])
    convert(out, back)
    equal([(*s[:5], s.weight, [f[:2] for f in s.frames]) for s in samples_of(back)],
          [(*s[:5], s.weight, [f[:2] for f in s.frames]) for s in SAMPLES])
    # A list of processes is no sample.
    _, made = convert(fxt_of(tmp, msg(1, num(8, T), msg(2, msg(1, num(1, 100)))), TRACE), out)
    equal(made['left_out_by_kind'], {'perfetto_packets': 1})


@case
def unknown_ids(tmp):
    """What a sample refers to and was never there costs only that."""
    out = os.path.join(tmp, 't.fxt')
    odd = msg(12, msg(6, num(1, 8), num(2, 77), num(3, 78)), msg(7, num(1, 9), num(2, 1), num(2, 8), num(2, 79)))
    counts, made = convert(write(tmp, 't.pftrace', TRACE + packet(T + 5000, odd) + perf(T + 5000, 0, 100, 101, 9) +
                                 perf(T + 6000, 0, 100, 101, 80)), out)
    names = [[f.name for f in s.frames] for s in samples_of(out)[-2:]]
    equal(names, [['main', '', ''], []])
    equal((made['samples'], counts['unknown_ids']), (7, 4))


if __name__ == '__main__':
    sys.exit(run('samples'))
