#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""libyajl, a strict parser of JSON, judges the scanner of Trace Event JSON.

    json_yajl_test.py BUILD_DIR

Of every sample and of 300 made up files that are JSON to libyajl, the scanner must find the same
events, with the same members: strings of the same characters, numbers of the same digits.
"""
import ctypes
import glob
import gzip
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, HERE)
import json_made  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
SCANNER = os.path.join(BUILD, 'tests', 'scan_records')
FILES = 300
LEAST = 150             # of them must be JSON, or nothing would be proved
MARK = b'\xef\xbb\xbf'  # of byte order; libyajl takes none


sys.setrecursionlimit(20000)     # a sample is 2000 levels deep


class Number(str):
    """As it was written."""


class Object(list):
    """Pairs of names and values, in the order of the text."""


class Yajl:
    """Values of JSON through callbacks, as they are called in yajl_parse.h."""

    def __init__(self, library):
        self.lib = library
        self.lib.yajl_alloc.restype = ctypes.c_void_p
        self.stack = []
        void, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char)
        plain, flag, of_text = (ctypes.CFUNCTYPE(ctypes.c_int, void, *more)
                                for more in ((), (ctypes.c_int,), (text, size)))
        self.callbacks = (ctypes.c_void_p * 11)()
        # null, boolean, integer, double, number, string, start_map, map_key, end_map, start_array, end_array
        self.kept = [
            plain(lambda _: self.put(None)), flag(lambda _, v: self.put(bool(v))), None, None,
            of_text(lambda _, p, n: self.put_text(p[:n], Number)), of_text(lambda _, p, n: self.put_text(p[:n], str)),
            plain(lambda _: self.push(Object())), of_text(lambda _, p, n: self.put_text(p[:n], str)),
            plain(lambda _: self.pop()), plain(lambda _: self.push([])), plain(lambda _: self.pop()),
        ]
        for i, fn in enumerate(self.kept):
            self.callbacks[i] = ctypes.cast(fn, ctypes.c_void_p).value if fn else None

    def put(self, value):
        self.stack[-1].append(value)
        return 1

    def put_text(self, data, kind):
        """0 ends the parsing: half a pair of surrogates, which is no text."""
        try:
            return self.put(kind(data.decode()))
        except UnicodeDecodeError:
            return 0

    def push(self, container):
        self.put(container)
        self.stack.append(container)
        return 1

    def pop(self):
        self.stack.pop()
        return 1

    def parse(self, data):
        """The value of the text; None: it is no JSON."""
        top = []
        self.stack = [top]
        handle = ctypes.c_void_p(self.lib.yajl_alloc(self.callbacks, None, None))
        try:
            bad = self.lib.yajl_parse(handle, data, ctypes.c_size_t(len(data)))
            bad = bad or self.lib.yajl_complete_parse(handle)
        finally:
            self.lib.yajl_free(handle)
        return None if bad or not top else top[0]


def pairs(found):
    return zip(found[::2], found[1::2])


def events_of(whole):
    """Of the container; an event without members is none."""
    if not isinstance(whole, Object):
        lists = [whole]
    else:
        lists = [value for name, value in pairs(whole) if name == 'traceEvents' and type(value) is list]
    return [dict(pairs(e)) for events in lists for e in events if isinstance(e, Object) and e]


def scanned(path, yajl):
    """The events that the scanner finds; what is not a string or a number is parsed by the judge."""
    done = subprocess.run([SCANNER, path], capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(f'exit code {done.returncode}')
    found = []
    for line in done.stdout.decode().splitlines():
        kind, *rest = line.split(' ')
        if kind == 'event':
            found.append({})
        elif kind == 'file':
            problem = ' '.join(rest)
        else:
            name, value = (bytes.fromhex(h) for h in rest)
            if kind == 'other':
                value = yajl.parse(b'[' + value + b']')[0]
            else:
                value = (Number if kind == 'number' else str)(value.decode())
            found[-1][name.decode()] = value
    if problem:
        raise AssertionError(problem)
    return found


def same(a, b):
    """With types: a number is not the string of its digits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b


def judge(data, tmp, yajl):
    """False: it is no JSON."""
    whole = yajl.parse(data.removeprefix(MARK))
    if not isinstance(whole, list):
        return False
    path = os.path.join(tmp, 'in.json')
    with open(path, 'wb') as file:
        file.write(data)
    want, got = events_of(whole), scanned(path, yajl)
    if len(want) != len(got):
        raise AssertionError(f'{len(got)} events, not {len(want)}')
    for nr, (e, f) in enumerate(zip(want, got)):
        if e.keys() != f.keys() or not all(same(e[key], f[key]) for key in e):
            raise AssertionError(f'event {nr}: {str(f)[:500]}, not {str(e)[:500]}')
    return True


def inputs():
    for path in sorted(glob.glob(os.path.join(TESTS, 'corpus', 'json', '*'))):
        if os.path.isfile(path) and not path.endswith('.facts.json'):
            with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as file:
                yield os.path.basename(path), file.read()
    for seed in range(FILES):
        yield f'seed {seed}', json_made.make(seed, damage=False)


def main():
    passed = failed = others = 0
    try:
        yajl = Yajl(ctypes.CDLL('libyajl.so.2'))
    except OSError as error:
        print(f'ok - libyajl # SKIP {error}\njson_yajl: 0 passed, 0 failed, 1 skipped')
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, data in inputs():
            try:
                is_json = judge(data, tmp, yajl)
                passed += is_json
                others += not is_json
            except (AssertionError, ValueError, TypeError) as error:
                failed += 1
                print(f'not ok - {name}\n# {type(error).__name__}: {error}')
    if passed + failed < LEAST:
        failed += 1
        print(f'not ok - enough files\n# {passed + failed} are JSON')
    print(f'# {others} files are no JSON to libyajl')
    print(f'json_yajl: {passed} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
