#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes N MB of Trace Event JSON, the same bytes for the same options.

    gen_json.py --mb 1024 -o big.json --facts big.facts.json
    gen_json.py --mb 256 --style chrome --form array --pretty -o c.json

Styles: chrome (B/E, X with tts/tdur, async b/n/e with id and id2, legacy S/T/F,
counters of two series, instants of all scopes, object snapshots, flows v2,
ProfileChunk), torch (X with big args, flows s/f bp=e, instants, string pids,
pid -1), mixed (both, interleaved). Forms: object, array, open (an array that is
never closed, each event with its comma). Facts are counted while writing.
"""
import argparse, json, random, sys

NAMES = ['ThreadControllerImpl::RunTask', 'SimpleWatcher::OnHandleReady', 'Layout', 'Paint', 'UpdateLayerTree',
         'V8.GCScavenger', 'FunctionCall', 'EvaluateScript', 'Graphics.Pipeline', 'ResourceReceivedData',
         'BlinkScheduler_PerformMicrotaskCheckpoint', 'Receive mojo message']
OPS = ['aten::linear', 'aten::addmm', 'aten::conv2d', 'aten::cudnn_convolution', 'aten::batch_norm', 'aten::relu_',
       'aten::max_pool2d', 'autograd::engine::evaluate_function: AddmmBackward0', 'Optimizer.step#SGD.step']
KERNELS = ['void cutlass::Kernel2<cutlass_80_wmma_tensorop_s161616gemm_f16_16x16_128x1_tn_align8>(Params)',
           'void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int, float*)',
           'Memcpy HtoD (Pageable -> Device)']


class Writer:
    def __init__(self, out, pretty):
        self.out, self.buf, self.n, self.pretty = out, [], 0, pretty
        self.first = True
        self.by, self.lo, self.hi = {}, None, None
        self.slices = self.begins = self.ends = self.samples = self.arrows = self.async_ = 0

    def raw(self, s):
        self.buf.append(s)
        self.n += len(s)
        if len(self.buf) > 4096:
            self.flush()

    def flush(self):
        self.out.write(''.join(self.buf).encode())
        self.buf = []

    def ev(self, ph, body, lo=None, hi=None):
        self.by[ph] = self.by.get(ph, 0) + 1
        if lo is not None:
            if self.lo is None or lo < self.lo: self.lo = lo
            if hi is None: hi = lo
            if self.hi is None or hi > self.hi: self.hi = hi
        sep = '' if self.first else ',\n'
        self.first = False
        self.raw(sep + ('  ' + body.replace(',"', ', "').replace('":', '": ') if self.pretty else body))


def us(ns):
    return '%d.%03d' % (ns // 1000, ns % 1000)


def chrome(w, r, t, i):
    """A frame of three processes from ns t on; about 10 kB."""
    for pid, tid in ((1200, 1200), (1300, 7), (1400, 14)):
        a = t
        for k in range(6):
            d = r.randrange(20, 200)
            nm = NAMES[(i + k) % len(NAMES)]
            w.ev('B', '{"args":{"src_file":"../../base/task/sequence.cc","src_func":"Run%d"},"cat":"toplevel","name":"%s",'
                 '"ph":"B","pid":%d,"tid":%d,"ts":%d}' % (k, nm, pid, tid, a // 1000), a // 1000 * 1000)
            b = a // 1000 + 2
            for m in range(3):
                dd = r.randrange(1, 5)
                w.ev('X', '{"pid":%d,"tid":%d,"ts":%d,"ph":"X","cat":"devtools.timeline,v8","name":"%s","dur":%d,"tdur":%d,'
                     '"tts":%d,"args":{"data":{"stackTrace":[{"functionName":"f%d","scriptId":"%d","url":"https://example.test/app.js"'
                     ',"lineNumber":%d,"columnNumber":%d}],"frame":"%032X"}}}' %
                     (pid, tid, b, NAMES[(i + k + m + 3) % len(NAMES)], dd, max(dd - 1, 0), b - 4000000000, m, 10 + m,
                      r.randrange(1, 5000), r.randrange(1, 200), r.getrandbits(128)), b * 1000, (b + dd) * 1000)
                w.slices += 1
                b += dd + 1
            e = max(a // 1000 + d, b + 1)
            w.ev('E', '{"ph":"E","pid":%d,"tid":%d,"ts":%d}' % (pid, tid, e), e * 1000)
            w.slices += 1; w.begins += 1; w.ends += 1
            a = (e + 3) * 1000
    u = t // 1000
    ident = '0x%x' % (0x7f0000000000 + i * 64)
    for ph, dt, args in (('b', 5, '{"url":"https://example.test/%d"}' % i), ('n', 40, '{}'), ('e', 90, '{"status":200}')):
        w.ev(ph, '{"cat":"loading","id":"%s","name":"ResourceLoad","ph":"%s","pid":1200,"tid":1200,"ts":%d,"args":%s}'
             % (ident, ph, u + dt, args), (u + dt) * 1000)
        w.async_ += 1
    for ph, dt in (('b', 7), ('e', 80)):
        w.ev(ph, '{"cat":"benchmark,latency","id2":{"local":"0x%x"},"name":"PipelineReporter","ph":"%s","pid":1300,"tid":7,'
             '"ts":%d,"args":{"frame":{"sequence":%d,"big":%d}}}' % (i, ph, u + dt, i, 2 ** 63 + i), (u + dt) * 1000)
        w.async_ += 1
    for ph, dt in (('S', 8), ('T', 20), ('F', 30)):
        w.ev(ph, '{"cat":"old","id":%d,"name":"Legacy","ph":"%s","pid":1400,"tid":14,"ts":%d,"args":{"step":"s"}}'
             % (i, ph, u + dt), (u + dt) * 1000)
        w.async_ += 1
    w.ev('C', '{"cat":"memory","name":"V8.Heap","ph":"C","pid":1300,"tid":7,"ts":%d,"args":{"used":%d,"free":%.2f}}'
         % (u, r.randrange(1 << 28), r.random() * 1000), u * 1000)
    w.samples += 2
    for s in 'tpg':
        w.ev('I', '{"args":{},"cat":"input","name":"Mark-%s","ph":"I","pid":1200,"tid":1200,"ts":%d,"s":"%s"}' % (s, u + 3, s),
             (u + 3) * 1000)
    for flag, dt in (('"flow_out":true', 1), ('"flow_in":true', 60)):
        w.ev('X', '{"bind_id":"0x%x","cat":"ipc","dur":1,%s,"name":"MessagePipe","ph":"X","pid":1400,"tid":99,"ts":%d}'
             % (0x10000 + i, flag, u + dt), (u + dt) * 1000, (u + dt + 1) * 1000)
        w.slices += 1
    w.arrows += 1
    if i % 50 == 0:
        nodes = ','.join('{"callFrame":{"functionName":"fn%d","scriptId":"%d","url":""},"id":%d%s}'
                         % (k, k, k + 1, ',"parent":%d' % k if k else '') for k in range(40))
        w.ev('P', '{"cat":"disabled-by-default-v8.cpu_profiler","id":"0x3","name":"ProfileChunk","ph":"P","pid":1300,"tid":22,'
             '"ts":%d,"args":{"data":{"cpuProfile":{"nodes":[%s],"samples":[%s]},"timeDeltas":[%s]}}}'
             % (u, nodes, ','.join(str(1 + k % 40) for k in range(100)), ','.join('99' for k in range(100))), u * 1000)
    if i % 20 == 0:
        w.ev('O', '{"cat":"cc","id":"0x5f","name":"cc::LayerTreeHostImpl","ph":"O","pid":1300,"tid":7,"ts":%d,"args":{"snapshot":'
             '{"tree":[[[{"quad":[1.5,2,3,4e-7,%d]}]]],"text":"\\u00e4 \\ud83d\\ude00 \\"q\\" \\\\ \\n"}}}' % (u, i), u * 1000)


def torch(w, r, t, i, corr):
    """A step on one CPU thread and one GPU stream from ns t on; about 9 kB."""
    start, a = t, t + 1500
    body = []
    for k in range(8):
        op = OPS[(i + k) % len(OPS)]
        d = r.randrange(9000, 60000)
        w.ev('X', '{"ph":"X","cat":"cpu_op","name":"%s","pid":2074,"tid":2074,"ts":%s,"dur":%s,"args":{"External id":%d,'
             '"Ev Idx":%d,"Input Dims":[[%d,768],[768],[768,768]],"Concrete Inputs":["","","1"],"Sequence number":%d}}'
             % (op, us(a), us(d), corr, corr, 1 << (k % 8), i), a, a + d)
        l = a + r.randrange(500, 3000)
        ld = r.randrange(1000, 5000)
        w.ev('X', '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":2074,"tid":2074,"ts":%s,"dur":%s,"args":{'
             '"External id":%d,"cbid":211,"correlation":%d}}' % (us(l), us(ld), corr, corr), l, l + ld)
        w.ev('s', '{"ph":"s","id":%d,"pid":2074,"tid":2074,"ts":%s,"cat":"ac2g","name":"ac2g"}' % (corr, us(l)), l)
        w.ev('i', '{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":2074,"tid":2074,"ts":%s,"args":{'
             '"Total Reserved":%d,"Addr":%d,"Bytes":-%d,"Device Id":0}}' % (us(l + ld + 7), 2 ** 31, 139900000000000 + corr * 512, 512), l + ld + 7)
        g = l + 60000 + k * 7000 - l % 1000
        g = max(g, w.gpu + 10)
        gd = r.randrange(1000, 6900)
        w.ev('X', '{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%s,"dur":%s,"args":{"External id":%d,"queued":0,'
             '"device":0,"context":1,"stream":7,"correlation":%d,"registers per thread":32,"grid":[%d,1,1],"block":[128,1,1],'
             '"est. achieved occupancy %%":%d,"warps per SM":%.4f}}'
             % (KERNELS[k % 3], us(g), us(gd), corr, corr, r.randrange(1, 4096), r.randrange(100), r.random() * 60), g, g + gd)
        w.ev('f', '{"ph":"f","id":%d,"pid":0,"tid":7,"ts":%s,"cat":"ac2g","name":"ac2g","bp":"e"}' % (corr, us(g)), g)
        w.gpu = g + gd
        w.slices += 3; w.arrows += 1
        corr += 1
        a += d + r.randrange(100, 900)
    w.ev('X', '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":2074,"tid":2074,"ts":%s,"dur":%s}'
         % (i, us(start), us(a - start + 5)), start, a + 5)
    w.slices += 1
    return corr


def meta(w):
    for pid, name in ((1200, 'Browser'), (1300, 'Renderer'), (1400, 'GPU Process'), (2074, 'python'), (0, 'python'), (-1, '')):
        w.ev('M', '{"name":"process_name","ph":"M","ts":0,"pid":%d,"tid":0,"args":{"name":"%s"}}' % (pid, name))
        w.ev('M', '{"name":"process_sort_index","ph":"M","ts":0,"pid":%d,"tid":0,"args":{"sort_index":%d}}' % (pid, pid & 0xffff))
    for pid, tid, name in ((1200, 1200, 'CrBrowserMain'), (1300, 7, 'CrRendererMain'), (1400, 14, 'CrGpuMain'),
                           (1400, 99, 'Chrome_ChildIOThread'), (2074, 2074, 'thread 2074 (python)'), (0, 7, 'stream 7 ')):
        w.ev('M', '{"name":"thread_name","ph":"M","ts":0,"pid":%d,"tid":%d,"args":{"name":"%s"}}' % (pid, tid, name))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--mb', type=float, required=True, help='size, in units of 10^6 bytes; a little more is written')
    p.add_argument('-o', required=True, help='output; - is standard output')
    p.add_argument('--style', choices=('mixed', 'chrome', 'torch'), default='mixed')
    p.add_argument('--form', choices=('object', 'array', 'open'), default='object')
    p.add_argument('--pretty', action='store_true', help='blanks as pretty printers write them')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--facts', help='write what is in it')
    a = p.parse_args()
    r = random.Random(a.seed)
    out = sys.stdout.buffer if a.o == '-' else open(a.o, 'wb')
    w = Writer(out, a.pretty)
    w.gpu = 0
    if a.form == 'object':
        w.raw('{\n"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU","totalGlobalMem":25769279488}],"displayTimeUnit":"ms",'
              '"baseTimeNanoseconds":1712345678000000000,\n"traceEvents":[\n')
    else:
        w.raw('[\n')
    meta(w)
    t, i, corr = 4619295550000000, 0, 1
    while w.n < a.mb * 1e6:
        if a.style != 'torch':
            chrome(w, r, t, i)
        if a.style != 'chrome':
            corr = torch(w, r, t, i, corr)
        t += 2000000 + r.randrange(1000) * 1000
        i += 1
    if a.form == 'object':
        w.raw('\n],\n"stackFrames":{"1":{"name":"main","category":"app"},"2":{"parent":"1","name":"run"}},"samples":[],'
              '"metadata":{"highres-ticks":true,"clock-domain":"LINUX_CLOCK_MONOTONIC"},"otherData":{"version":"gen_json"},'
              '"traceName":"gen"\n}\n')
    elif a.form == 'array':
        w.raw('\n]\n')
    else:
        w.raw(',\n')
    w.flush()
    if a.o != '-':
        out.close()
    if a.facts:
        f = {'bytes': w.n, 'events': sum(w.by.values()), 'by_phase': dict(sorted(w.by.items())), 'slices': w.slices,
             'counter_samples': w.samples, 'async_events': w.async_, 'arrows': w.arrows,
             'unmatched': {'begin': w.begins - w.ends, 'end': 0}, 'first_ts_ns': w.lo, 'last_ts_ns': w.hi, 'error': None}
        with open(a.facts, 'w') as fh:
            json.dump(f, fh, indent=1)
            fh.write('\n')


main()
