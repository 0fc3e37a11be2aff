// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt record: options, what ends a recording, and what the user is told.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../record/clock.h"
#include "../record/funcs.h"
#include "../record/kernel_btf.h"
#include "../record/names.h"
#include "../record/recorder.h"
#include "../record/workload.h"
#include "cmd.h"
#include "exit.h"
#include "func_opts.h"
#include "log.h"
#include "num.h"
#include "opt.h"

#define NS_PER_SECOND	1000000000ULL

struct record_cfg {
	const char *output;
	uint64_t duration_ns;
	uint64_t ring_bytes;
	struct num_cpus cpus;
	bool no_perfetto_packets;
	bool propagate_exit;
	struct opt_list events;
	struct func_opts funcs;
};

static const struct opt rows[] = {
	{ "output", 'o', OPT_STRING, "FILE", "write to FILE; - is stdout, for a pipe",
	  offsetof(struct record_cfg, output), "trace.fxt", 0, 0 },
	{ "duration", 'd', OPT_DURATION, "TIME", "end after TIME: 10, 500ms, 2m",
	  offsetof(struct record_cfg, duration_ns), NULL, 1, 0 },
	{ "ring-size", 'm', OPT_SIZE, "SIZE", "ring of each CPU, rounded up to a power of two",
	  offsetof(struct record_cfg, ring_bytes), "4M", 4096, 1ULL << 30 },
	{ "event", 'e', OPT_LIST, "WHAT", "log: the kernel's log, unless !log",
	  offsetof(struct record_cfg, events), NULL, 0, 0 },
	FUNC_OPTS(struct record_cfg, funcs),
	{ "cpus", 'C', OPT_CPUS, "CPUS", "record these CPUs only: 0-3,7",
	  offsetof(struct record_cfg, cpus), NULL, 0, 0 },
	{ "no-perfetto-packets", 0, OPT_FLAG, NULL, "leave out wall clock, system, process tree",
	  offsetof(struct record_cfg, no_perfetto_packets), NULL, 0, 0 },
	{ "propagate-exit", 0, OPT_FLAG, NULL, "exit as COMMAND did",
	  offsetof(struct record_cfg, propagate_exit), NULL, 0, 0 },
	{ 0 },
};

static const struct opt_command command = {
	.name = "record",
	.operands = "[-- COMMAND ARGS]",
	.summary = "Record every context switch, wakeup and log line of this machine into a trace.",
	.rows = rows,
	.examples = "kfxt record -d 10                     # ten seconds, into trace.fxt\n"
		    "kfxt record -o make.fxt -- make -j8   # while make runs\n"
		    "kfxt record -o - | gzip > t.fxt.gz    # until Ctrl-C, through a pipe\n"
		    "kfxt record -d 5 -f 'tcp_*' --exit    # with calls of functions, and how long\n"
		    "kfxt record -d 5 -u libc:malloc       # of a program's or a library's\n",
	.operands_max = OPT_ROWS_MAX * 1000,
	.stops_at_operand = true,
};

/* A recording as this command sees it. */
struct run {
	const struct record_cfg *cfg;
	struct recorder_cfg recorder_cfg;
	struct recorder *recorder;
	struct funcs *funcs;		/* NULL: none */
	struct workload *workload;	/* NULL: no command */
	char **argv;			/* the command's, or NULL */
	char online_text[RECORDER_CPUS_TEXT], cpus_text[RECORDER_CPUS_TEXT];
	uint32_t *cpus;
	int stop_fd;			/* epoll over all that ends the recording */
	int signal_fd, timer_fd;
	uint64_t shown_ns;		/* progress */
	bool progress;
};

/* ---- which events -------------------------------------------------------- */

/* In order, the last word on a source counts. */
static int choose_events(const struct opt_list *wanted, bool *logs)
{
	unsigned int i;

	*logs = true;
	for (i = 0; i < wanted->cnt; i++) {
		const bool out = wanted->items[i][0] == '!';

		if (strcmp(wanted->items[i] + out, "log") != 0) {
			log_error("record: -e %s: no such events (there is: log)", wanted->items[i]);
			return EXIT_USAGE;
		}
		*logs = !out;
	}
	if (*logs && !kernel_btf_has_tracepoint("console", 2)) {
		log_warn("record: this kernel does not tell of its log (tracepoint console): it is left out");
		*logs = false;
	}
	return EXIT_OK;
}

/* ---- which CPUs ---------------------------------------------------------- */

