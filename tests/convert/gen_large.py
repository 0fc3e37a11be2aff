#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""gen_large.py - make a large but realistic ftrace text trace out of a real one.

The sample's records are repeated; each repetition is moved later in time by the
sample's own span (+ a gap), so time never goes backwards between repetitions and
every per-CPU chain of sched_switch stays plausible.  Optionally the thread ids are
moved too (--tid-variants), so that tables of threads grow as in a long recording.

  gen_large.py --mb 1024 -o big.txt [--in sample.txt[.gz]] [--tid-variants 8]
               [--facts big.facts.json] [--crlf]

Without --in the mixed 4-CPU sample beside this script is used (sched, irq,
workqueue, power, task, signal, timers, atrace markers, TGID column).
Works on any text with "sec.micros:" or integer time stamps in the
"TASK-PID [TGID] [CPU] flags TIME: rest" form; function_graph text without
time stamps is repeated as it is.
"""
import argparse, collections, gzip, json, os, re, sys, time

LINE = re.compile(rb'^(.{16,}?-\d+\s+(?:\([ \d-]+\)\s)?\[\d{3,}\]\s+(?:[.a-zA-Z]{3}[0-9a-f.]{1,4})?)(\s+)(\d+\.\d{6}|\d+)(: .*)$', re.S)
LEFT = re.compile(rb'-(\d+)(\s+)(?:\(\s*(\d+)\)\s)?\[')
ARGPID = re.compile(rb'\b((?:prev_|next_|child_|parent_|old_)?pid=)(\d+)|(\|?)\b([BECSFIN]\|)(\d+)')

def shift_tids(line, off):
    """line = text before the time / after it; add off to every tid but 0..2"""
    def arg(m):
        if m.group(1):
            v = int(m.group(2)); return m.group(1) + b'%d' % (v + off if v > 2 else v)
        v = int(m.group(5)); return m.group(3) + m.group(4) + b'%d' % (v + off if v > 2 else v)
    return ARGPID.sub(arg, line)

def shift_left(head, off):
    # head starts with a 16 byte name column, '-', tid
    m = re.match(rb'^(.{16,}?)-(\d+)(\s*)(\(\s*(\d+)\)\s|\(-+\)\s)?(\[.*)$', head, re.S)
    if not m: return head
    tid = int(m.group(2)); tid = tid + off if tid > 2 else tid
    out = m.group(1) + b'-%-7d ' % tid
    if m.group(5) is not None:
        t = int(m.group(5)); out += b'(%7d) ' % (t + off if t > 2 else t)
    elif m.group(4): out += m.group(4)
    return out + m.group(6)

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--mb', type=float, required=True, help='size wanted, in units of 10^6 bytes')
    ap.add_argument('--in', dest='inp', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'base-mixed-6.12.txt.gz'))
    ap.add_argument('-o', '--out', required=True)
    ap.add_argument('--facts'); ap.add_argument('--gap-us', type=int, default=1000)
    ap.add_argument('--tid-variants', type=int, default=1); ap.add_argument('--tid-step', type=int, default=1000)
    ap.add_argument('--crlf', action='store_true')
    a = ap.parse_args()
    raw = open(a.inp, 'rb').read()
    if raw[:2] == b'\x1f\x8b': raw = gzip.decompress(raw)
    lines = raw.split(b'\n')
    if lines and lines[-1] == b'': lines.pop()
    n_head = 0
    while n_head < len(lines) and lines[n_head].startswith(b'#'): n_head += 1
    head, body = lines[:n_head], lines[n_head:]
    items, ts, dotted, width = [], [], True, 12
    for l in body:
        m = LINE.match(l)
        if m:
            t = m.group(3)
            if b'.' in t: s, u = t.split(b'.'); v = int(s) * 1000000 + int(u)
            else: v = int(t); dotted = False
            ts.append(v); width = len(m.group(2)) + len(t); items.append((m.group(1), v, m.group(4), width))
        else: items.append((None, 0, l, 0))
    span = (max(ts) - min(ts) + a.gap_us) if ts else 0
    names = collections.Counter(); lost = 0
    for h, v, r, w in items:
        if h is not None:
            m = re.match(rb': ([A-Za-z_]\w*): ', r); names[m.group(1).decode() if m else '(no event name)'] += 1
    variants = []
    for k in range(max(1, a.tid_variants)):
        off = k * a.tid_step
        if off == 0: variants.append([(h, v, r, w) for h, v, r, w in items])
        else: variants.append([(shift_left(h, off), v, shift_tids(r, off), w) if h is not None else (h, v, r, w) for h, v, r, w in items])
    eol = b'\r\n' if a.crlf else b'\n'
    want = int(a.mb * 1e6); per = sum(len(x) + len(eol) for x in body); reps = max(1, -(-(want - sum(map(len, head))) // per)) if per else 0
    tot = len(ts) * reps
    t0 = time.time(); size = 0
    with open(a.out, 'wb', buffering=1 << 22) as f:
        for l in head:
            l = re.sub(rb'(entries-in-buffer/entries-written: )\d+/\d+', lambda m: m.group(1) + b'%d/%d' % (tot, tot), l)
            size += f.write(l + eol)
        for rep in range(reps):
            d = rep * span; out = []; ap_ = out.append
            for h, v, r, w in variants[rep % len(variants)]:
                if h is None: ap_(r)
                else:
                    v += d
                    t = b'%d.%06d' % divmod(v, 1000000) if dotted else b'%d' % v
                    pad = w - len(t)
                    ap_(h + b' ' * (pad if pad > 0 else 1) + t + r)
            size += f.write(eol.join(out) + eol)
    F = dict(file=os.path.basename(a.out), bytes=size, base=os.path.basename(a.inp), repetitions=reps, tid_variants=len(variants), lines=len(head) + len(body) * reps,
             records=tot, other_lines=(len(body) - len(ts)) * reps, records_by_printed_name={k: v * reps for k, v in sorted(names.items())},
             first=('%d.%06d' % divmod(min(ts), 1000000) if dotted else str(min(ts))) if ts else None, last=('%d.%06d' % divmod(max(ts) + (reps - 1) * span, 1000000) if dotted else str(max(ts) + (reps - 1) * span)) if ts else None,
             cpus=sorted({int(re.search(rb'\[(\d+)\]', h[17:]).group(1)) for h, *_ in items if h}))
    if a.facts: json.dump(F, open(a.facts, 'w'), indent=1); open(a.facts, 'a').write('\n')
    print(json.dumps({k: F[k] for k in ('file', 'bytes', 'repetitions', 'lines', 'records', 'first', 'last')}), '%.1f s' % (time.time() - t0), file=sys.stderr)
main()
