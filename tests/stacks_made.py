# SPDX-License-Identifier: GPL-2.0
"""Traces with stack samples, made from the specifications of FXT and of Perfetto's packets alone.

    made = stacks_made.Trace()
    made.process(10, 'app')
    made.thread(11, 10, 'worker')
    made.sample('cpu', ts, pid, tid, frames=[Frame('main'), Frame('work')])
    data = made.fxt()

Frames are outermost first. `random_trace()` has many samples of known threads and functions.
"""
import collections
import random
import struct

MAGIC = 0x0016547846040010
SEQUENCE = 2
KERNEL = 2          # of a frame's kind
BLOB_BYTES_MAX = 32000
SAMPLES_A_PACKET = 64

Frame = collections.namedtuple('Frame', 'name mapping kind build_id rel_pc source line',
                               defaults=('/usr/bin/app', 1, '0102030405060708', 0, '', 0))
Sample = collections.namedtuple('Sample', 'source ts pid tid weight frames user_mode')


# ---- protobuf -----------------------------------------------------------------------------

def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out) + bytes([v])


def num(field, v):
    return varint(field << 3) + varint(v)


def sub(field, *parts):
    data = b''.join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def fields(data):
    """(number, value) of each field: int, or bytes of those with a length."""
    at = 0

    def take():
        nonlocal at
        v = shift = 0
        while True:
            byte = data[at]
            at += 1
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v
    while at < len(data):
        tag = take()
        if tag & 7 == 0:
            yield tag >> 3, take()
        elif tag & 7 == 2:
            length = take()
            if at + length > len(data):
                raise ValueError('a field is longer than its message')
            yield tag >> 3, data[at:at + length]
            at += length
        else:
            raise ValueError(f'wire type {tag & 7}')


def varints(data):
    """Of a packed array."""
    return [v for _, v in fields(b''.join(b'\x08' + piece for piece in split_varints(data)))]


def split_varints(data):
    begin = 0
    for i, byte in enumerate(data):
        if byte < 128:
            yield data[begin:i + 1]
            begin = i + 1


# ---- FXT ----------------------------------------------------------------------------------

def padded(data):
    return data + bytes(-len(data) % 8)


