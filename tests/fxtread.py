# SPDX-License-Identifier: BSD-2-Clause
"""Strict reader of the Fuchsia trace format, written from the format's specification alone.

It is the referee of the trace writer and shares no code or table with it.

    reader = fxtread.read(path_or_file_or_bytes)      # strict=True raises FxtError instead
    for record in reader:                             # one pass; each record is a dict
        ...
    reader.problems                                   # [(record offset, text)] after the loop

Every record has `offset`, `type` and `size` (words), all but metadata have `provider`, the rest
are the fields of the specification in lower_case.  String refs are str, thread refs are
(process_koid, thread_koid), `arguments` is a list of (name, type, value).  A ref that was never
registered is None.  A record with a problem has `damaged` set, and may lack the fields that
could not be read.  Matching of begin/end, flows and timestamps order is not looked at.

    python3 fxtread.py FILE [--json] [--type T]       # 0 fine, 3 problems, 1 unreadable
    python3 fxtread.py --self-test
"""
import argparse
import json
import os
import struct
import sys
import zlib

MAGIC = 0x0016547846040010
GZIP = b'\x1f\x8b'
MAX_STRING = 32000
ARGUMENT_TYPES = ('null', 'int32', 'uint32', 'int64', 'uint64', 'double', 'string', 'pointer',
                  'koid', 'bool', 'blob')
# Event type: its name and the word that follows the arguments, if any.
EVENT_TYPES = (('instant', None), ('counter', 'counter_id'), ('duration_begin', None),
               ('duration_end', None), ('duration_complete', 'end_time'),
               ('async_begin', 'async_correlation_id'), ('async_instant', 'async_correlation_id'),
               ('async_end', 'async_correlation_id'), ('flow_begin', 'flow_correlation_id'),
               ('flow_step', 'flow_correlation_id'), ('flow_end', 'flow_correlation_id'))
# Arguments whose type is fixed by convention, where they appear.
SCHEDULING_ARGUMENTS = {'incoming_weight': 'int32', 'outgoing_weight': 'int32',
                        'weight': 'int32', 'waker': 'koid'}
KERNEL_OBJECT_ARGUMENTS = {'process': 'koid'}
LAST_THREAD_STATE = 5
WORD = struct.Struct('<Q').unpack_from
SIGNED = struct.Struct('<q').unpack_from
DOUBLE = struct.Struct('<d').unpack_from
WORDS = [struct.Struct(f'<{n}Q').unpack_from for n in range(36)]


class FxtError(ValueError):
    """The first problem, when reading with strict=True."""


class Damage(Exception):
    """The rest of this record (or argument) cannot be decoded."""


def bits(word, first, last):
    """Bits [first .. last], inclusive, as the specification writes them."""
    return word >> first & (1 << last - first + 1) - 1


class Provider:
    """What has to be remembered for each provider."""

    def __init__(self, ident, name=''):
        self.id = ident
        self.name = name
        self.ticks_per_second = 1_000_000_000
        self.strings = {0: ''}
        self.threads = {}
        self.headers = {}  # argument headers already understood, for the fast path


class Cursor:
    """Takes words and streams from one record or argument, never past its end."""

    def __init__(self, reader, pos, end):
        self.reader, self.pos, self.end = reader, pos, end

    def take(self, length, what):
        start, self.pos = self.pos, self.pos + length
        if self.pos > self.end:
            self.pos = start
            raise Damage(f'{what}: needs {length} bytes, {self.end - start} left')
        return start

    def word(self, what, unpack=WORD):
        return unpack(self.reader.data, self.take(8, what))[0]

    def stream(self, length, what):
        start = self.take(length + 7 & ~7, what)
        stop = start + length
        if any(self.reader.data[stop:self.pos]):
            self.reader.problem(f'{what}: padding is not zero')
        return self.reader.data[start:stop]

    def text(self, length, what):
        raw = self.stream(length, what)
        if raw.endswith(b'\0'):
            self.reader.problem(f'{what}: ends in a NUL, strings have no terminator')
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.reader.problem(f'{what}: invalid UTF-8')
            return raw.decode(errors='backslashreplace')

    def finish(self, what):
        if self.pos != self.end:
            self.reader.problem(f'{what}: {(self.end - self.pos) // 8} extra words')


