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
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../record/clock.h"
#include "../record/events.h"
#include "../record/filter.h"
#include "../record/funcs.h"
#include "../record/kernel_btf.h"
#include "../record/names.h"
#include "../record/recorder.h"
#include "../record/text_file.h"
#include "../record/workload.h"
#include "cmd.h"
#include "compress_opts.h"
#include "exit.h"
#include "filter_opts.h"
#include "func_opts.h"
#include "log.h"
#include "num.h"
#include "opt.h"
#include "record_summary.h"
#include "remedy.h"
#include "self_opts.h"

#define NS_PER_SECOND	1000000000ULL

struct record_cfg {
	const char *output, *stats;
	uint64_t duration_ns;
	uint64_t ring_bytes;
	struct num_cpus cpus;
	bool no_perfetto_packets;
	bool propagate_exit, strict;
	struct opt_list events;
	struct func_opts funcs;
	struct filter_opts filter;
	struct self_opts self;
	struct compress_opts compress;
};

#define DEFAULT_OUTPUT	rows[0].value

static const struct opt rows[] = {
	{ "output", 'o', OPT_STRING, "FILE", "write to FILE; - is stdout, for a pipe",
	  offsetof(struct record_cfg, output), "trace.fxt", 0, 0 },
	COMPRESS_OPTS(struct record_cfg, compress),
	{ "duration", 'd', OPT_DURATION, "TIME", "end after TIME: 10, 500ms, 2m",
	  offsetof(struct record_cfg, duration_ns), NULL, 1, 0 },
	{ "ring-size", 'm', OPT_SIZE, "SIZE", "ring of each CPU, rounded up to a power of two",
	  offsetof(struct record_cfg, ring_bytes), "4M", 4096, 1ULL << 30 },
	{ "event", 'e', OPT_LIST, "WHAT", "PRESET or SYSTEM:EVENT (kfxt list); log unless !log",
	  offsetof(struct record_cfg, events), NULL, 0, 0 },
	FUNC_OPTS(struct record_cfg, funcs),
	FILTER_OPTS(struct record_cfg, filter),
	SELF_OPTS(struct record_cfg, self),
	{ "cpus", 'C', OPT_CPUS, "CPUS", "record these CPUs only: 0-3,7",
	  offsetof(struct record_cfg, cpus), NULL, 0, 0 },
	{ "no-perfetto-packets", 0, OPT_FLAG, NULL, NULL,
	  offsetof(struct record_cfg, no_perfetto_packets), NULL, 0, 0 },
	{ "strict", 0, OPT_FLAG, NULL, "exit 3 on any loss, 4 if a source is missing",
	  offsetof(struct record_cfg, strict), NULL, 0, 0 },
	{ "stats", 0, OPT_STRING, "FORMAT", NULL,
	  offsetof(struct record_cfg, stats), NULL, 0, 0 },
	{ "propagate-exit", 0, OPT_FLAG, NULL, NULL,
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
		    "kfxt record -z -o t.fxt.gz            # until Ctrl-C, compressed\n"
		    "kfxt record --follow -- make -j8      # make and all that it starts\n"
		    "kfxt record -d 5 -f 'tcp_*' --exit    # with calls of functions, and how long\n"
		    "kfxt record -d 5 -u libc:malloc       # of a program's or a library's\n"
		    "kfxt record -d 5 -e 'block:*'         # with tracepoints\n",
	.operands_max = OPT_ROWS_MAX * 1000,
	.stops_at_operand = true,
};

/* A recording as this command sees it. */
struct run {
	const struct record_cfg *cfg;
	struct recorder_cfg recorder_cfg;
	struct recorder *recorder;
	struct record_summary summary;
	struct funcs *funcs;		/* NULL: none */
	struct events *events;
	struct filter *filter;		/* NULL: all threads */
	struct workload *workload;	/* NULL: no command */
	char **argv;			/* the command's, or NULL */
	struct rlimit files;		/* how many it may have open */
	char online_text[RECORDER_CPUS_TEXT], cpus_text[RECORDER_CPUS_TEXT];
	uint32_t *cpus;
	int stop_fd;			/* epoll over all that ends the recording */
	int signal_fd, timer_fd;
	uint64_t shown_ns;		/* progress */
	bool progress;
};

/* ---- what it takes ------------------------------------------------------- */

#define FILES_MIN	64	/* of programs, maps and links; presets, functions and CPUs take more */

/* Without these what fails later fails for reasons that nobody would guess. Takes all files we may have. */
static int check_needs(struct run *run)
{
	struct rlimit all;
	int err = kernel_btf_find();

	if (err) {
		log_error("record: kernel BTF: %s (needed is a kernel with CONFIG_DEBUG_INFO_BTF=y)", strerror(-err));
		return EXIT_UNSUPPORTED;
	}
	if (getrlimit(RLIMIT_NOFILE, &run->files)) {
		log_error("record: limit of open files: %s", strerror(errno));
		return EXIT_FAILED;
	}
	all = (struct rlimit){ run->files.rlim_max, run->files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &all);
	if (all.rlim_cur < FILES_MIN) {
		log_error("record: at most %llu open files are allowed (ulimit -Hn %d)",
			  (unsigned long long)all.rlim_cur, FILES_MIN);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* ---- which events -------------------------------------------------------- */

static int choose_events(const struct opt_list *wanted, struct events **out)
{
	const struct events_cfg cfg = { .wanted = wanted->items, .wanted_cnt = wanted->cnt };
	char why[512];
	int err = events_open(out, &cfg, why, sizeof(why));

	if (err)
		log_error("record: -e %s", err == -ENOMEM ? strerror(ENOMEM) : why);
	else if (events_lack_log(*out))
		log_warn("record: this kernel does not tell of its log (tracepoint console): it is left out");
	return exit_of(err);
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
	/* Their errors tell as much. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
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

static void show_progress(void *ctx)
{
	struct run *run = ctx;
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);

	if (!run->progress || now - run->shown_ns < NS_PER_SECOND / 2)
		return;
	run->shown_ns = now;
	record_summary_progress(&run->summary);
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

/* Programs may then not read the kernel's memory, which fails like a wrong program. */
static bool is_locked_down(void)
{
	char *text;
	size_t len;
	bool is;

	if (text_file_read("/sys/kernel/security/lockdown", 256, &text, &len))
		return false;
	is = strstr(text, "[confidentiality]");
	free(text);
	return is;
}

static int explain_open(const struct run *run, int err, const char *what, const char *hint)
{
	char remedy[REMEDY_BYTES];

	if (err == -ENOMEM) {
		log_error("record: out of memory (rings take less with a smaller -m)");
		return EXIT_FAILED;
	}
	if (err == -EMFILE) {
		log_error("record: %s: %s (raise the limit: ulimit -Hn)", what ?: run->summary.output, strerror(-err));
		return EXIT_FAILED;
	}
	if (!what) {
		log_error("record: %s: %s%s%s%s", run->summary.output,
			  err == -ENOTTY ? "is a terminal" : strerror(-err),
			  hint ? " (" : "", hint ?: "", hint ? ")" : "");
		return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
	}
	if (err == -ECANCELED) {
		log_error("record: interrupted while attaching: nothing was recorded");
		return EXIT_FAILED;
	}
	if ((err == -EPERM || err == -EACCES) && remedy_command(remedy))
		log_error("record: %s: not permitted (run as root, or once: %s)", what, remedy);
	else if (err == -EACCES && geteuid())
		log_error("record: %s: not permitted (run as root, or with kernel.perf_event_paranoid at most 2)",
			  what);
	else if (is_locked_down())
		log_error("record: %s: %s (the kernel is locked down: lockdown=confidentiality)", what, strerror(-err));
	else
		log_error("record: %s: %s (kfxt check tells what this kernel lacks)", what, strerror(-err));
	return EXIT_UNSUPPORTED;
}

/* Shows how far attaching and detaching are; a signal, which it leaves pending, ends attaching. */
static bool show_attaching(void *ctx, const char *doing, unsigned int done, unsigned int all, const char *what)
{
	const struct run *run = ctx;
	struct pollfd signals = { .fd = run->signal_fd, .events = POLLIN };

	if (run->progress)
		fprintf(stderr, "\r%s: %u of %u %s \033[K", doing, done, all, what);
	return poll(&signals, 1, 0) <= 0;
}

/* Tracepoints that a glob brought in and nobody can attach to. */
static void show_refused(const struct events *events)
{
	struct events_counts c;

	events_counts(events, &c);
	if (c.refused)
		log_warn("%u tracepoint%s not recorded, the kernel refuses %s: %s%s", c.refused,
			 c.refused == 1 ? " is" : "s are", c.refused == 1 ? "it" : "them", c.first_refused,
			 c.refused == 1 ? "" : ", ...");
}

/* ---- the course ------------------------------------------------------------ */

/* Once all is open, and before the command runs, which was forked with all rights. */
static int confine(const struct run *run)
{
	const struct confine_cfg cfg = {
		.command = run->workload ? workload_pid(run->workload) : 0,
		.tracefs_instance = events_fd(run->events) >= 0,
	};

	return self_opts_confine(&run->cfg->self, &cfg, "record");
}

static int start(struct run *run)
{
	const char *what, *hint;
	int err, code;

	run->summary = (struct record_summary){
		.output = strcmp(run->cfg->output, "-") ? run->cfg->output : "stdout",
		.cpus = run->cpus, .cpus_cnt = run->recorder_cfg.cpus_cnt,
		.funcs = run->funcs, .events = run->events, .filter = run->filter,
	};
	err = recorder_open(&run->recorder, &run->recorder_cfg, &what, &hint);
	run->summary.recorder = run->recorder;
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	if (err)
		return explain_open(run, err, what, hint);
	if (run->funcs)
		func_opts_show_attached(run->funcs);
	show_refused(run->events);
	if (run->argv) {
		err = workload_open(&run->workload, run->argv, !strcmp(run->cfg->output, "-"), &run->files);
		err = err ?: watch(run->stop_fd, workload_fd(run->workload));
	}
	code = err ? EXIT_OK : self_opts_apply(&run->cfg->self, "record");
	if (code)
		return code;
	err = err ?: recorder_begin(run->recorder);
	if (err) {
		log_error("record: cannot begin: %s", strerror(-err));
		return EXIT_FAILED;
	}
	code = confine(run);
	if (code)
		return code;
	run->summary.nameless = !names_ids_match();
	if (run->summary.nameless)
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
static void look_for_cpus(struct run *run)
{
	char now[sizeof(run->online_text)];
	struct num_cpus before, after;
	uint32_t i;

	if (num_cpus_count(&run->cfg->cpus) || recorder_online_cpus(now, sizeof(now)) ||
	    num_parse_cpus(now, &after, NULL) || num_parse_cpus(run->online_text, &before, NULL))
		return;
	for (i = 0; i < NUM_CPUS_MAX; i++)
		run->summary.cpus_changed |= num_cpus_has(&after, i) && !num_cpus_has(&before, i);
	if (run->summary.cpus_changed)
		log_warn("CPUs %s were online at the start, %s are now: what ran on those that came is not in the trace",
			 run->online_text, now);
	else if (strcmp(now, run->online_text) != 0)
		log_info("CPUs %s were online at the start, %s are now", run->online_text, now);
}

static int record(struct run *run)
{
	int code = start(run), err, status, number;
	enum exit_code verdict;

	if (code)
		return code;
	err = recorder_run(run->recorder, run->stop_fd, show_progress, run);
	err = recorder_end(run->recorder) ?: err;
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	if (got_signal(run, &number))
		log_debug("ended by signal %d (%s)", number, strsignal(number));
	look_for_cpus(run);
	record_summary_print(&run->summary);
	verdict = record_summary_verdict(&run->summary);
	if (run->cfg->stats && record_summary_print_json(&run->summary))
		err = err ?: -EIO;
	status = run->workload ? command_status(run) : 0;
	err = recorder_close(run->recorder) ?: err;
	run->recorder = NULL;
	if (err) {
		log_error("record: %s: %s (the trace ends there; what it holds is whole)",
			  run->summary.output, strerror(-err));
		return EXIT_FAILED;
	}
	if (run->cfg->strict && verdict)
		return verdict;
	return run->cfg->propagate_exit ? status : EXIT_OK;
}

static int check_output(const struct record_cfg *cfg)
{
	if (!cfg->output[0])
		log_error("record: --output: is empty");
	else if (cfg->stats && strcmp(cfg->stats, "json"))
		log_error("record: --stats: %s: not a format (json)", cfg->stats);
	else if (cfg->stats && !strcmp(cfg->output, "-"))
		log_error("record: --stats: stdout is taken by the trace (name a file with -o)");
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

int cmd_record(int argc, char **argv)
{
	struct record_cfg cfg = { 0 };
	struct run run = { .cfg = &cfg, .signal_fd = -1, .timer_fd = -1 };
	int first = opt_parse(&command, &cfg, argc, argv), code;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	if (check_output(&cfg) || self_opts_check(&cfg.self, "record"))
		return EXIT_USAGE;
	while (cfg.ring_bytes & (cfg.ring_bytes - 1))
		cfg.ring_bytes += cfg.ring_bytes & -cfg.ring_bytes;
	run.argv = first < argc ? argv + first : NULL;
	if (compress_opts_choose(&cfg.compress, "record", &cfg.output, DEFAULT_OUTPUT, &run.recorder_cfg.compress))
		return EXIT_USAGE;
	run.progress = isatty(STDERR_FILENO) && log_get_level() >= LOG_LEVEL_INFO;
	run.recorder_cfg = (struct recorder_cfg){
		.output = cfg.output,
		.compress = run.recorder_cfg.compress,
		.ring_bytes = cfg.ring_bytes,
		.cpus_text = run.cpus_text,
		.perfetto_packets = !cfg.no_perfetto_packets,
		.progress = show_attaching,
		.progress_ctx = &run,
	};
	libbpf_set_print(print_libbpf);
	run.stop_fd = epoll_create1(EPOLL_CLOEXEC);
	code = check_needs(&run) ?: choose_events(&cfg.events, &run.events) ?: choose_cpus(&run);
	run.recorder_cfg.events = run.events;
	if (!code && (run.stop_fd < 0 || watch_signals(&run))) {
		log_error("record: signals: %s", strerror(errno));
		code = EXIT_FAILED;
	}
	cfg.funcs.comms = cfg.filter.comms.cnt;
	if (!code)
		code = func_opts_choose(&cfg.funcs, "record", false, &run.funcs);
	run.recorder_cfg.funcs = run.funcs;
	if (!code)
		code = filter_opts_choose(&cfg.filter, run.argv, &run.filter);
	run.recorder_cfg.filter = run.filter;
	if (!code)
		code = record(&run);
	recorder_close(run.recorder);
	workload_close(run.workload);
	funcs_close(run.funcs);
	events_close(run.events);
	filter_close(run.filter);
	free(run.cpus);
	return code;
}