def record(kind, header, body):
    return struct.pack('<Q', kind | (1 + len(body) // 8) << 4 | header) + body


def inline(text):
    return 0x8000 | len(text) if text else 0


def text_argument(key, text):
    key, text = key.encode(), text.encode()
    body = padded(key) + padded(text)
    return struct.pack('<Q', 6 | 1 + len(body) // 8 << 4 | inline(key) << 16 | inline(text) << 32) + body


def kernel_object(kind, koid, name, process=None, **texts):
    name = name.encode() if isinstance(name, str) else name
    body = struct.pack('<Q', koid) + padded(name)
    if process is not None:
        body += struct.pack('<Q', 8 | 3 << 4 | inline(b'process') << 16) + padded(b'process') + struct.pack('<Q', process)
    body += b''.join(text_argument(*item) for item in texts.items())
    return record(7, kind << 16 | inline(name) << 24 | (process is not None) + len(texts) << 40, body)


def blob(data):
    return record(5, inline(b'stacks') << 16 | len(data) << 32 | 3 << 48, padded(b'stacks') + padded(data))


# ---- the trace ----------------------------------------------------------------------------

class Interned:
    """Numbers of what was written once, and what is new since the last packet."""

    def __init__(self):
        self.tables = collections.defaultdict(dict)
        self.new = b''

    def id(self, field, key, encode):
        if not key:
            return 0
        table = self.tables[field]
        if key not in table:
            number = len(table) + 1
            data = encode()     # may add what it refers to, before it
            table[key] = number
            self.new += sub(field, num(1, number), data)
        return self.tables[field][key]

    def text(self, field, text):
        data = text if isinstance(text, bytes) else text.encode()
        return self.id(field, data, lambda: sub(2, data))

    def frame(self, f):
        def mapping():
            return num(2, self.text(16, bytes.fromhex(f.build_id))) + num(7, self.text(17, f.mapping))

        def frame():
            out = num(2, self.text(5, f.name)) + num(3, self.id(19, (f.mapping, f.build_id), mapping))
            out += num(4, f.rel_pc) + num(7, f.kind)
            return out + (num(5, self.text(18, f.source)) + num(6, f.line) if f.source else b'')
        return self.id(6, f, frame)

    def stack(self, frames):
        return self.id(7, tuple(frames), lambda: b''.join(num(2, i) for i in [self.frame(f) for f in frames]))

    def take(self):
        new, self.new = self.new, b''
        return sub(12, new) if new else b''


class Trace:
    """@period_ns: between two samples of a CPU; 0: the trace does not have it."""

    def __init__(self, period_ns=10_000_000):
        self.period_ns = period_ns
        self.names, self.samples = b'', []

    def process(self, koid, name, **texts):
        self.names += kernel_object(1, koid, name, **texts)

    def thread(self, koid, process, name):
        self.names += kernel_object(2, koid, name, process)

    def event(self, category, name, ts, args):
        """An instant of thread 0; @args are unsigned numbers."""
        body = struct.pack('<QQQ', ts, 0, 0) + padded(category.encode()) + padded(name.encode())
        for key, value in args.items():
            key = key.encode()
            body += struct.pack('<Q', 4 | 2 + len(padded(key)) // 8 << 4 | inline(key) << 16) + padded(key)
            body += struct.pack('<Q', value)
        refs = inline(category.encode()) << 32 | inline(name.encode()) << 48
        self.names += record(4, len(args) << 20 | refs, body)

    def sample(self, source, ts, pid, tid, frames, weight=None, user_mode=True):
        if weight is None:
            weight = self.period_ns
        self.samples.append(Sample(source, ts, pid, tid, weight, tuple(frames), user_mode))

    def defaults(self, source):
        timebase = sub(12, sub(1, num(2, 1_000_000_000 // self.period_ns), num(4, 1))) if self.period_ns else b''
        if source == 'cpu':
            return sub(59, timebase)
        counter = sub(2, sub(2, 'blocked'), num(3, 1), num(7, 1))
        return sub(59, timebase, sub(100, sub(1, source), counter))

    def packets(self):
        interned, before = Interned(), None
        for i, s in enumerate(self.samples):
            stack = interned.stack(s.frames)
            mode = 2 if s.source == 'cpu' and s.user_mode else 1
            if s.source == 'cpu':
                body = sub(66, num(1, 0), num(2, s.pid), num(3, s.tid), num(4, stack), num(5, mode))
            else:
                body = sub(135, sub(1, num(2, s.pid), num(3, s.tid)), sub(3, num(2, 0), num(3, mode)),
                           num(6, stack), num(11, s.weight))
            head = num(8, s.ts) + num(10, SEQUENCE) + num(13, 2 if i else 3) + (b'' if i else num(41, 1))
            head += self.defaults(s.source) if s.source != before else b''
            before = s.source
            yield sub(1, head, interned.take(), body)

    def fxt(self):
        out = struct.pack('<Q', MAGIC) + record(0, 1 << 16 | 1 << 20 | 4 << 52, padded(b'made')) + self.names
        piece = b''
        for packet in self.packets():
            if len(piece) + len(packet) > BLOB_BYTES_MAX:
                out += blob(piece)
                piece = b''
            piece += packet
        return out + (blob(piece) if piece else b'')


WAKER = Frame('woken by init 1', 'waker', 0, '', 0, '', 0)
CUT = Frame('[cut]', '', 0, '', 0, '', 0)


def kernel(name):
    return Frame(name, '[kernel]', KERNEL, '', 0, '', 0)


def random_trace(seed, samples=2000, period_ns=10_000_000):
    """Three processes, recursion, cut stacks, kernel threads, names with what formats use as separators."""
    rng = random.Random(seed)
    made = Trace(period_ns)
    threads = [(100, 100, 'main'), (100, 101, 'worker'), (200, 200, 'wor;ker'), (200, 201, 'worker'), (300, 300, '')]
    for pid, name in ((100, 'app'), (200, 'the server'), (0, 'kernel')):
        made.process(pid, name)
    for pid, tid, name in threads:
        if name:
            made.thread(tid, pid, name)
    made.thread(7, 0, 'kworker/0:1')
    user = [Frame(f'function_{i}', f'/usr/lib/lib{i % 3}.so', 1, f'{i % 3:016x}', 4096 + 16 * i,
                  '/src/a.c' if i % 4 == 0 else '', i if i % 4 == 0 else 0) for i in range(12)]
    user += [Frame('std::map<int, long>::operator[](int; char)', '/usr/bin/app'), Frame('js: a b', '//anon', 4, '')]
    in_kernel = [kernel(f'sys_{i}') for i in range(4)]
    for i in range(samples):
        source = rng.choices(('cpu', 'off-cpu', 'waker'), (6, 3, 1))[0]
        pid, tid, _ = rng.choice(threads)
        frames = [rng.choice(user[:1 + d % len(user)]) for d in range(rng.randrange(1, 12))]
        frames += rng.sample(in_kernel, rng.randrange(3))
        if rng.random() < 0.05:
            frames = [CUT] + frames
        if rng.random() < 0.05:
            frames = rng.sample(in_kernel, 2)
        if rng.random() < 0.05:
            pid, tid, frames = 0, 7, [kernel('kthread'), kernel('worker_thread')]
        if source == 'waker':
            frames = [WAKER] + frames
        weight = None if source == 'cpu' else rng.randrange(1, 50_000_000)
        made.sample(source, 1_000_000_000 + 1_000_000 * i, pid, tid, frames, weight, frames[-1].kind != KERNEL)
    return made