class Reader:
    """One pass over the records of a trace; see the module's text."""

    fast = True  # False decodes every record the long way

    def __init__(self, source, strict=False):
        self.strict = strict
        self.problems = []
        self.providers = {}
        self.provider = Provider(None)
        self._offset = 0
        raw = load(source)
        self.data = self._gunzip(raw) if raw.startswith(GZIP) else raw
        self._records = self._walk()

    def __iter__(self):
        return self._records

    def __next__(self):
        return next(self._records)

    def problem(self, text):
        self.problems.append((self._offset, text))
        if self.strict:
            raise FxtError(f'{self._offset}: {text}')

    def _gunzip(self, raw):
        out, pos = [], 0
        while pos < len(raw):
            member = zlib.decompressobj(31)
            try:
                while not member.eof and pos < len(raw):
                    chunk = raw[pos:pos + 16384]
                    out.append(member.decompress(chunk))
                    pos += len(chunk) - len(member.unused_data)
            except zlib.error as error:
                self.problem(f'gzip: {error}')
                break
            if not member.eof:
                self.problem('gzip: cut off')
        return b''.join(out)

    # Framing

    def _walk(self):
        data, end, pos = self.data, len(self.data), 0
        if end < 8 or WORD(data)[0] != MAGIC:
            self.problem('the magic number record is missing')
        if data.startswith(MAGIC.to_bytes(8, 'big')):
            return self.problem('big endian trace, not read')
        while pos + 8 <= end:
            header = WORD(data, pos)[0]
            size = bits(header, 4, 35) if header & 15 == 15 else header >> 4 & 0xfff
            stop = pos + size * 8
            if size == 0 or stop > end:
                self._offset = pos
                return self.problem(f'record of {size} words, {(end - pos) // 8} left, gave up')
            record = None
            if header & 15 == 8 and self.fast:
                record = self._scheduling_fast(header, pos, size)
            yield record or self._record(header, pos, size)
            pos = stop
        if pos != end:
            self._offset = pos
            self.problem(f'{end - pos} stray bytes at the end')

    def _record(self, header, pos, size):
        kind = header & 15
        record = {'offset': pos, 'type': 'unknown', 'size': size}
        if kind:
            record['provider'] = self.provider.id
        self._offset = pos
        before = len(self.problems)
        cursor = Cursor(self, pos + 8, pos + size * 8)
        try:
            record['type'], decode = self._decoder(header)
            decode(self, record, header, cursor)
            cursor.finish('record')
        except Damage as damage:
            self.problem(str(damage))
        if len(self.problems) > before:
            record['damaged'] = True
        return record

    def _decoder(self, header):
        kind, what, table = header & 15, 'record type', self.RECORDS
        if kind in self.SUBTYPES:
            what, first, last, table = self.SUBTYPES[kind]
            kind = bits(header, first, last)
        if kind not in table:
            raise Damage(f'unknown {what} {kind}')
        return table[kind]

    # Parts of records

    def _reserved(self, word, first, last, what='header'):
        if bits(word, first, last):
            self.problem(f'{what}: reserved bits [{first} .. {last}] are not zero')

    def _string(self, ref, cursor, what):
        if ref & 0x8000:
            return cursor.text(self._length(ref & 0x7fff, what), what)
        if ref not in self.provider.strings:
            self.problem(f'{what}: string index {ref} is not registered')
        return self.provider.strings.get(ref)

    def _length(self, length, what):
        if length > MAX_STRING:
            self.problem(f'{what}: string of {length} bytes, the limit is {MAX_STRING}')
        return length

    def _thread(self, ref, cursor, what='thread'):
        if ref == 0:
            return cursor.word(f'{what}: process id'), cursor.word(f'{what}: thread id')
        if ref not in self.provider.threads:
            self.problem(f'{what}: thread index {ref} is not registered')
        return self.provider.threads.get(ref)

    def _arguments(self, record, count, cursor, conventions=None):
        out = record['arguments'] = []
        for number in range(count):
            what = f'argument {number}'
            start = cursor.pos
            header = cursor.word(what)
            end = start + bits(header, 4, 15) * 8
            if end == start or end > cursor.end:
                raise Damage(f'{what}: size of {bits(header, 4, 15)} words, '
                             f'{(cursor.end - start) // 8} left')
            out.append(self._argument(header, Cursor(self, start + 8, end), what))
            cursor.pos = end
            name, kind, _ = out[-1]
            if conventions and conventions.get(name, kind) != kind:
                self.problem(f'{what}: {name} is {kind}, not {conventions[name]}')

    def _argument(self, header, cursor, what):
        kind, name, value = bits(header, 0, 3), None, None
        try:
            name = self._string(bits(header, 16, 31), cursor, f'{what}: name')
            if kind >= len(ARGUMENT_TYPES):
                raise Damage(f'{what}: unknown argument type {kind}')
            value = self._value(kind, header, cursor, what)
            cursor.finish(what)
        except Damage as damage:
            self.problem(str(damage))
        return name, ARGUMENT_TYPES[kind] if kind < len(ARGUMENT_TYPES) else 'unknown', value

    def _value(self, kind, header, cursor, what):
        payload = bits(header, 32, 63)
        if kind == 1:
            return payload - (payload >> 31 << 32)
        if kind == 2:
            return payload
        if kind == 6:
            self._reserved(header, 48, 63, what)
            return self._string(bits(header, 32, 47), cursor, f'{what}: value')
        if kind == 9:
            self._reserved(header, 33, 63, what)
            return payload != 0
        if kind == 10:
            return cursor.stream(payload, f'{what}: blob')
        self._reserved(header, 32, 63, what)
        if kind == 0:
            return None
        return cursor.word(f'{what}: value', {3: SIGNED, 5: DOUBLE}.get(kind, WORD))

    # Metadata

    def _provider_info(self, record, header, cursor):
        ident = record['provider_id'] = bits(header, 20, 51)
        self._reserved(header, 60, 63)
        # A provider announced again starts afresh: the reading that asks more of the writer.
        self.provider = self.providers[ident] = Provider(ident)
        record['name'] = self.provider.name = cursor.text(bits(header, 52, 59), 'name')

    def _provider_section(self, record, header, cursor):
        ident = record['provider_id'] = bits(header, 20, 51)
        self._reserved(header, 52, 63)
        if ident not in self.providers:
            self.problem(f'provider {ident} was not announced')
        self.provider = self.providers.setdefault(ident, Provider(ident))

    def _provider_event(self, record, header, cursor):
        record['provider_id'] = bits(header, 20, 51)
        record['event_id'] = bits(header, 52, 55)
        self._reserved(header, 56, 63)
        if record['event_id'] != 0:
            self.problem(f'unknown provider event {record["event_id"]}')

    def _trace_info(self, record, header, cursor):
        record['trace_info_type'] = bits(header, 20, 23)
        if record['trace_info_type'] != 0:
            raise Damage(f'unknown trace info type {record["trace_info_type"]}')
        record['magic_number'] = bits(header, 24, 55)
        if header != MAGIC:
            self.problem(f'magic number record is {header:#018x}')

    # Tables

    def _initialization(self, record, header, cursor):
        self._reserved(header, 16, 63)
        ticks = record['ticks_per_second'] = cursor.word('tick multiplier')
        if ticks == 0:
            raise Damage('0 ticks per second')
        self.provider.ticks_per_second = ticks

    def _string_record(self, record, header, cursor):
        index = record['string_index'] = bits(header, 16, 30)
        self._reserved(header, 31, 31)
        self._reserved(header, 47, 63)
        value = cursor.text(self._length(bits(header, 32, 46), 'string'), 'string')
        record['string_value'] = value
        if index == 0:
            raise Damage('string index 0 cannot be assigned')
        if self.provider.strings.get(index, value) != value:
            self.provider.headers.clear()
        self.provider.strings[index] = value

    def _thread_record(self, record, header, cursor):
        index = record['thread_index'] = bits(header, 16, 23)
        self._reserved(header, 24, 63)
        record['thread'] = self._thread(0, cursor)
        if index == 0:
            raise Damage('thread index 0 cannot be assigned')
        self.provider.threads[index] = record['thread']

    # Events, blobs, objects, logs

    def _event(self, record, header, cursor):
        kind = bits(header, 16, 19)
        record['event_type'], extra = EVENT_TYPES[kind] if kind < 11 else ('unknown', None)
        record['timestamp'] = cursor.word('timestamp')
        record['thread'] = self._thread(bits(header, 24, 31), cursor)
        record['category'] = self._string(bits(header, 32, 47), cursor, 'category')
        record['name'] = self._string(bits(header, 48, 63), cursor, 'name')
        self._arguments(record, bits(header, 20, 23), cursor)
        if kind >= len(EVENT_TYPES):
            raise Damage(f'unknown event type {kind}')
        if extra:
            record[extra] = cursor.word(extra)
        if record.get('end_time', record['timestamp']) < record['timestamp']:
            self.problem('end time is before the timestamp')

    def _blob(self, record, header, cursor):
        self._reserved(header, 47, 47)
        self._reserved(header, 56, 63)
        record['blob_type'] = bits(header, 48, 55)
        if not 1 <= record['blob_type'] <= 3:
            self.problem(f'unknown blob type {record["blob_type"]}')
        record['name'] = self._string(bits(header, 16, 31), cursor, 'name')
        record['payload'] = cursor.stream(bits(header, 32, 46), 'payload')

    def _userspace_object(self, record, header, cursor):
        self._reserved(header, 44, 63)
        record['pointer'] = cursor.word('pointer')
        ref = bits(header, 16, 23)
        if ref == 0:  # unlike elsewhere only the process is inline
            record['process'] = cursor.word('process id')
        else:
            thread = self._thread(ref, cursor, 'process')
            record['process'] = thread and thread[0]
        record['name'] = self._string(bits(header, 24, 39), cursor, 'name')
        self._arguments(record, bits(header, 40, 43), cursor)

    def _kernel_object(self, record, header, cursor):
        self._reserved(header, 44, 63)
        record['kernel_object_type'] = bits(header, 16, 23)
        record['koid'] = cursor.word('kernel object id')
        record['name'] = self._string(bits(header, 24, 39), cursor, 'name')
        self._arguments(record, bits(header, 40, 43), cursor, KERNEL_OBJECT_ARGUMENTS)

    def _log(self, record, header, cursor):
        self._reserved(header, 31, 31)
        self._reserved(header, 40, 63)
        record['timestamp'] = cursor.word('timestamp')
        record['thread'] = self._thread(bits(header, 32, 39), cursor)
        record['log_message'] = cursor.text(bits(header, 16, 30), 'log message')

    # Scheduling

    def _state(self, record, state):
        record['outgoing_thread_state'] = state
        if state > LAST_THREAD_STATE:
            self.problem(f'unknown thread state {state}')

    def _legacy_context_switch(self, record, header, cursor):
        record['cpu_number'] = bits(header, 16, 23)
        self._state(record, bits(header, 24, 27))
        if record['outgoing_thread_state'] == 1:
            self.problem('outgoing thread state is running')
        record['outgoing_thread_priority'] = bits(header, 44, 51)
        record['incoming_thread_priority'] = bits(header, 52, 59)
        record['timestamp'] = cursor.word('timestamp')
        record['outgoing_thread'] = self._thread(bits(header, 28, 35), cursor, 'outgoing thread')
        record['incoming_thread'] = self._thread(bits(header, 36, 43), cursor, 'incoming thread')

    def _context_switch(self, record, header, cursor):
        record['cpu_number'] = bits(header, 20, 35)
        self._state(record, bits(header, 36, 39))
        self._reserved(header, 40, 59)
        record['timestamp'] = cursor.word('timestamp')
        record['outgoing_thread_id'] = cursor.word('outgoing thread id')
        record['incoming_thread_id'] = cursor.word('incoming thread id')
        self._arguments(record, bits(header, 16, 19), cursor, SCHEDULING_ARGUMENTS)

    def _thread_wakeup(self, record, header, cursor):
        record['cpu_number'] = bits(header, 20, 35)
        self._reserved(header, 36, 59)
        record['timestamp'] = cursor.word('timestamp')
        record['waking_thread_id'] = cursor.word('waking thread id')
        self._arguments(record, bits(header, 16, 19), cursor, SCHEDULING_ARGUMENTS)

    def _scheduling_fast(self, header, pos, size):
        """A context switch or wakeup with nothing unusual in it, or None: take the long way."""
        kind = header >> 60
        if kind == 1:
            first, reserved = 4, header >> 40 & 0xfffff
        elif kind == 2:
            first, reserved = 3, header >> 36 & 0xffffff
        else:
            return None
        if reserved or not first <= size < len(WORDS):
            return None
        words = WORDS[size](self.data, pos)
        arguments = []
        if size > first or header >> 16 & 15:
            arguments = self._arguments_fast(words, first, header >> 16 & 15)
            if arguments is None:
                return None
        if kind == 2:
            return {'offset': pos, 'type': 'thread_wakeup', 'size': size,
                    'provider': self.provider.id, 'cpu_number': header >> 20 & 0xffff,
                    'timestamp': words[1], 'waking_thread_id': words[2], 'arguments': arguments}
        state = header >> 36 & 15
        if state > LAST_THREAD_STATE:
            return None
        return {'offset': pos, 'type': 'context_switch', 'size': size,
                'provider': self.provider.id, 'cpu_number': header >> 20 & 0xffff,
                'outgoing_thread_state': state, 'timestamp': words[1],
                'outgoing_thread_id': words[2], 'incoming_thread_id': words[3],
                'arguments': arguments}

    def _arguments_fast(self, words, at, count):
        known, out, size = self.provider.headers, [], len(words)
        for _ in range(count):
            if at >= size:
                return None
            word = words[at]
            entry = known.get(word & 0xffffffff) or self._learn(word & 0xffffffff)
            if entry is None:
                return None
            name, kind, length = entry
            value = word >> 32
            if length == 2:
                if value or at + 1 >= size:
                    return None
                value = words[at + 1]
            elif kind == 'int32' and value >> 31:
                value -= 1 << 32
            out.append((name, kind, value))
            at += length
        return out if at == size else None

    def _learn(self, low):
        """The name, type and size in the low half of a plain argument header, remembered."""
        kind, size, ref = bits(low, 0, 3), bits(low, 4, 15), bits(low, 16, 31)
        name = self.provider.strings.get(ref)
        if name is None or size != {1: 1, 2: 1, 4: 2, 8: 2}.get(kind):
            return None
        if SCHEDULING_ARGUMENTS.get(name, ARGUMENT_TYPES[kind]) != ARGUMENT_TYPES[kind]:
            return None
        entry = self.provider.headers[low] = (name, ARGUMENT_TYPES[kind], size)
        return entry

    # Profiler

    def _profiler_common(self, record, header, cursor):
        record['timestamp'] = cursor.word('timestamp')
        ref = bits(header, 20, 27)
        record['thread'] = self._thread(ref, cursor)
        if record['type'] != 'backtrace':
            record['module_id'] = bits(header, 28, 43)
            if ref == 0 and record['thread'][1]:
                self.problem('thread id is not 0')

    def _module(self, record, header, cursor):
        self._reserved(header, 60, 63)
        self._profiler_common(record, header, cursor)
        record['module_name'] = cursor.text(bits(header, 44, 51), 'module name')
        record['build_id'] = cursor.stream(bits(header, 52, 59), 'build id')

    def _mmap(self, record, header, cursor):
        self._reserved(header, 47, 63)
        self._profiler_common(record, header, cursor)
        record['flags'] = bits(header, 44, 46)
        for name in ('start_address', 'address_range', 'vaddr'):
            record[name] = cursor.word(name)

    def _backtrace(self, record, header, cursor):
        self._reserved(header, 36, 63)
        self._profiler_common(record, header, cursor)
        data = cursor.stream(bits(header, 28, 35) * 8, 'backtrace data')
        record['backtrace_data'] = [word for (word,) in struct.iter_unpack('<Q', data)]

    # Large records

    def _large_blob(self, record, header, cursor):
        blob_format = record['blob_format'] = bits(header, 40, 43)
        self._reserved(header, 44, 63)
        if blob_format > 1:
            raise Damage(f'unknown blob format {blob_format}')
        word = cursor.word('format header')
        self._reserved(word, 44 if blob_format == 0 else 32, 63, 'format header')
        record['category'] = self._string(bits(word, 0, 15), cursor, 'category')
        record['name'] = self._string(bits(word, 16, 31), cursor, 'name')
        if blob_format == 0:
            record['timestamp'] = cursor.word('timestamp')
            record['thread'] = self._thread(bits(word, 36, 43), cursor)
            self._arguments(record, bits(word, 32, 35), cursor)
        record['payload'] = cursor.stream(cursor.word('blob size'), 'payload')

    RECORDS = {1: ('initialization', _initialization), 2: ('string', _string_record),
               3: ('thread', _thread_record), 4: ('event', _event), 5: ('blob', _blob),
               6: ('userspace_object', _userspace_object), 7: ('kernel_object', _kernel_object),
               9: ('log', _log)}
    METADATA = {1: ('provider_info', _provider_info), 2: ('provider_section', _provider_section),
                3: ('provider_event', _provider_event), 4: ('trace_info', _trace_info)}
    SCHEDULING = {0: ('legacy_context_switch', _legacy_context_switch),
                  1: ('context_switch', _context_switch), 2: ('thread_wakeup', _thread_wakeup)}
    PROFILER = {0: ('module', _module), 1: ('mmap', _mmap), 2: ('backtrace', _backtrace)}
    # Record types that have subtypes, and the bits that tell them.
    SUBTYPES = {0: ('metadata type', 16, 19, METADATA),
                8: ('scheduling record type', 60, 63, SCHEDULING),
                10: ('profiler record subtype', 16, 19, PROFILER),
                15: ('large record type', 36, 39, {0: ('large_blob', _large_blob)})}


