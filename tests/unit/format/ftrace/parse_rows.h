/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every form of line, and what it says: a title, the text, and the events and the
 * unparsed lines as parse_test.c renders them. Worked out by hand from the grammar.
 */
#ifndef PARSE_ROWS_H
#define PARSE_ROWS_H

#define HEAD	"            init-1       [000] d.h2.     3.041652: "
#define TGEN	"            tgen-98    [000]     3.17411"
#define ARGS	"event ns3041652000 c0 t1 irq comm=init name=x args=y=1\n"

struct parse_row {
	const char *title, *text, *events;
};

static const struct parse_row rows[] = {
	{ "tgid and flags",
	  "            init-1       (      1) [000] d.s5.     3.041652: sched_waking:"
	  " comm=rcu_preempt pid=15 prio=120 target_cpu=000\n",
	  "event ns3041652000 c0 t1 g1 irq comm=init name=sched_waking args=comm=rcu_preempt"
	  " pid=15 prio=120 target_cpu=000\n" },
	{ "idle, no tgid",
	  "          <idle>-0       (-------) [001] dNh2.     3.041710: cpu_idle: state=1"
	  " cpu_id=1\n",
	  "event ns3041710000 c1 t0 irq comm=<idle> name=cpu_idle args=state=1 cpu_id=1\n" },
	{ "Android widths",
	  "          <idle>-0     (-----) [003] d..3  1234.000001: cpu_idle: state=0 cpu_id=3\n",
	  "event ns1234000001000 c3 t0 comm=<idle> name=cpu_idle args=state=0 cpu_id=3\n" },
	{ "four flags",
	  "            init-1       [000] ....     2.798345: sched_process_fork: comm=init"
	  " pid=1 child_comm=init child_pid=84\n",
	  "event ns2798345000 c0 t1 comm=init name=sched_process_fork args=comm=init pid=1"
	  " child_comm=init child_pid=84\n" },
	{ "eight flags",
	  "            init-1       [000] d.Lh2131     2.798345: x: y=1\n",
	  "event ns2798345000 c0 t1 irq comm=init name=x args=y=1\n" },
	{ "eight flags of hex",
	  "            init-1       [000] d.h2131f     2.798345: x: y=1\n",
	  "event ns2798345000 c0 t1 irq comm=init name=x args=y=1\n" },
	{ "lazy flags",
	  "            init-1       [000] bLZa1     2.798345: x: y=1\n",
	  "event ns2798345000 c0 t1 irq comm=init name=x args=y=1\n" },
	{ "noirq-info",
	  "            tgen-215     [001]      3.887403: sched_switch: prev_comm=a prev_pid=1"
	  " prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n",
	  "event ns3887403000 c1 t215 comm=tgen name=sched_switch args=prev_comm=a prev_pid=1"
	  " prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n" },
	{ "integer clock",
	  "            init-1       [000] d...   9522910098: x: y=1\n",
	  "event ticks9522910098 c0 t1 comm=init name=x args=y=1\n" },
	{ "nine decimals",
	  "            init-1       [000] .....     3.041652789: x: y=1\n",
	  "event ns3041652789 c0 t1 comm=init name=x args=y=1\n" },
	{ "three decimals",
	  "            init-1       [000] .....     3.041: x: y=1\n",
	  "event ns3041000000 c0 t1 comm=init name=x args=y=1\n" },
	{ "more than nine decimals",
	  "            init-1       [000] .....     3.0416527891234: x: y=1\n",
	  "event ns3041652789 c0 t1 comm=init name=x args=y=1\n" },
	{ "flags abut time",
	  "            init-1     [000] ....316.196720: x: y=1\n",
	  "event ns316196720000 c0 t1 comm=init name=x args=y=1\n" },
	{ "unknown name",
	  "           <...>-77      [000] .....     3.041652: x: y=1\n",
	  "event ns3041652000 c0 t77 name=x args=y=1\n" },
	{ "negative pid",
	  "           <XXX>--5      [000] .....     3.041652: x: y=1\n",
	  "event ns3041652000 c0 name=x args=y=1\n" },
	{ "4-digit CPU",
	  "            init-1       [1023] .....     3.041652: x: y=1\n",
	  "event ns3041652000 c1023 t1 comm=init name=x args=y=1\n" },
	{ "CPU too large",
	  "            init-1       [4096] .....     3.041652: x: y=1\n",
	  "! 1 number of the CPU above 4095\n" },
	{ "tid too large",
	  "            init-2147483648 [000] .....     3.041652: x: y=1\n",
	  "! 1 thread id above 2147483647\n" },
	{ "largest tid",
	  "            init-2147483647 [000] .....     3.041652: x: y=1\n",
	  "event ns3041652000 c0 t2147483647 comm=init name=x args=y=1\n" },
	{ "time too large",
	  "            init-1       [000] ..... 99999999999999999999.041652: x: y=1\n",
	  "! 1 time stamp too large\n" },
	{ "largest time",
	  "            init-1       [000] ..... 9223372035.999999: x: y=1\n",
	  "event ns9223372035999999000 c0 t1 comm=init name=x args=y=1\n" },
	{ "name of dashes and brackets",
	  " -1 [0]1.0: x:-7       [000] .....     3.041652: x: y=1\n",
	  "event ns3041652000 c0 t7 comm=-1 [0]1.0: x: name=x args=y=1\n" },
	{ "name with trailing blanks",
	  "         trail  -973     (    962) [001] .....    22.183809: x: y=1\n",
	  "event ns22183809000 c1 t973 g962 comm=trail   name=x args=y=1\n" },
	{ "name that looks like a header",
	  "  # tracer: nop-973     (    962) [001] .....    22.183809: x: y=1\n",
	  "event ns22183809000 c1 t973 g962 comm=# tracer: nop name=x args=y=1\n" },
	{ "name with a newline",
	  "           a\n"
	  "b c-973     [001] .....    22.183809: x: y=1\n",
	  "event ns22183809000 c1 t973 comm=a\\nb c name=x args=y=1\n" },
	{ "name that begins with a newline",
	  "            \n"
	  "abc-973     [001] .....    22.183809: x: y=1\n",
	  "event ns22183809000 c1 t973 comm=\\nabc name=x args=y=1\n" },
	{ "stripped blanks",
	  "f2fs_gc-254:40-474   [001] .....    22.183809: x: y=1\n",
	  "event ns22183809000 c1 t474 comm=f2fs_gc-254:40 name=x args=y=1\n" },
	{ "stripped header name",
	  "# tracer: nop-12 (   12) [000] ....   1.000000: x: y=1\n",
	  "event ns1000000000 c0 t12 g12 comm=# tracer: nop name=x args=y=1\n" },
	{ "long name of a tool",
	  "com.example.long.process.name-1234 ( 1234) [002] .... 1.000000: x: y=1\n",
	  "event ns1000000000 c2 t1234 g1234 comm=com.example.long.process.name name=x"
	  " args=y=1\n" },
	{ "two candidates, one legal",
	  " -1 [0]1.0: x:-12 [000] .... 1.000000: x: y=1\n",
	  "event ns1000000000 c0 t12 comm=-1 [0]1.0: x: name=x args=y=1\n" },
	{ "CRCRLF",
	  HEAD "x: y=1\r\r\n",
	  ARGS },
	{ "BOM",
	  "\357\273\277            init-1       [000] d.h2.     3.041652: x: y=1\n",
	  ARGS },
	{ "unfinished",
	  HEAD "x: y=1",
	  "event ns3041652000 c0 t1 irq cut comm=init name=x args=y=1\n" },
	{ "unfinished name",
	  HEAD "sched_swi",
	  "! 1 record that ends in its event's name\n" },
	{ "unfinished columns",
	  "            init-1       [000] d.",
	  "! 1 record that ends in its columns\n" },
	{ "marker",
	  HEAD "tracing_mark_write: B|1|a: b\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=B|1|a: b\n" },
	{ "marker, old kernel",
	  HEAD "0: B|1|a\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=B|1|a\n" },
	{ "marker, LTO",
	  HEAD "tracing_mark_write.llvm.123:"
	  " E|1\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=E|1\n" },
	{ "marker, sym-offset",
	  HEAD "tracing_mark_write+0x1c/0x80:"
	  " E|1\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=E|1\n" },
	{ "marker, sym-addr",
	  HEAD "tracing_mark_write"
	  " <ffffffff8110>: E|1\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=E|1\n" },
	{ "marker, empty",
	  HEAD "tracing_mark_write: \n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print\n" },
	{ "marker, blanks kept",
	  HEAD "tracing_mark_write:   two \n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=  two \n" },
	{ "marker of lines",
	  HEAD "tracing_mark_write: multi\n"
	  "line\n"
	  "\n"
	  "marker\n"
	  "\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=multi\\nline\\n\\nmarker\n" },
	{ "marker of lines, CRLF",
	  HEAD "tracing_mark_write: multi\r\n"
	  "line\r\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=multi\\nline\n" },
	{ "marker like a record",
	  HEAD "tracing_mark_write:"
	  " sched_switch: prev_comm=a\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=sched_switch: prev_comm=a\n" },
	{ "trace_printk",
	  HEAD "do_work: n=5 left\n"
	  "and right\n",
	  "event ns3041652000 c0 t1 irq comm=init name=do_work args=n=5 left\\nand right\n" },
	{ "trace_printk, sym-offset",
	  HEAD "do_work+0x10/0x20: n=5\n",
	  "event ns3041652000 c0 t1 irq comm=init name=do_work args=n=5\n" },
	{ "console",
	  HEAD "console: key=value\n"
	  "more\n",
	  "event ns3041652000 c0 t1 irq comm=init name=console args=key=value\\nmore\n" },
	{ "no more after that",
	  HEAD "sched_switch: prev_comm=a"
	  " prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n"
	  "junk\n",
	  "event ns3041652000 c0 t1 irq comm=init name=sched_switch args=prev_comm=a"
	  " prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n"
	  "! 2 no known form of line\n" },
	{ "name with a newline in args",
	  HEAD "sched_switch: prev_comm=a\n"
	  "b prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=c\n"
	  "d next_pid=2 next_prio=120\n"
	  "junk\n",
	  "event ns3041652000 c0 t1 irq comm=init name=sched_switch args=prev_comm=a\\nb"
	  " prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=c\\nd next_pid=2"
	  " next_prio=120\n"
	  "! 4 no known form of line\n" },
	{ "string with a newline",
	  HEAD "p: (f+0x0/0x10) s=\"a\n"
	  "b\"\n"
	  "junk\n",
	  "event ns3041652000 c0 t1 irq comm=init name=p args=(f+0x0/0x10) s=\"a\\nb\"\n"
	  "! 3 no known form of line\n" },
	{ "syscall",
	  HEAD "sys_openat(dfd: ffffff9c,"
	  " filename: 7f \"/dev/(null)\", flags: 80000)\n",
	  "enter ns3041652000 c0 t1 irq comm=init name=openat args=dfd: ffffff9c, filename: 7f"
	  " \"/dev/(null)\", flags: 80000\n" },
	{ "syscall of no args",
	  HEAD "sys_getppid()\n",
	  "enter ns3041652000 c0 t1 irq comm=init name=getppid\n" },
	{ "syscall ends",
	  HEAD "sys_openat -> 0x3\n",
	  "exit ns3041652000 c0 t1 irq comm=init name=openat args=0x3\n" },
	{ "syscall as event",
	  HEAD "sys_enter_openat: dfd: 0x1\n",
	  "enter ns3041652000 c0 t1 irq comm=init name=openat args=dfd: 0x1\n" },
	{ "syscall as event ends",
	  HEAD "sys_exit_openat: 0x3\n",
	  "exit ns3041652000 c0 t1 irq comm=init name=openat args=0x3\n" },
	{ "raw syscalls",
	  HEAD "sys_enter: NR 257 (ffffff9c, 1)\n",
	  "event ns3041652000 c0 t1 irq comm=init name=sys_enter args=NR 257 (ffffff9c, 1)\n" },
	{ "function",
	  HEAD "vfs_read <-ksys_read\n",
	  "function ns3041652000 c0 t1 irq comm=init name=vfs_read args=ksys_read\n" },
	{ "function alone",
	  HEAD "vfs_read\n",
	  "function ns3041652000 c0 t1 irq comm=init name=vfs_read\n" },
	{ "function with all",
	  HEAD "f.part.0+0x4/0xf0"
	  " <ffffffff8110>(a=0x1, b=2 (x)) <-g+0x1/0x2 <ffffffff8111>\n",
	  "function ns3041652000 c0 t1 irq comm=init name=f.part.0 args=g\n" },
	{ "function of a module",
	  HEAD "ext4_foo [ext4] <-ext4_bar"
	  " [ext4]\n",
	  "function ns3041652000 c0 t1 irq comm=init name=ext4_foo args=ext4_bar\n" },
	{ "function repeats",
	  HEAD "f <-g (repeats: 3, last_ts:    "
	  " 1.879300)\n",
	  "repeats ns3041652000 c0 t1 irq x3 comm=init name=f args=g\n" },
	{ "address",
	  HEAD "0xffffffff81000000"
	  " <-0xffffffff81000001\n",
	  "function ns3041652000 c0 t1 irq comm=init name=0xffffffff81000000"
	  " args=0xffffffff81000001\n" },
	{ "kernel stack",
	  HEAD "<stack trace>\n"
	  " => a\n"
	  " => b+0x1/0x2\n",
	  "stack ns3041652000 c0 t1 irq comm=init name=kernel_stack args=a\\nb+0x1/0x2\n" },
	{ "user stack",
	  HEAD "<user stack trace>\n"
	  " =>  <00007f0000000001>\n"
	  " => ??\n",
	  "ustack ns3041652000 c0 t1 irq comm=init name=user_stack"
	  " args=<00007f0000000001>\\n??\n" },
	{ "frame without stack",
	  HEAD "x: y=1\n"
	  " => a\n",
	  ARGS
	  "! 2 frame of a stack without its stack\n" },
	{ "raw marker",
	  HEAD "# 1000 buf: 01 02 03\n",
	  "raw ns3041652000 c0 t1 irq comm=init name=1000 args=01 02 03\n" },
	{ "option fields",
	  HEAD "sched_switch: prev_comm=init"
	  " prev_pid=0x1 (1) prev_prio=0x78 (120) prev_state=0x1 (1) next_comm=b next_pid=0x2"
	  " (2) next_prio=0x78 (120)\n",
	  "event ns3041652000 c0 t1 fields irq comm=init name=sched_switch args=prev_comm=init"
	  " prev_pid=0x1 (1) prev_prio=0x78 (120) prev_state=0x1 (1) next_comm=b next_pid=0x2"
	  " (2) next_prio=0x78 (120)\n" },
	{ "wakeup tracer",
	  HEAD "    124:120:R   + [001]      31:"
	  " 98:R rcuc/1\n",
	  "text ns3041652000 c0 t1 irq comm=init name=wakeup args=    124:120:R   + [001]      31: 98:R"
	  " rcuc/1\n" },
	{ "hwlat",
	  HEAD "#1     inner/outer(us):   12/13 "
	  "   ts:1.2 count:1\n",
	  "text ns3041652000 c0 t1 irq comm=init args=#1     inner/outer(us):   12/13   "
	  " ts:1.2 count:1\n" },
	{ "osnoise",
	  HEAD "1000000        190  99.98100    "
	  "     9      18\n",
	  "text ns3041652000 c0 t1 irq comm=init args=1000000        190  99.98100         9  "
	  "    18\n" },
	{ "unknown type",
	  HEAD "Unknown type 123\n",
	  "text ns3041652000 c0 t1 irq comm=init args=Unknown type 123\n" },
	{ "too big",
	  HEAD "x: y=1[LINE TOO BIG]\n",
	  "event ns3041652000 c0 t1 irq cut comm=init name=x args=y=1\n" },
	{ "lost",
	  "CPU:1 [LOST 209 EVENTS]\n"
	  "CPU:2 [LOST EVENTS]\n"
	  "CPU:3 [247 EVENTS DROPPED]\n"
	  "CPU:4 [EVENTS DROPPED]\n",
	  "LOST c1 x209\n"
	  "LOST c2\n"
	  "LOST c3 x247\n"
	  "LOST c4\n" },
	{ "buffer started",
	  "##### CPU 2 buffer started ####\n",
	  "STARTED c2\n" },
	{ "two traces",
	  "# tracer: nop\n"
	  "#\n"
	  HEAD "x: y=1\n"
	  "# tracer: function_graph\n"
	  "#\n"
	  "# CPU  DURATION                  FUNCTION CALLS\n"
	  " 0) f();\n",
	  "TRACE name=nop\n"
	  ARGS
	  "TRACE name=function_graph\n"
	  "graph; c0 name=f\n" },
	{ "nocontext-info",
	  "# tracer: nop\n"
	  "#\n"
	  "sched_switch: prev_comm=a\n"
	  "tracing_mark_write: hi\n"
	  "# 1000 buf: 01\n"
	  "vfs_read <-ksys_read\n"
	  "junk here\n",
	  "TRACE name=nop\n"
	  "event name=sched_switch args=prev_comm=a\n"
	  "marker name=print args=hi\n"
	  "raw name=1000 args=01\n"
	  "function name=vfs_read args=ksys_read\n"
	  "! 7 no known form of line\n" },
	{ "process dump",
	  "PROCESS DUMP\n"
	  "USER           PID  PPID     VSZ    RSS WCHAN  PC S NAME                       "
	  " COMM                       \n"
	  "root             1     0   10632   2168 0      0 S /init a b                   init"
	  " x\n"
	  "USER           PID   TID CMD \n"
	  "u0_a77         290   291 Render Thread\n"
	  "x y z\n",
	  "PROCESS t1 g1 comm=init x name=/init a b\n"
	  "PROCESS t291 g290 comm=Render Thread\n"
	  "! 6 no known form of line\n" },
	{ "latency",
	  "    tgen-265       1dNh.. 20098us+: softirq_raise: vec=9 [action=RCU]\n",
	  "event rel20098000 c1 t265 irq comm=tgen name=softirq_raise args=vec=9 [action=RCU]\n" },
	{ "latency, cut name",
	  "rcu_pree-18        0d.h1. 23918us : x: y=1\n",
	  "event rel23918000 c0 t18 irq name=x args=y=1\n" },
	{ "latency, name with a newline",
	  "    a\n"
	  "bc-18        0d.h1. 23918us : x: y=1\n",
	  "event rel23918000 c0 t18 irq name=x args=y=1\n"
	  "! 1 no known form of line\n" },
	{ "latency, counter",
	  "    tgen-265       1dNh..   17: x: y=1\n",
	  "event ticks17 c1 t265 irq comm=tgen name=x args=y=1\n" },
	{ "latency, header-like name",
	  "# tracer-265       1dNh..   17us : x: y=1\n",
	  "event rel17000 c1 t265 irq name=x args=y=1\n" },
	{ "verbose",
	  "            tgen     265   1 1 00000001 00000011 [00001a2b] 20.098ms (+0.061ms): x:"
	  " y=1\n",
	  "event rel20098000 c1 t265 comm=tgen name=x args=y=1\n" },
	{ "verbose, counter",
	  "            tgen     265   1 9 00000001 00000011 [0000000000001a2b] 17 (+1): x:"
	  " y=1\n",
	  "event ticks17 c1 t265 irq comm=tgen name=x args=y=1\n" },
	{ "graph",
	  "# tracer: function_graph\n"
	  " 0) ! 355.072 us  |  mutex_unlock();\n"
	  " 0)               |    getname() {\n"
	  " 1) + 18.007 us   |    }\n"
	  " 1)   1.292 us    |  } /* f */\n",
	  "TRACE name=function_graph\n"
	  "graph; c0 for355072 name=mutex_unlock\n"
	  "graph{ c0 d1 name=getname\n"
	  "graph} c1 d1 for18007\n"
	  "graph} c1 for1292 name=f\n" },
	{ "graph, values",
	  "# tracer: function_graph\n"
	  " 0)   1.292 us    |  f(a=1, s=\"x);\"); /* ret=0x0 */\n"
	  " 0)               |  f(a=1) { /* <-g+0x1/0x2 */\n"
	  " 0)   1.292 us    |  } /* f ret=-2 */\n"
	  " 0)   1.292 us    |  } /* ret=0x0 */\n"
	  " 0)   1.292 us    |  f(); /* ret=0x7 */\n",
	  "TRACE name=function_graph\n"
	  "graph; c0 for1292 name=f args=a=1, s=\"x);\"\n"
	  "graph{ c0 name=f args=a=1\n"
	  "graph} c0 for1292 name=f args=ret=-2\n"
	  "graph} c0 for1292 args=ret=0x0\n"
	  "graph; c0 for1292 name=f args=ret=0x7\n" },
	{ "graph, all columns",
	  "   17.418755 |        123 us |   0)     init-1     |  dNh3. |   1.723 us    |   "
	  " f();\n",
	  "graph; ns17418755000 c0 t1 irq d1 for1723 comm=init name=f\n" },
	{ "graph, relative time",
	  "         12 us |   0)    a|b-7     |   1.723 us    |  f();\n",
	  "graph; rel12000 c0 t7 for1723 comm=a|b name=f\n" },
	{ "graph, cut name",
	  "   17.418755 |   0)  kdamond-50   |   1.723 us    |  f();\n",
	  "graph; ns17418755000 c0 t50 for1723 name=f\n" },
	{ "graph, no duration",
	  "# tracer: function_graph\n"
	  " 0)   f();\n"
	  " 1) }\n",
	  "TRACE name=function_graph\n"
	  "graph; c0 d1 name=f\n"
	  "graph} c1\n" },
	{ "graph, arrows",
	  " 0)   ==========> |\n"
	  " 0)   <========== |\n",
	  "irq{ c0\n"
	  "irq} c0\n" },
	{ "graph, switch",
	  " ------------------------------------------\n"
	  " 0)    <idle>-0    =>   kdamond-50  \n"
	  " ------------------------------------------\n"
	  "\n",
	  "SWITCH c0 t50\n" },
	{ "graph, comments",
	  " 0)               |  /* sched_switch: prev_comm=a */\n"
	  " 0)               |  /* B|77|name */\n"
	  " 0)               |  /* one\n"
	  "two\n"
	  "three */\n"
	  "junk\n",
	  "event c0 name=sched_switch args=prev_comm=a\n"
	  "marker c0 name=print args=B|77|name\n"
	  "marker c0 name=print args=one\\ntwo\\nthree\n"
	  "! 6 no known form of line\n" },
	{ "graph, overruns",
	  " 0)   1.292 us    |  }\n"
	  " (Overruns: 3)\n",
	  "graph} c0 for1292\n" },
	{ "report",
	  "cpus=2\n"
	  "       trace-cmd-98    [000]     3.174111: sched_switch:         trace-cmd:98 [120]"
	  " R ==> rcu_preempt:15 [120]\n"
	  "junk\n",
	  "TRACE\n"
	  "event ns3174111000 c0 t98 report comm=trace-cmd name=sched_switch args=trace-cmd:98"
	  " [120] R ==> rcu_preempt:15 [120]\n"
	  "! 3 no known form of line\n" },
	{ "report, notices",
	  "version = 6\n"
	  "CPU 0 is empty\n"
	  "cpus=2\n"
	  "CPU:1 [SUBBUFFER START]\n",
	  "TRACE\n" },
	{ "prose of one line",
	  HEAD "workqueue_execute_start: work"
	  " struct 00: function f\n"
	  "junk\n",
	  "event ns3041652000 c0 t1 irq comm=init name=workqueue_execute_start args=work"
	  " struct 00: function f\n"
	  "! 2 no known form of line\n" },
	{ "prose with a name",
	  HEAD "block_rq_issue: 8,0 W 4096 ()"
	  " 123 + 8 [a\n"
	  "b]\n"
	  "junk\n",
	  "event ns3041652000 c0 t1 irq comm=init name=block_rq_issue args=8,0 W 4096 () 123 +"
	  " 8 [a\\nb]\n"
	  "! 3 no known form of line\n" },
	{ "report, name with a newline",
	  "cpus=1\n"
	  TGEN "1: sched_switch:         a\n"
	  "b:98 [120] R ==> c:15 [120]\n"
	  "junk\n",
	  "TRACE\n"
	  "event ns3174111000 c0 t98 report comm=tgen name=sched_switch args=a\\nb:98 [120] R"
	  " ==> c:15 [120]\n"
	  "! 4 no known form of line\n" },
	{ "report, flags",
	  "            tgen-98    [000] d..2.     3.174111: sched_wakeup:        "
	  " rcu:preempt:15 [120] CPU:001\n",
	  "event ns3174111000 c0 t98 report comm=tgen name=sched_wakeup args=rcu:preempt:15"
	  " [120] CPU:001\n" },
	{ "report -t",
	  TGEN "1222: sched_wakeup:         comm=a pid=1"
	  " prio=120 target_cpu=000\n",
	  "event ns3174111222 c0 t98 comm=tgen name=sched_wakeup args=comm=a pid=1 prio=120"
	  " target_cpu=000\n" },
	{ "report -l",
	  "cpus=1\n"
	  "    tgen-98      0d..2.     3.174111: softirq_raise:        vec=1 [action=TIMER]\n",
	  "TRACE\n"
	  "event ns3174111000 c0 t98 comm=tgen name=softirq_raise args=vec=1 [action=TIMER]\n" },
	{ "report -R",
	  "cpus=1\n"
	  "            tgen-98    [000]-0x9     3.174111: sched_switch:          prev_comm=a"
	  " prev_pid=1 prev_state=0 next_comm=b next_pid=2\n",
	  "TRACE\n"
	  "event ns3174111000 c0 t98 fields irq comm=tgen name=sched_switch args=prev_comm=a"
	  " prev_pid=1 prev_state=0 next_comm=b next_pid=2\n" },
	{ "report --ts-diff",
	  "cpus=1\n"
	  TGEN "1:          x:                    y=1\n"
	  TGEN "2: (+338)   x:                    y=1\n",
	  "TRACE\n"
	  "event ns3174111000 c0 t98 comm=tgen name=x args=y=1\n"
	  "event ns3174112000 c0 t98 comm=tgen name=x args=y=1\n" },
	{ "report, clock",
	  "cpus=1\n"
	  "            tgen-98    [000]         174111: x:                    y=1\n",
	  "TRACE\n"
	  "event ticks174111 c0 t98 comm=tgen name=x args=y=1\n" },
	{ "report, markers",
	  "cpus=1\n"
	  TGEN "1: print:               "
	  " tracing_mark_write: B|1|a: b\n"
	  "line\n"
	  TGEN "1: print:                ffffffff81100000:"
	  " hi\n"
	  TGEN "1: print:                do_work: hi\n",
	  "TRACE\n"
	  "marker ns3174111000 c0 t98 comm=tgen name=print args=B|1|a: b\\nline\n"
	  "marker ns3174111000 c0 t98 comm=tgen name=print args=hi\n"
	  "marker ns3174111000 c0 t98 comm=tgen name=print args=do_work: hi\n" },
	{ "report, function",
	  "cpus=1\n"
	  TGEN "1: function:                      vfs_read"
	  " <-- ksys_read\n"
	  TGEN "1: function:             vfs_read\n",
	  "TRACE\n"
	  "function ns3174111000 c0 t98 comm=tgen name=vfs_read args=ksys_read\n"
	  "function ns3174111000 c0 t98 comm=tgen name=vfs_read\n" },
	{ "report, graph",
	  "cpus=1\n"
	  TGEN "1: funcgraph_entry:      ! 122.784 us |   "
	  " f(a=1); (1)\n"
	  TGEN "1: funcgraph_entry:                   | "
	  " f() {\n"
	  TGEN "1: funcgraph_exit:       + 18.007 us  |  }"
	  " (ret=0x3)\n",
	  "TRACE\n"
	  "graph; ns3174111000 c0 t98 d1 for122784 comm=tgen name=f args=a=1\n"
	  "graph{ ns3174111000 c0 t98 comm=tgen name=f\n"
	  "graph} ns3174111000 c0 t98 for18007 comm=tgen args=ret=0x3\n" },
	{ "report, stack",
	  "cpus=1\n"
	  TGEN "1: kernel_stack:         <stack trace >\n"
	  "=> a (ffffffff8110)\n"
	  "=> b (ffffffff8111)\n",
	  "TRACE\n"
	  "stack ns3174111000 c0 t98 comm=tgen name=kernel_stack args=a (ffffffff8110)\\nb"
	  " (ffffffff8111)\n" },
	{ "report, syscalls",
	  "cpus=1\n"
	  TGEN "1: sys_enter_openat:     dfd: 0x1\n"
	  TGEN "1: sys_exit_openat:      0x3\n",
	  "TRACE\n"
	  "enter ns3174111000 c0 t98 comm=tgen name=openat args=dfd: 0x1\n"
	  "exit ns3174111000 c0 t98 comm=tgen name=openat args=0x3\n" },
	{ "perf",
	  "        100% cpu  1767 [000]  2194.005605:         irq:softirq_entry: vec=7"
	  " [action=SCHED]\n",
	  "event ns2194005605000 c0 t1767 comm=100% cpu sys=irq name=softirq_entry args=vec=7"
	  " [action=SCHED]\n" },
	{ "perf, stacks",
	  "            tgen  1767 [000]  2194.005605:         irq:softirq_entry: vec=7"
	  " [action=SCHED]\n"
	  "\011ffffffff81a3b2c0 a+0x1 ([kernel.kallsyms])\n"
	  "            7f0000000001 b (/bin/tgen)\n"
	  "\n"
	  "            tgen  1767 [000]  2194.005606:         irq:softirq_exit: vec=7"
	  " [action=SCHED]\n",
	  "event ns2194005605000 c0 t1767 comm=tgen sys=irq name=softirq_entry args=vec=7"
	  " [action=SCHED]\n"
	  "stack ns2194005605000 c0 t1767 comm=tgen sys=irq name=kernel_stack args=a+0x1"
	  " ([kernel.kallsyms])\\nb (/bin/tgen)\n"
	  "event ns2194005606000 c0 t1767 comm=tgen sys=irq name=softirq_exit args=vec=7"
	  " [action=SCHED]\n" },
	{ "perf, pid/tid",
	  "            a [1 1767/1768 [001]  2194.005605789: syscalls:sys_enter_openat: dfd:"
	  " 0x1\n",
	  "enter ns2194005605789 c1 t1768 g1767 comm=a [1 sys=syscalls name=openat args=dfd:"
	  " 0x1\n" },
	{ "perf, other events",
	  "            tgen  1767 [001]  2194.005605:    cpu-clock: 1\n",
	  "event ns2194005605000 c1 t1767 comm=tgen name=cpu-clock args=1\n" },
	{ "perf, trace_marker",
	  "            tgen  1767 [001]  2194.005605:    ftrace:print: tracing_mark_write:"
	  " B|1|x\n",
	  "marker ns2194005605000 c1 t1767 comm=tgen sys=ftrace name=print args=B|1|x\n" },
	{ "perf, no CPU asked for",
	  "            a b  1767/1768  2194.005605789: irq:softirq_entry: vec=7\n"
	  "            a b  1767  2194.005605: cpu-clock: 1\n",
	  "event ns2194005605789 t1768 g1767 comm=a b sys=irq name=softirq_entry args=vec=7\n"
	  "! 2 no known form of line\n" },
	{ "option raw",
	  "# tracer: function\n#\n"
	  "22200 1 7542889721258 # ffffffff81498b1a B|1|x\n"
	  "22200 1 7542889721259 type: 355\n"
	  "154 1 56240969088 ffffffff814310a4 ffffffff8144cd5a\n",
	  "TRACE name=function\n"
	  "marker ns7542889721258 c1 t22200 name=print args=B|1|x\n"
	  "text ns7542889721259 c1 t22200 args=type: 355\n"
	  "function ns56240969088 c1 t154 name=ffffffff814310a4 args=ffffffff8144cd5a\n" },
	{ "option hex",
	  "# tracer: nop\n#\n"
	  "000056b8 00000001 000006dc3c0c784b type: 355\n\n"
	  "000056b8 00001000 000006dc3c0c784b type: 355\n\n",
	  "TRACE name=nop\n"
	  "text ns7542970021963 c1 t22200 args=type: 355\n"
	  "! 5 CPU out of bounds\n" },
	{ "timerlat",
	  "# tracer: timerlat\n#\n"
	  "          <idle>-0       [000] d.h1.    54.029328: #1     context    irq timer_latency"
	  "       932 ns\n",
	  "TRACE name=timerlat\n"
	  "text ns54029328000 c0 t0 irq comm=<idle> name=timerlat args=#1     context    irq"
	  " timer_latency       932 ns\n" },
	{ "osnoise",
	  "# tracer: osnoise\n#\n"
	  "           <...>-859     [000] ....    81.637220: 1000000        190  99.98100\n",
	  "TRACE name=osnoise\n"
	  "text ns81637220000 c0 t859 name=osnoise args=1000000        190  99.98100\n" },
	{ "hwlat",
	  "# tracer: hwlat\n#\n"
	  "           <...>-1729  [001] d...   678.473449: #1     inner/outer(us):   11/11    ts:1"
	  " count:6\n",
	  "TRACE name=hwlat\n"
	  "text ns678473449000 c1 t1729 name=hwlat args=#1     inner/outer(us):   11/11    ts:1"
	  " count:6\n" },
	{ "marker of an address without a symbol",
	  "            init-1       [000] d.h2.     3.041652: ffffffff81498b1a: B|1|x\n",
	  "marker ns3041652000 c0 t1 irq comm=init name=print args=B|1|x\n" },
};

#undef HEAD
#undef TGEN
#undef ARGS

#endif
