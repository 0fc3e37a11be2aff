#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Trace Event JSON as text: its events and members, whatever is wrong with it; for tests.

Goes by the public description of the format and of JSON, and by what files of its producers have:
arrays that do not end, commas too many or too few, control characters and unknown escapes in
strings, words of Python and JavaScript. Numbers stay decimal. Shares nothing with kfxt.

Of an event the first level must be JSON: if not, the event is damaged and the next one begins after
its last bracket. What is nested only has to have its brackets and quotes in pairs.
"""
import collections
import decimal
import re

BLANKS = re.compile(r'[ \t\r\n]*')
NUMBER = re.compile(r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?')
INTEGER = re.compile(r'0|-?[1-9][0-9]*')
SCALAR = re.compile(r'[^,}\]"{\[: \t\r\n]+')
# A quote closes a string, but not after a backslash.
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]|"', re.DOTALL)
ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([bfnrt"\\/])|)')
LETTERS = {'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\', '/': '/'}
WORDS = {'true': True, 'false': False, 'null': None}
# What is written in place of a value of JSON; kept as text.
FOREIGN = {'NaN', 'nan', '-nan', 'Infinity', '-Infinity', 'inf', '-inf', 'None', 'True', 'False', 'undefined'}


class Damaged(Exception):
    """What is not JSON where it must be."""


class Cut(Exception):
    """The text ends first."""


class Word(str):
    """A word that is no JSON."""


class Number(decimal.Decimal):
    """A number with a point or an exponent and, in .text, how it was written."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self


def number(text):
    return int(text) if INTEGER.fullmatch(text) else Number(text)