def load(source):
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, 'read'):
        return source.read()
    with open(source, 'rb') as file:
        return file.read()


def read(source, strict=False):
    """An iterator over the records of a path, a binary file or bytes."""
    return Reader(source, strict)


# Self-test.  A token is one 8-byte word, its bytes in file order, worked out by hand from the
# specification; zero bytes at the end of a word may be left out.

def words(text):
    return b''.join(bytes.fromhex(token).ljust(8, b'\0') for token in text.split())


# Magic; provider 0x2a "test"; 1e9 ticks; strings 1 "abcdefgh", 2 "cat", 0x7fff "é",
# 3 "incoming_weight", 4 "outgoing_weight", 5 "weight", 6 "waker"; thread 5 is (100, 101).
START = """1000044678541600 2000a10200004000 74657374 21 00ca9a3b
    220001000800 6162636465666768 220002000300 636174 2200ff7f0200 c3a9
    320003000f00 696e636f6d696e67 5f776569676874 320004000f00 6f7574676f696e67 5f776569676874
    220005000600 776569676874 220006000500 77616b6572 330005 64 65"""
T = (100, 101)
GOOD = [
    ('1000044678541600', dict(type='trace_info', trace_info_type=0, magic_number=0x16547846)),
    ('1000a302', dict(type='provider_event', provider_id=42, event_id=0)),
    ('2000f1ffffff1f 61', dict(type='provider_info', provider_id=2**32 - 1, name='a')),
    ('100071', dict(type='provider_info', provider_id=7, name='')),
    ('21 e803', dict(type='initialization', ticks_per_second=1000, provider=7)),
    ('220001000300 78797a', dict(type='string', string_index=1, string_value='xyz', provider=7)),
    ('3300ff 01 ffffffffffffffff', dict(type='thread', thread_index=255, thread=(1, 2**64 - 1))),
    ('240000ff00000100 0a', dict(provider=7, thread=(1, 2**64 - 1), category='', name='xyz')),
    ('1000a202', dict(type='provider_section', provider_id=42)),
    ('120008', dict(type='string', string_index=8, string_value='', provider=42)),
    ('2400000502000100 0a', dict(type='event', event_type='instant', timestamp=10, thread=T,
                                 category='cat', name='abcdefgh', arguments=[], provider=42)),
    ('7400000002800980 0b 07 08 696f 7265616477726974 65',
     dict(thread=(7, 8), category='io', name='readwrite', timestamp=11)),
    ('44001105ff7f 0c 1200020007 63', dict(event_type='counter', counter_id=99, name='',
                                           category='é', arguments=[('cat', 'uint32', 7)])),
    ('2400020502000100 01', dict(event_type='duration_begin')),
    ('2400030502000100 01', dict(event_type='duration_end')),
    ('3400040502000100 01 02', dict(event_type='duration_complete', end_time=2)),
    ('3400050502000100 01 f1', dict(event_type='async_begin', async_correlation_id=0xf1)),
    ('3400060502000100 01 f2', dict(event_type='async_instant', async_correlation_id=0xf2)),
    ('3400070502000100 01 f3', dict(event_type='async_end', async_correlation_id=0xf3)),
    ('3400080502000100 01 f4', dict(event_type='flow_begin', flow_correlation_id=0xf4)),
    ('3400090502000100 01 f5', dict(event_type='flow_step', flow_correlation_id=0xf5)),
    ('34000a0502000100 01 f6', dict(event_type='flow_end', flow_correlation_id=0xf6)),
    ("""5401b00502000100 01 10000200 11000200ffffffff 12000200ffffffff 23000200 ffffffffffffffff
      24000200 ffffffffffffffff 25000200 000000000000f83f 360001800380 6b 76616c 27000200 efbe
      28000200 64 1900020001 2a00020003 010203""",
     dict(arguments=[('cat', 'null', None), ('cat', 'int32', -1), ('cat', 'uint32', 2**32 - 1),
                     ('cat', 'int64', -1), ('cat', 'uint64', 2**64 - 1), ('cat', 'double', 1.5),
                     ('k', 'string', 'val'), ('cat', 'pointer', 0xbeef), ('cat', 'koid', 100),
                     ('cat', 'bool', True), ('cat', 'blob', b'\1\2\3')])),
    ('3500020009000300 0102030405060708 09',
     dict(type='blob', name='cat', blob_type=3, payload=bytes(range(1, 10)))),
    ('2500018000000100 62', dict(type='blob', name='b', blob_type=1, payload=b'')),
    ('560000018001 00f0 64 6f 10000200', dict(type='userspace_object', pointer=0xf000,
     process=100, name='o', arguments=[('cat', 'null', None)])),
    ('360005020001 10 10000200', dict(type='userspace_object', pointer=16, process=100,
     name='cat', arguments=[('cat', 'null', None)])),
    ('570002010001 65 38000780 70726f63657373 64',
     dict(type='kernel_object', kernel_object_type=2, koid=101, name='abcdefgh',
          arguments=[('process', 'koid', 100)])),
    ('6800220130000010 0a 65 66 1100030078 1100040000000080',
     dict(type='context_switch', cpu_number=0x12, outgoing_thread_state=3, timestamp=10,
          outgoing_thread_id=101, incoming_thread_id=102, provider=42, size=6, arguments=[
              ('incoming_weight', 'int32', 120), ('outgoing_weight', 'int32', -2**31)])),
    ('4800f0ff5f000010 0a 65 66', dict(cpu_number=0xffff, outgoing_thread_state=5, arguments=[])),
    ('6800320000000020 0b 65 1100050078 28000600 66',
     dict(type='thread_wakeup', cpu_number=3, timestamp=11, waking_thread_id=101, arguments=[
         ('weight', 'int32', 120), ('waker', 'koid', 102)])),
    ('5800010000000020 0b 65 2100068078 776569676874',
     dict(cpu_number=0, arguments=[('weight', 'int32', 120)])),
    ('220005000200 7732', dict(string_index=5, string_value='w2')),
    ('4800010000000020 0b 65 1100050078', dict(arguments=[('w2', 'int32', 120)])),
    ('480007530050f101 0c 07 08',
     dict(type='legacy_context_switch', cpu_number=7, outgoing_thread_state=3, timestamp=12,
          outgoing_thread=T, incoming_thread=(7, 8), outgoing_thread_priority=0x15,
          incoming_thread_priority=0x1f)),
    ('68000005 0c 01 02 03 04', dict(outgoing_thread=(1, 2), incoming_thread=(3, 4))),
    ('49000b0005 0d 68656c6c6f20776f 726c64',
     dict(type='log', timestamp=13, thread=T, log_message='hello world')),
    ('49 0d 07 08', dict(type='log', thread=(7, 8), log_message='')),
    ('5a00504023419000 0e 6c696263 0001020304050607 08',
     dict(type='module', timestamp=14, thread=T, module_id=0x1234, module_name='libc',
          build_id=bytes(range(9)))),
    ('7a0001402351 0f 64 00 0010 0020 0030',
     dict(type='mmap', timestamp=15, thread=(100, 0), module_id=0x1234, flags=5,
          start_address=0x1000, address_range=0x2000, vaddr=0x3000)),
    ('5a005230 10 0a 0b 0c', dict(type='backtrace', thread=T, backtrace_data=[10, 11, 12])),
    ('7f 0200028051 6162 11 10000200 03 010203',
     dict(type='large_blob', blob_format=0, category='cat', name='ab', timestamp=17, thread=T,
          arguments=[('cat', 'null', None)], payload=b'\1\2\3')),
    ('6f 02000100 11 07 08 00', dict(type='large_blob', thread=(7, 8), payload=b'')),
    ('3f0001000001 02000100 0080' + ' 1111111111111111' * 4096,
     dict(type='large_blob', blob_format=1, name='abcdefgh', size=4099, payload=b'\x11' * 32768)),
]
# What follows START, and the one problem it must raise.
DAMAGED = [
    ('1000710000000010', 'reserved bits [60'), ('1000a20200001000', 'reserved bits [52'),
    ('100092', 'provider 9 was not announced'), ('1000a30200001000', 'unknown provider event 1'),
    ('1000a30200000001', 'reserved bits [56'), ('2000710000001000 6101', 'name: padding'),
    ('100005', 'unknown metadata type 5'), ('100014', 'unknown trace info type 1'),
    ('1000044678541700', 'magic number record is'), ('210001 01', 'reserved bits [16'),
    ('21 00', '0 ticks'), ('11', 'tick multiplier: needs'), ('41 01 02 03', '2 extra words'),
    ('220000000100 61', 'index 0 cannot'), ('220009800100 61', 'reserved bits [31'),
    ('220009000180 61', 'reserved bits [47'), ('220009000100 6101', 'string: padding'),
    ('220009000100 ff', 'invalid UTF-8'), ('320009000100 61 00', '1 extra words'),
    ('220009000900 61', 'needs 16 bytes, 8 left'), ('220009000200 6100', 'ends in a NUL'),
    ('22fa0900017d' + ' 6161616161616161' * 4000 + ' 61', 'string of 32001 bytes'),
    ('33 01 02', 'index 0 cannot'), ('33000501 01 02', 'reserved bits [24'),
    ('230005 01', 'thread id: needs'), ('2400000902000100 01', 'thread index 9'),
    ('2400000577000100 01', 'category: string index 119'), ('2400000502007700 01', 'name: string'),
    ('24000b0502000100 01', 'unknown event type 11'), ('2400010502000100 01', 'counter_id: needs'),
    ('3400000502000100 01 02', '1 extra words'), ('3400040502000100 05 02', 'end time is before'),
    ('3400000502000980 01 61', 'name: needs 16 bytes'),
    ('3400100502000100 01 00000200', 'argument 0: size of 0'),
    ('3400100502000100 01 20000200', 'argument 0: size of 2'),
    ('3400200502000100 01 10000200', 'argument 1: needs 8'),
    ('3400100502000100 01 13000200', 'argument 0: value: needs'),
    ('4400200502000100 01 13000200 10000200', 'argument 0: value: needs'),
    ('4400100502000100 01 20000200 00', 'argument 0: 1 extra words'),
    ('3400100502000100 01 1b000200', 'unknown argument type 11'),
    ('3400100502000100 01 10007700', 'argument 0: name: string index 119'),
    ('3400100502000100 01 1000020001', 'argument 0: reserved bits [32'),
    ('3400100502000100 01 1900020002', 'argument 0: reserved bits [33'),
    ('3400100502000100 01 1600020001000100', 'argument 0: reserved bits [48'),
    ('4400100502000100 01 2400020001 07', 'argument 0: reserved bits [32'),
    ('4400100502000100 01 2a00020001 0101', 'blob: padding'),
    ('4400100502000100 01 2a00020009 01', 'blob: needs 16'),
    ('2500020001800100 01', 'reserved bits [47'), ('2500020001000101 01', 'reserved bits [56'),
    ('25000200010000 01', 'unknown blob type 0'), ('25000200010004 01', 'unknown blob type 4'),
    ('2500020001000100 0102', 'payload: padding'), ('260005000010 01', 'reserved bits [44'),
    ('270002000010 65', 'reserved bits [44'),
    ('470002000001 65 2200078064 70726f63657373', 'process is uint32, not koid'),
    ('4800000000010010 0a 65 66', 'reserved bits [40'),
    ('4800000060000010 0a 65 66', 'unknown thread state 6'),
    ('5800010000000010 0a 65 66 23000300', 'argument 0: size of 2'),
    ('3800000010000020 0b 65', 'reserved bits [36'),
    ('4800010000000020 0b 65 1200050001', 'weight is uint32'),
    ('4800010000000020 0b 65 1100060001', 'waker is int32'),
    ('4800010000000020 0b 65 1100770001', 'string index 119'),
    ('5800010000000020 0b 65 2800060001 66', 'reserved bits [32'),
    ('4800010000000020 0b 65 28000600', 'argument 0: size of 2'),
    ('4800000000000020 0b 65 01', '1 extra words'), ('2800000000000020 0b', 'thread id: needs'),
    ('4800020000000020 0b 65 1100050001', 'argument 1: needs'),
    ('3800000000000030 0b 65', 'unknown scheduling record type 3'),
    ('2800005150 0c', 'state is running'), ('2800006550 0c', 'thread index 6 is not'),
    ('2900008005 0d', 'reserved bits [31'), ('290000000501 0d', 'reserved bits [40'),
    ('3900080005 0d ffffffffffffffff', 'log message: invalid UTF-8'),
    ('1a0003', 'unknown profiler record subtype 3'), ('2a00500000000010 0e', 'reserved bits [60'),
    ('5a00000000008000 0e 64 01 0102030405060708', 'thread id is not 0'),
    ('5a005100008000 0f 01 02 03', 'reserved bits [47'), ('4a005100 0f 01 02', 'vaddr: needs'),
    ('2a00520010 10', 'reserved bits [36'), ('3a005220 10 0a', 'backtrace data: needs 16'),
    ('1f00000010', 'unknown large record type 1'), ('2f0000000002 00', 'unknown blob format 2'),
    ('3f0000000011 02000100 00', 'reserved bits [44'),
    ('3f0000000001 0200010001 00', 'format header: reserved bits [32'),
    ('4f 020001005010 11 00', 'format header: reserved bits [44'),
    ('4f0000000001 02000100 09 01', 'payload: needs 16'),
    ('4f0000000001 02000100 01 0101', 'payload: padding'), ('1b', 'unknown record type 11'),
]
# After these there is no telling where the next record starts.
FATAL = [(words('00'), 'record of 0 words'), (words('f8ff000000000010'), 'record of 4095 words'),
         (words('ffffffff0f'), 'record of 4294967295 words'), (b'\x18\0\0', '3 stray bytes')]