/* A set as text: "0-3,7". */
static void print_cpus(const struct num_cpus *cpus, char *text, size_t size)
{
	unsigned int cpu, last;
	size_t len = 0;

	text[0] = 0;
	for (cpu = 0; cpu < NUM_CPUS_MAX && len < size; cpu = last + 1) {
		last = cpu;
		if (!num_cpus_has(cpus, cpu))
			continue;
		while (last + 1 < NUM_CPUS_MAX && num_cpus_has(cpus, last + 1))
			last++;
		len += snprintf(text + len, size - len, last > cpu ? "%s%u-%u" : "%s%u",
				len ? "," : "", cpu, last);
	}
}

static int choose_cpus(struct run *run)
{
	struct num_cpus online, wanted = run->cfg->cpus;
	const char *why;
	unsigned int cpu, n = 0;

	if (recorder_online_cpus(run->online_text, sizeof(run->online_text)) ||
	    num_parse_cpus(run->online_text, &online, &why)) {
		log_error("record: /sys/devices/system/cpu/online: cannot be read (is sysfs mounted?)");
		return EXIT_FAILED;
	}
	if (!num_cpus_count(&wanted))
		wanted = online;
	run->cpus = calloc(num_cpus_count(&wanted), sizeof(*run->cpus));
	for (cpu = 0; cpu < NUM_CPUS_MAX && run->cpus; cpu++) {
		if (!num_cpus_has(&wanted, cpu))
			continue;
		if (!num_cpus_has(&online, cpu)) {
			log_error("record: --cpus: CPU %u is not online (online: %s)", cpu, run->online_text);
			return EXIT_USAGE;
		}
		run->cpus[n++] = cpu;
	}
	print_cpus(&wanted, run->cpus_text, sizeof(run->cpus_text));
	run->recorder_cfg.cpus = run->cpus;
	run->recorder_cfg.cpus_cnt = n;
	return EXIT_OK;
}

/* ---- what ends it --------------------------------------------------------- */

static int watch(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int watch_signals(struct run *run)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return watch(run->stop_fd, run->signal_fd);
}

static int watch_clock(struct run *run)
{
	const uint64_t ns = run->cfg->duration_ns;
	struct itimerspec when = { .it_value = { ns / NS_PER_SECOND, ns % NS_PER_SECOND } };

	if (!ns)
		return 0;
	run->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (run->timer_fd < 0 || timerfd_settime(run->timer_fd, 0, &when, NULL))
		return -errno;
	return watch(run->stop_fd, run->timer_fd);
}