class Text:
    """
    .events: dicts in their order, with None for each that is empty; .members of an object;
    .counts: of "damaged event", "not an object", "missing comma", "stray comma", "bad escape"
    (strings that have one), "another array", "no JSON value" (events) and duplicate members;
    .error: "ends early", "trailing data", "no traceEvents", "no JSON", "damaged" or None.
    """

    def __init__(self, text):
        self.text, self.at = text.removeprefix('\ufeff'), 0
        self.events, self.members, self.counts = [], {}, collections.Counter()
        self.is_array = self.has_list = False
        self.foreign = False
        try:
            self.error = self.read()
        except Cut:
            self.error = 'ends early'
        except Damaged:
            self.error = 'damaged'
        if self.error is None and (self.counts['damaged event'] or self.counts['bad escape']):
            self.error = 'damaged'

    def peek(self):
        self.at = BLANKS.match(self.text, self.at).end()
        return self.text[self.at:self.at + 1]

    def read(self):
        first = self.peek()
        self.is_array = first == '['
        if first not in ('[', '{') or not first:
            return 'no JSON'
        self.at += 1
        if self.is_array:
            closed = self.read_events()
        else:
            self.read_members()
            closed = True
        if not self.has_list and 'systemTraceEvents' not in self.members:
            return 'no traceEvents'
        return 'trailing data' if closed and self.peek() else None

    # ---- the outermost object --------------------------------------------------------

    def read_members(self):
        while (c := self.peek()) != '}':
            if c == ',':
                self.at += 1
                continue
            if not c:
                raise Cut
            key = self.key()
            if self.peek() == '[' and key == 'traceEvents':
                self.at += 1
                if not self.read_events():
                    raise Cut
            else:
                self.members[key] = self.value()
        self.at += 1

    # ---- the list of events ----------------------------------------------------------

    def read_events(self):
        """False: the text ends before the list does."""
        commas, elements, inner, self.has_list = 0, 0, 0, True
        while (c := self.peek()) != ']' or inner:
            if not c:
                return False
            # A list of events in the list is no element, they are; a second run that is appended begins so.
            begins = c == '[' and self.text[BLANKS.match(self.text, self.at + 1).end():][:1] == '{'
            self.counts['another array'] += begins
            if c in ',]' or begins:
                commas += c == ','
                inner += begins - (c == ']')
                self.at += 1
                continue
            self.counts['missing comma'] += bool(elements and not commas)
            self.counts['stray comma'] += max(0, commas - bool(elements))
            commas, elements = 0, elements + 1
            self.read_element(c)
        self.counts['stray comma'] += max(0, commas - 1)
        self.at += 1
        return True

    def read_element(self, c):
        begin = self.at
        if c != '{':
            self.counts['not an object'] += 1
            self.skip()
            return
        self.foreign = False
        try:
            event = self.event()
        except Damaged:
            self.counts['damaged event'] += 1
            self.at = begin
            self.at = self.nested_end()
            return
        self.events.append(event or None)
        self.counts['no JSON value'] += self.foreign

    def event(self):
        """One event; strict."""
        found, self.at = {}, self.at + 1
        more = self.peek() != '}'
        while more:
            key = self.key()
            self.counts['duplicate'] += key in found
            c = self.peek()
            found[key] = self.nested() if c in '{[' else self.string() if c == '"' else self.scalar()
            if more := self.peek() == ',':
                self.at += 1
                more = self.peek() != '}'
            elif self.peek() != '}':
                raise Damaged if self.peek() else Cut
        self.at += 1
        return found

    def key(self):
        """A name and its colon."""
        if self.peek() != '"':
            raise Damaged if self.peek() else Cut
        key = self.string()
        if self.peek() != ':':
            raise Damaged if self.peek() else Cut
        self.at += 1
        return key

    # ---- values ------------------------------------------------------------------------

    def string(self):
        match = STRING.match(self.text, self.at)
        if not match:
            raise Cut if self.text[self.at:self.at + 1] == '"' else Damaged
        self.at = match.end()
        return self.decode(match[1])

    def decode(self, raw):
        if '\\' not in raw:
            return raw
        bad = 0

        def one(match):
            nonlocal bad
            if match[1]:
                return chr(int(match[1], 16))
            bad += not match[2]
            return LETTERS[match[2]] if match[2] else '\\'

        text = ESCAPE.sub(one, raw)
        self.counts['bad escape'] += bad > 0
        # Pairs of surrogates become characters, others U+FFFD.
        return text.encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'replace')

    def scalar(self):
        match = SCALAR.match(self.text, self.at)
        if (match.end() if match else self.at) == len(self.text):
            raise Cut
        word = match[0] if match else ''
        if NUMBER.fullmatch(word):
            self.at = match.end()
            return number(word)
        if word not in WORDS and word not in FOREIGN:
            raise Damaged
        self.at = match.end()
        if word in WORDS:
            return WORDS[word]
        self.foreign = True
        return Word(word)

    def nested_end(self):
        """After the bracket that closes the one here."""
        depth = 0
        for match in BRACKETS.finditer(self.text, self.at):
            if match[0] == '"':
                break
            depth += (match[0] in '{[') - (match[0] in '}]')
            if not depth:
                return match.end()
        raise Cut

    def nested(self):
        """An object or a list; None if it is damaged inside."""
        begin, end = self.at, self.nested_end()
        try:
            value = self.value()
        except Damaged:
            value = None
        if self.at != end or value is None:
            self.counts['damaged args'] += 1
            value = None
        self.at = end
        assert begin < end
        return value

    def value(self):
        """Any value, and what is in it; without recursion, as it may be deep."""
        stack, result = [], None
        while True:
            c = self.peek()
            if c and c in '{[':
                self.at += 1
                stack.append(({} if c == '{' else [], None))
                if not self.enter(stack):
                    continue
                result = stack.pop()[0]
            else:
                result = self.string() if c == '"' else self.scalar()
            while stack:
                self.put(stack, result)
                if not self.enter(stack):
                    break
                result = stack.pop()[0]
            else:
                return result

    @staticmethod
    def put(stack, value):
        container, key = stack[-1]
        if isinstance(container, dict):
            container[key] = value
        else:
            container.append(value)

    def enter(self, stack):
        """To the next value of the innermost container; True if there is none and it was closed."""
        container = stack[-1][0]
        if container and self.peek() == ',':
            self.at += 1
        elif container and self.peek() not in ('}', ']'):
            raise Damaged if self.peek() else Cut
        if self.peek() == ('}' if isinstance(container, dict) else ']'):
            self.at += 1
            return True
        if isinstance(container, dict):
            stack[-1] = (container, self.key())
        return False

    def skip(self):
        """An element that is no object: one character at least."""
        c = self.text[self.at]
        if c in '{[':
            self.at = self.nested_end()
        elif c == '"':
            match = STRING.match(self.text, self.at)
            if not match:
                raise Cut
            self.at = match.end()
        else:
            self.at += 1
            while self.at < len(self.text) and self.text[self.at] not in ',"{[}] \t\r\n':
                self.at += 1