class SelfTest:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, good, found):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f'FAILED: {what[:120]}: {found}')

    def good(self):
        data = words(START)
        count = len(list(read(data)))
        data += b''.join(words(text) for text, _ in GOOD)
        reader = read(data)
        records = list(reader)
        self.check('no problems', not reader.problems, reader.problems)
        self.check('record count', len(records) == count + len(GOOD), len(records))
        for record, (text, expected) in zip(records[count:], GOOD):
            found = {key: record.get(key, 'missing') for key in expected}
            self.check(text, found == expected, found)
        found = [(p.id, p.name, p.ticks_per_second) for p in reader.providers.values()]
        self.check('providers', found == [(42, 'test', 10**9), (2**32 - 1, 'a', 10**9),
                                          (7, '', 1000)], found)
        reader = read(data)
        reader.fast = False
        self.check('fast and long way agree', list(reader) == records, '')
        self.fast_path(count)
        return data, records

    def fast_path(self, count):
        reader = read(words(START) + b''.join(
            words(text) for text, _ in GOOD if text.startswith(('68002', '68003', '4800f'))))
        for _ in range(count):
            next(reader)
        reader._record = lambda *at: 'slow'
        rest = list(reader)
        self.check('fast path is taken', len(rest) == 3 and 'slow' not in rest, rest)

    def damaged(self):
        last = words('4800000000000010 0a 65 66')
        for text, expected in DAMAGED:
            reader = read(words(START) + words(text) + last)
            *_, bad, end = reader
            at = [(len(words(START)), t) for _, t in reader.problems]
            self.check(text, len(at) == 1 and reader.problems == at and expected in at[0][1]
                       and bad.get('damaged') and end['type'] == 'context_switch'
                       and 'damaged' not in end, reader.problems)
        for raw, expected in FATAL:
            reader = read(words(START) + raw)
            list(reader)
            self.check(expected, len(reader.problems) == 1 and expected in reader.problems[0][1],
                       reader.problems)

    def whole_file(self, data, records):
        packer = zlib.compressobj(wbits=31)
        packed = packer.compress(data) + packer.flush()
        self.check('gzip', list(read(packed)) == records, '')
        for what, raw in (('gzip: cut off', packed[:-9]), ('gzip: ', packed + b'tail'),
                          ('magic number record is missing', data[8:]), ('is missing', b''),
                          ('big endian', data[7::-1])):
            reader = read(raw)
            list(reader)
            self.check(what, any(what in text for _, text in reader.problems), reader.problems)
        try:
            self.check('strict', list(read(data, strict=True)) == records, '')
            list(read(data + b'x', strict=True))
            self.check('strict raises', False, '')
        except FxtError:
            self.check('strict raises', True, '')

    def noise(self, data):
        """Whatever the bytes, every record is either read or complained about."""
        data = data[:data.rindex(words('3f0001000001'))]
        for at in range(len(data)):
            for flip in (0xff, 1 << at % 8):
                raw = bytearray(data)
                raw[at] ^= flip
                list(read(raw))
            list(read(data[:at]))
        self.check('noise', True, '')