static bool got_signal(const struct run *run, int *number)
{
	struct signalfd_siginfo info;

	if (read(run->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*number = info.ssi_signo;
	return true;
}

/* ---- what the user is told ------------------------------------------------ */

static const char *bytes_text(uint64_t bytes, char *buf, size_t size)
{
	if (bytes < 10 << 10)
		snprintf(buf, size, "%llu bytes", (unsigned long long)bytes);
	else if (bytes < 10 << 20)
		snprintf(buf, size, "%.1f KiB", bytes / 1024.0);
	else
		snprintf(buf, size, "%.1f MiB", bytes / 1048576.0);
	return buf;
}

/* Events that are not in the trace, as far as they can be counted. */
static unsigned long long lost(const struct recorder_totals *t)
{
	return t->sum.lost_switches + t->sum.lost_wakeups + t->sum.unwritten_switches +
	       t->sum.unwritten_wakeups + t->sum.lost_calls + t->sum.deep_calls +
	       t->sum.unwritten_calls + t->sum.unreturned_calls + t->sum.lost_logs + t->unwritten_logs +
	       t->skipped;
}

/* ", 12 calls, 3 log lines": calls where functions are traced, lines where there are any. */
static const char *events_text(const struct run *run, const struct recorder_totals *t, char *buf, size_t size)
{
	int len = 0;

	buf[0] = 0;
	if (run->funcs)
		len = snprintf(buf, size, ", %llu calls", (unsigned long long)t->sum.calls);
	if (t->logs)
		snprintf(buf + len, size - len, ", %llu log line%s", (unsigned long long)t->logs,
			 t->logs == 1 ? "" : "s");
	return buf;
}

static void show_progress(void *ctx)
{
	struct run *run = ctx;
	struct recorder_totals t;
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);
	char bytes[32], events[64];

	if (!run->progress || now - run->shown_ns < NS_PER_SECOND / 2)
		return;
	run->shown_ns = now;
	recorder_totals(run->recorder, &t);
	fprintf(stderr, "\r%.0f s: %llu switches, %llu wakeups%s, %llu lost, %s \033[K",
		(now - t.start_ns) / 1e9, (unsigned long long)t.sum.switches,
		(unsigned long long)t.sum.wakeups, events_text(run, &t, events, sizeof(events)), lost(&t),
		bytes_text(t.bytes, bytes, sizeof(bytes)));
}

static const char *output_name(const struct run *run)
{
	return strcmp(run->cfg->output, "-") ? run->cfg->output : "stdout";
}

static void show_losses(const struct recorder_totals *t)
{
	if (t->sum.lost_switches || t->sum.lost_wakeups)
		log_warn("lost %llu switches and %llu wakeups: rings were full (use a larger -m, or a faster disk)",
			 (unsigned long long)t->sum.lost_switches,
			 (unsigned long long)t->sum.lost_wakeups);
	if (t->sum.unwritten_switches || t->sum.unwritten_wakeups)
		log_warn("lost %llu switches and %llu wakeups: they could not be written",
			 (unsigned long long)t->sum.unwritten_switches,
			 (unsigned long long)t->sum.unwritten_wakeups);
	log_warn_count(t->sum.unseen_switches,
		       "%llu switches were not reported by the kernel: what ran then is drawn as a gap");
	log_warn_count(t->sum.unseen_wakeups,
		       "%llu wakeups were not reported by the kernel: they stand where their threads ran again (mark implied)");
	log_warn_count(t->skipped, "lost %llu events: the kernel skipped a program that was running already");
	log_warn_count(t->names_lost,
		       "lost %llu names: too many processes came at once; threads that ended since may lack one");
	log_warn_count(t->sum.lost_logs, "lost %llu lines of the kernel's log, or parts of lines: rings were full");
	log_warn_count(t->unwritten_logs, "lost %llu lines of the kernel's log: they could not be written");
	if (t->bare_logs && t->kmsg_err)
		log_warn("log lines have no level: /dev/kmsg: %s (CAP_SYSLOG helps)", strerror(-t->kmsg_err));
	else if (t->bare_logs)
		log_debug("%llu log lines have no level: /dev/kmsg did not have them (any more)",
			  (unsigned long long)t->bare_logs);
	log_warn_count(t->shared_koids,
		       "%llu threads share a koid with an earlier one: their ids were recycled too often");
}

static void show_cpus(const struct run *run)
{
	struct recorder_cpu c;
	unsigned int i;

	for (i = 0; i < run->recorder_cfg.cpus_cnt; i++) {
		recorder_cpu(run->recorder, i, &c);
		log_debug("cpu %u: %llu switches, %llu wakeups, lost %llu and %llu", c.cpu,
			  (unsigned long long)c.switches, (unsigned long long)c.wakeups,
			  (unsigned long long)c.lost_switches, (unsigned long long)c.lost_wakeups);
	}
}

static void show_summary(const struct run *run)
{
	struct recorder_totals t;
	char bytes[32], memory[32], events[64];

	recorder_totals(run->recorder, &t);
	show_cpus(run);
	log_debug("memory of rings and maps: %s", bytes_text(t.memory_bytes, memory, sizeof(memory)));
	log_info("%s: %.3f s, %u %s, %llu switches, %llu wakeups%s, %llu lost, %s", output_name(run),
		 (t.stop_ns - t.start_ns) / 1e9, run->recorder_cfg.cpus_cnt,
		 run->recorder_cfg.cpus_cnt == 1 ? "CPU" : "CPUs",
		 (unsigned long long)t.sum.switches, (unsigned long long)t.sum.wakeups,
		 events_text(run, &t, events, sizeof(events)), lost(&t),
		 bytes_text(t.bytes, bytes, sizeof(bytes)));
	show_losses(&t);
	if (run->funcs)
		func_opts_show_losses(run->funcs, &t.sum);
}

/* libbpf's own words, the kernel's verifier log among them, are for -v. */
static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text, *line, *rest;

	if (level == LIBBPF_DEBUG || log_get_level() < LOG_LEVEL_DEBUG || vasprintf(&text, fmt, ap) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
	free(text);
	return 0;
}

static int explain_open(const struct run *run, int err, const char *what, const char *hint)
{
	if (!what) {
		log_error("record: %s: %s%s%s%s", output_name(run),
			  err == -ENOTTY ? "is a terminal" : strerror(-err),
			  hint ? " (" : "", hint ?: "", hint ? ")" : "");
		return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
	}
	if (err == -ECANCELED) {
		log_error("record: interrupted while attaching: nothing was recorded");
		return EXIT_FAILED;
	}
	if (err == -EPERM || err == -EACCES)
		log_error("record: %s: not permitted (run as root; kfxt check tells what is missing)", what);
	else
		log_error("record: %s: %s (kfxt check tells what this kernel lacks)", what, strerror(-err));
	return err == -ENOMEM ? EXIT_FAILED : EXIT_UNSUPPORTED;
}

/* Shows how far attaching and detaching are; a signal, which it leaves pending, ends attaching. */
static bool show_attaching(void *ctx, const char *doing, unsigned int done, unsigned int all)
{
	const struct run *run = ctx;
	struct pollfd signals = { .fd = run->signal_fd, .events = POLLIN };

	if (run->progress)
		fprintf(stderr, "\r%s: %u of %u functions \033[K", doing, done, all);
	return poll(&signals, 1, 0) <= 0;
}

/* ---- the course ------------------------------------------------------------ */

static int start(struct run *run)
{
	const char *what, *hint;
	int err = recorder_open(&run->recorder, &run->recorder_cfg, &what, &hint);

	if (run->progress && run->funcs)
		fprintf(stderr, "\r\033[K");
	if (err)
		return explain_open(run, err, what, hint);
	if (run->funcs)
		func_opts_show_attached(run->funcs);
	if (run->argv) {
		err = workload_open(&run->workload, run->argv, !strcmp(run->cfg->output, "-"));
		err = err ?: watch(run->stop_fd, workload_fd(run->workload));
	}
	err = err ?: recorder_begin(run->recorder);
	if (err) {
		log_error("record: cannot begin: %s", strerror(-err));
		return EXIT_FAILED;
	}
	if (!names_ids_match())
		log_warn("in a PID namespace: threads that ran before the start have no names (run outside of the container)");
	err = run->workload ? workload_start(run->workload) : 0;
	if (err) {
		log_error("record: %s: %s", run->argv[0], strerror(-err));
		recorder_end(run->recorder);
		return EXIT_FAILED;
	}
	if (watch_clock(run)) {
		log_error("record: timer: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* The command's exit status as a shell would tell it. */
static int command_status(const struct run *run)
{
	int status = workload_finish(run->workload, run->signal_fd);

	if (WIFSIGNALED(status)) {
		log_info("%s was ended by signal %d (%s)", run->argv[0], WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	if (WEXITSTATUS(status))
		log_info("%s exited with status %d", run->argv[0], WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

/* CPUs come and go. Those that came later have no ring. */
static void warn_if_cpus_changed(const struct run *run)
{
	char now[sizeof(run->online_text)];

	if (!num_cpus_count(&run->cfg->cpus) && !recorder_online_cpus(now, sizeof(now)) &&
	    strcmp(now, run->online_text))
		log_warn("CPUs %s were online at the start, %s are now: what ran on those that came is not in the trace",
			 run->online_text, now);
}

static int record(struct run *run)
{
	int code = start(run), err, status, number;

	if (code)
		return code;
	err = recorder_run(run->recorder, run->stop_fd, show_progress, run);
	err = recorder_end(run->recorder) ?: err;
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	if (got_signal(run, &number))
		log_debug("ended by signal %d (%s)", number, strsignal(number));
	show_summary(run);
	warn_if_cpus_changed(run);
	status = run->workload ? command_status(run) : 0;
	err = recorder_close(run->recorder) ?: err;
	run->recorder = NULL;
	if (err) {
		log_error("record: %s: %s (the trace ends there; what it holds is whole)",
			  output_name(run), strerror(-err));
		return EXIT_FAILED;
	}
	return run->cfg->propagate_exit ? status : EXIT_OK;
}

int cmd_record(int argc, char **argv)
{
	struct record_cfg cfg = { 0 };
	struct run run = { .cfg = &cfg, .signal_fd = -1, .timer_fd = -1 };
	int first = opt_parse(&command, &cfg, argc, argv), code;
	bool logs;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	if (!cfg.output[0]) {
		log_error("record: --output: is empty");
		return EXIT_USAGE;
	}
	while (cfg.ring_bytes & (cfg.ring_bytes - 1))
		cfg.ring_bytes += cfg.ring_bytes & -cfg.ring_bytes;
	if (choose_events(&cfg.events, &logs))
		return EXIT_USAGE;
	run.argv = first < argc ? argv + first : NULL;
	run.progress = isatty(STDERR_FILENO) && log_get_level() >= LOG_LEVEL_INFO;
	run.recorder_cfg = (struct recorder_cfg){
		.output = cfg.output,
		.ring_bytes = cfg.ring_bytes,
		.cpus_text = run.cpus_text,
		.perfetto_packets = !cfg.no_perfetto_packets,
		.logs = logs,
		.progress = show_attaching,
		.progress_ctx = &run,
	};
	libbpf_set_print(print_libbpf);
	run.stop_fd = epoll_create1(EPOLL_CLOEXEC);
	code = choose_cpus(&run);
	if (!code && (run.stop_fd < 0 || watch_signals(&run))) {
		log_error("record: signals: %s", strerror(errno));
		code = EXIT_FAILED;
	}
	if (!code)
		code = func_opts_choose(&cfg.funcs, "record", false, &run.funcs);
	run.recorder_cfg.funcs = run.funcs;
	if (!code)
		code = record(&run);
	recorder_close(run.recorder);
	workload_close(run.workload);
	funcs_close(run.funcs);
	free(run.cpus);
	return code;
}