def self_test():
    test = SelfTest()
    data, records = test.good()
    test.damaged()
    test.whole_file(data, records)
    test.noise(data)
    print(f'{test.passed} passed, {test.failed} failed')
    return 1 if test.failed else 0


# Command

def brief(value):
    if isinstance(value, bytes):
        return value.hex() if len(value) <= 32 else f'<{len(value)} bytes>'
    return repr(value)


def text_line(record):
    rest = (f'{key}={brief(value)}' for key, value in record.items()
            if key not in ('offset', 'type'))
    return f'{record["offset"]:>10} {record["type"]} ' + ' '.join(rest)


def json_line(record):
    try:
        return json.dumps(record, default=bytes.hex, allow_nan=False)
    except ValueError:  # only a double argument can be infinite or not a number
        arguments = [(name, kind, repr(value) if kind == 'double' else value)
                     for name, kind, value in record['arguments']]
        return json.dumps(record | {'arguments': arguments}, default=bytes.hex)


def show(reader, as_json, only):
    count = 0
    for record in reader:
        count += 1
        if only in (None, record['type'], record.get('event_type')):
            print(json_line(record) if as_json else text_line(record))
    sys.stdout.flush()
    for offset, text in reader.problems:
        print(f'{offset}: {text}', file=sys.stderr)
    print(f'{count} records, {len(reader.problems)} problems', file=sys.stderr)
    return 3 if reader.problems else 0


def main():
    parser = argparse.ArgumentParser(description='Reads and checks a trace in Fuchsia format.')
    parser.add_argument('file', nargs='?')
    parser.add_argument('--json', action='store_true', help='one JSON object per line')
    parser.add_argument('--type', help='only records (or events) of this type')
    parser.add_argument('--self-test', action='store_true')
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.file is None:
        parser.error('FILE is missing')
    try:
        reader = read(options.file)
    except OSError as error:
        print(f'{options.file}: {error.strerror}', file=sys.stderr)
        return 1
    sys.stdout.reconfigure(encoding='utf-8', errors='backslashreplace')
    try:
        return show(reader, options.json, options.type)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


if __name__ == '__main__':
    sys.exit(main())
