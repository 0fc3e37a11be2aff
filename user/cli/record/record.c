// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt record: options, what ends a recording, and the messages about it.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
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

#include "archive/broker.h"
#include "base/clock.h"
#include "base/huge_pages.h"
#include "capture/sources.h"
#include "capture/thread_filter.h"
#include "kernel/pid_namespace.h"
#include "source/func/funcs.h"
#include "source/stack/stack.h"
#include "source/table.h"
#include "source/tracepoint.h"
#include "kernel/btf.h"
#include "session/session.h"
#include "session/workload.h"
#include "cli/cmd.h"
#include "cli/exit.h"
#include "base/log.h"
#include "base/redact.h"
#include "cli/output_format.h"
#include "record.h"
#include "record_begin.h"
#include "record_control.h"
#include "record_cpus.h"
#include "record_keep.h"
#include "record_summary.h"
#include "cli/remedy.h"
#include "record_stage.h"
#include "window/window.h"

#define NS_PER_SECOND	1000000000ULL

static const char default_output[] = "trace.fxt";

static const struct opt rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .metavar = "FILE",
	  .help = "FILE.fxt or FILE.pftrace; - is stdout",
	  .offset = offsetof(struct record_cfg, output), .value = default_output },
	{ .name = "output-format", .kind = OPT_STRING, .metavar = "F", .offset = offsetof(struct record_cfg, output_format) },
	COMPRESS_OPTS(struct record_cfg, compress),
	{ .name = "duration", .letter = 'd', .kind = OPT_DURATION, .metavar = "TIME",
	  .help = "end after TIME: 10, 500ms, 2m",
	  .offset = offsetof(struct record_cfg, duration_ns), .min = 1 },
	{ .name = "ring-size", .letter = 'm', .kind = OPT_SIZE, .metavar = "SIZE",
	  .help = "ring of each CPU, rounded up to a power of two",
	  .offset = offsetof(struct record_cfg, ring_bytes), .value = "4M", .min = 4096,
	  .max = 1ULL << 30 },
	ARCHIVE_OPTS(struct record_cfg, archive),
	BUDGET_OPTS(struct record_cfg, budget),
	{ .name = "event", .letter = 'e', .kind = OPT_LIST, .metavar = "WHAT",
	  .help = "PRESET or SYSTEM:EVENT (kfxt list); log unless !log",
	  .offset = offsetof(struct record_cfg, events) },
	FUNC_OPTS(struct record_cfg, funcs),
	STACK_OPTS(struct record_cfg, stacks),
	FILTER_OPTS(struct record_cfg, filter),
	SELF_OPTS(struct record_cfg, self),
	TEXT_OPTS(struct record_cfg, texts),
	{ .name = "cpus", .letter = 'C', .kind = OPT_CPUS, .metavar = "CPUS",
	  .help = "record these CPUs only: 0-3,7",
	  .offset = offsetof(struct record_cfg, cpus) },
	{ .name = "no-perfetto-packets", .kind = OPT_FLAG,
	  .offset = offsetof(struct record_cfg, no_perfetto_packets) },
	{ .name = "strict", .kind = OPT_FLAG,
	  .offset = offsetof(struct record_cfg, strict) },
	STATS_OPTS(struct record_cfg, stats),
	{ .name = "propagate-exit", .kind = OPT_FLAG,
	  .offset = offsetof(struct record_cfg, propagate_exit) },
	{ .name = "config", .kind = OPT_CONFIG, .metavar = "FILE", .offset = offsetof(struct record_cfg, config) },
	{ 0 },
};

const struct opt_command record_command = {
	.name = "record",
	.operands = "[-- COMMAND ARGS]",
	.summary = "Record every context switch, wakeup and log line of this machine into a trace.",
	.rows = rows,
	.examples = "kfxt record -d 10                     # ten seconds, into trace.fxt\n"
		    "kfxt record --follow -- make -j8      # make and all that it starts\n"
		    "kfxt record -d 5 -f 'tcp_*' --returns # with calls of functions, and how long\n"
		    "kfxt record -d 5 --stacks             # with stacks: what runs, waits, wakes\n",
	.operands_max = OPT_ROWS_MAX * 1000,
	.stops_at_operand = true,
};

/* A recording as this command sees it. */
struct run {
	const struct record_cfg *cfg;
	const struct record_use *use;	/* NULL: the trace is kept */
	const char *name;		/* of the command, for messages */
	struct recorder_cfg recorder_cfg;
	struct recorder *recorder;
	struct record_summary summary;
	struct funcs *funcs;		/* NULL: none */
	struct stack_source *stacks;		/* NULL: none */
	struct sources *sources;
	struct filter *filter;		/* NULL: all threads */
	struct workload *workload;	/* NULL: no command */
	struct record_keep keep;
	struct record_control *control;	/* NULL: nobody is listened to */
	char **argv;			/* the command's, or NULL */
	struct rlimit files;		/* how many it may have open */
	struct record_cpus cpus;
	int stats_fd;			/* for the counts; -1: none */
	int stop_fd;			/* epoll over all that ends the recording */
	bool is_lost;			/* no file can be written any more */
	int signal_fd, timer_fd;
	unsigned int ticks;		/* with @use, whose time begins with the first one */
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
		log_error("%s: kernel BTF: %s (kernel with CONFIG_DEBUG_INFO_BTF=y needed)", run->name, strerror(-err));
		return EXIT_UNSUPPORTED;
	}
	if (getrlimit(RLIMIT_NOFILE, &run->files)) {
		log_error("%s: limit of open files: %s", run->name, strerror(errno));
		return EXIT_FAILED;
	}
	all = (struct rlimit){ run->files.rlim_max, run->files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &all);
	if (all.rlim_cur < FILES_MIN) {
		log_error("%s: at most %llu open files are allowed (ulimit -Hn %d)", run->name,
			  (unsigned long long)all.rlim_cur, FILES_MIN);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* ---- which events -------------------------------------------------------- */

static int choose_events(struct run *run, const struct opt_list *words)
{
	const struct source_ops *missing;
	char why[512];
	int err = sources_open(&run->sources, source_table);
	int code = err ? EXIT_OK : archive_opts_add_sources(&run->recorder_cfg, run->name, run->sources);

	if (code)
		return code;
	err = err ?: sources_choose(run->sources, words->items, words->cnt, why, sizeof(why));
	if (err)
		log_error("%s: -e %s", run->name, err == -ENOMEM ? strerror(ENOMEM) : why);
	else if ((missing = sources_missing(run->sources)))
		log_warn("%s: %s not recorded: no tracepoint %s", run->name, missing->name, source_lacks(missing));
	return exit_of(err);
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
	/* write(2) returns the same as an error. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return watch(run->stop_fd, run->signal_fd);
}

/* The time begins. */
static int start_clock(const struct run *run)
{
	const uint64_t ns = run->cfg->duration_ns;
	const struct itimerspec when = { .it_value = { ns / NS_PER_SECOND, ns % NS_PER_SECOND } };

	return timerfd_settime(run->timer_fd, 0, &when, NULL) ? -errno : 0;
}

static int watch_clock(struct run *run)
{
	if (!run->cfg->duration_ns)
		return 0;
	run->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (run->timer_fd < 0 || (!run->use && start_clock(run)))
		return -errno;
	return watch(run->stop_fd, run->timer_fd);
}

static bool got_signal(const struct run *run, int *number)
{
	struct signalfd_siginfo info;

	if (read(run->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*number = info.ssi_signo;
	/* What came with it, as SIGHUP with SIGTERM, is no second wish. */
	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info))
		;
	return true;
}

/* ---- messages to the user ------------------------------------------------ */

static void tick(void *ctx)
{
	struct run *run = ctx;
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);

	record_keep_tick(&run->keep, run->recorder);
	record_control_tick(run->control, run->recorder);
	archive_opts_show(run->recorder_cfg.broker);
	if (!run->is_lost && archive_opts_is_lost(&run->recorder_cfg, run->name))
		run->is_lost = !watch(run->stop_fd, broker_fd(run->recorder_cfg.broker));
	if (run->use) {
		if (!run->ticks++ && run->timer_fd >= 0)
			start_clock(run);
		run->use->tick(run->use->ctx);
	}
	if (!run->progress || now - run->shown_ns < NS_PER_SECOND / 2)
		return;
	run->shown_ns = now;
	record_summary_progress(&run->summary);
}

/* Messages of libbpf, with the kernel's verifier log, are for -v. */
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
	char remedy[REMEDY_BYTES];
	struct remedy_facts facts;

	remedy_get_facts(&facts);
	if (err == -ENOMEM || err == -EAGAIN) {
		log_error("%s: %s", run->name, err == -ENOMEM ? "out of memory (rings take less with a smaller -m)" :
			  "no thread can be started (memory or threads are limited: ulimit -v, ulimit -u)");
		return EXIT_FAILED;
	}
	if (err == -EDQUOT && what) {
		log_error("%s: --mem-budget: does not hold %s, and 8 MiB for kfxt (fewer events or CPUs)", run->name, what);
		return EXIT_FAILED;
	}
	if (err == -EMFILE) {
		log_error("%s: %s: %s (raise the limit: ulimit -Hn)", run->name, what ?: run->summary.output, strerror(-err));
		return EXIT_FAILED;
	}
	if (!what) {
		if (err == -ENOENT && !hint)
			hint = "does its directory exist?";
		log_error("%s: %s: %s%s%s%s", run->name, run->summary.output,
			  err == -ENOTTY ? "is a terminal" : strerror(-err),
			  hint ? " (" : "", hint ?: "", hint ? ")" : "");
		return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
	}
	if (err == -ECANCELED || err == -ECHILD) {
		log_error("%s: %s: nothing was recorded", run->name, err == -ECANCELED ? "interrupted while attaching" : what);
		return EXIT_FAILED;
	}
	if ((err == -EPERM || err == -EACCES) && remedy_command(remedy))
		log_error("%s: %s: not permitted (run as root, or once: %s)", run->name, what, remedy);
	else if (err == -EACCES && geteuid())
		log_error("%s: %s: not permitted (run as root, or with kernel.perf_event_paranoid at most 2)", run->name, what);
	else if (facts.lockdown == REMEDY_LOCKDOWN_CONFIDENTIALITY)
		log_error("%s: %s: %s (the kernel is locked down: lockdown=confidentiality)", run->name, what, strerror(-err));
	else
		log_error("%s: %s: %s (kfxt check reports what is missing)", run->name, what, strerror(-err));
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
static void show_refused(const struct sources *sources)
{
	const char *first;
	const unsigned int refused = tracepoints_refused(sources_state(sources, RAW_TRACEPOINT), &first);

	if (refused)
		log_warn("%u tracepoint%s not recorded, the kernel refuses %s: %s%s", refused,
			 refused == 1 ? " is" : "s are", refused == 1 ? "it" : "them", first, refused == 1 ? "" : ", ...");
}

/* The summary says from when on. */
static void show_late(const struct sources *sources)
{
	struct source_late late;
	unsigned int kind = 0;

	while (sources_late(sources, &kind, &late))
		if (!late.since_ns)
			log_warn("%s: not recorded yet: %s", late.name, late.why);
}

/* ---- the course ------------------------------------------------------------ */

/* Once all is open. The command was forked with all rights. */
static int confine(const struct run *run)
{
	const struct privileges_cfg cfg = {
		.command = run->workload ? workload_pid(run->workload) : 0,
		.sources = run->sources,
		.control_fd = record_control_listener(run->control),
		.broker_fd = run->recorder_cfg.broker ? broker_fd(run->recorder_cfg.broker) : 0,
	};

	return self_opts_confine(&run->cfg->self, &cfg, run->name);
}

static int start(struct run *run)
{
	const char *what, *hint;
	int err, code;

	run->summary = (struct record_summary){
		.output = strcmp(run->cfg->output, "-") ? run->cfg->output : "stdout",
		.cpus = run->cpus.list, .cpus_cnt = run->cpus.cnt,
		.funcs = run->funcs, .stacks = run->stacks, .sources = run->sources, .filter = run->filter,
		.is_other_format = run->recorder_cfg.stage,
		.triggers = run->recorder_cfg.keep.triggers, .keeps = run->cfg->archive.keep,
	};
	err = recorder_open(&run->recorder, &run->recorder_cfg, &what, &hint);
	run->summary.recorder = run->recorder;
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	if (err)
		return explain_open(run, err, what, hint);
	if (run->funcs)
		func_opts_show_attached(run->funcs);
	if (run->stacks)
		stack_opts_show_attached(run->stacks);
	show_refused(run->sources);
	code = run->use ? run->use->opened(run->use->ctx, &run->summary) : EXIT_OK;
	if (code)
		return code;
	if (run->argv) {
		err = workload_open(&run->workload, run->argv, !strcmp(run->cfg->output, "-"), &run->files);
		err = err ?: watch(run->stop_fd, workload_fd(run->workload));
	}
	code = err ? EXIT_OK : self_opts_apply(&run->cfg->self, run->name);
	if (code)
		return code;
	err = err ?: recorder_begin(run->recorder);
	if (err) {
		log_error("%s: cannot start: %s", run->name, strerror(-err));
		return EXIT_FAILED;
	}
	err = run->workload ? workload_start(run->workload) : 0;
	if (err) {
		log_error("%s: %s: %s", run->name, run->argv[0], strerror(-err));
		return EXIT_FAILED;
	}
	/* Now it holds something; and once we are confined no file can be renamed. */
	hint = NULL;
	err = recorder_publish(run->recorder, &hint);
	if (err)
		return explain_open(run, err, NULL, hint);
	code = confine(run);
	if (code)
		return code;
	run->summary.nameless = !pid_namespace_is_initial();
	if (run->summary.nameless)
		log_warn("in a PID namespace: threads that ran before the start have no names (run outside of the container)");
	show_late(run->sources);
	if (watch_clock(run)) {
		log_error("%s: timer: %s", run->name, strerror(errno));
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static void show_slow(void *ctx)
{
	const struct run *run = ctx;

	log_warn("waiting for %s (%d), which still runs after SIGTERM (Ctrl-C or another signal: SIGKILL)",
		 run->argv[0], (int)workload_pid(run->workload));
}

/* The command's exit status as a shell reports it. */
static int command_status(struct run *run)
{
	const pid_t pid = workload_pid(run->workload);
	int status = workload_finish(run->workload, run->signal_fd, show_slow, run), number = WTERMSIG(status);
	const char *why = "";

	if (WIFSIGNALED(status)) {
		if (number == workload_sent(run->workload))
			why = number == SIGKILL ? ", sent at a second signal to kfxt: it still ran after SIGTERM"
						: ", sent since the recording had ended";
		log_info("%s (%d) was ended by signal %d (%s)%s", run->argv[0], (int)pid, number, strsignal(number), why);
		return 128 + number;
	}
	if (WEXITSTATUS(status))
		log_info("%s exited with status %d", run->argv[0], WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

/* Last, since the kernel takes long for each link. Another signal is not to wait for it. @closed: the output, if there is one. */
static void detach(struct run *run, const char *closed)
{
	struct detacher_left left;
	char text[DETACHER_LEFT_TEXT];

	if (!run->recorder)
		return;
	left = recorder_leave(run->recorder, run->signal_fd);
	run->recorder = NULL;
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	if (!left.pid)
		return;
	log_info("%s%s%s", closed ?: "", closed ? " is closed; " : "", detacher_left_text(&left, text));
}

/* What comes to stdout. */
static int report(struct run *run)
{
	if (run->use)
		return run->use->ended(run->use->ctx, &run->summary);
	return stats_opts_write(&run->cfg->stats, run->name, run->stats_fd, record_summary_print_json, &run->summary);
}

static int record(struct run *run)
{
	int code = start(run), err, status, number;
	struct recorder_totals totals;
	enum exit_code verdict;
	uint64_t failed;

	if (code) {
		if (run->workload && workload_started(run->workload))
			command_status(run);
		detach(run, NULL);
		return code;
	}
	err = recorder_run(run->recorder, run->stop_fd, record_keep_tick_fd(&run->keep), tick, run);
	err = recorder_end(run->recorder) ?: err;
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	if (got_signal(run, &number))
		log_debug("ended by signal %d (%s)", number, strsignal(number));
	if (!num_cpus_count(&run->cfg->cpus))
		run->summary.cpus_changed = record_cpus_changed(&run->cpus, recorder_others(run->recorder));
	if (!run->use)
		record_summary_print(&run->summary);
	verdict = record_summary_verdict(&run->summary);
	status = run->workload ? command_status(run) : 0;
	code = report(run);
	recorder_totals(run->recorder, &totals);
	err = recorder_close_output(run->recorder) ?: err;
	failed = recorder_files_failed(run->recorder);
	archive_opts_show(run->recorder_cfg.broker);
	if (!strcmp(run->cfg->output, "-"))
		close(STDOUT_FILENO);	/* or its reader would wait for what follows */
	if (err)
		log_error("%s: %s: %s (%s)", run->name, run->summary.output, strerror(-err),
			  totals.raw_bytes ? "the trace ends there and is valid" : "nothing readable was written");
	if (failed)
		log_error("%s: %s: %" PRIu64 " file%s got no name", run->name, run->summary.output, failed, failed == 1 ? "" : "s");
	detach(run, run->summary.output);
	if (err || failed || run->keep.failed || run->is_lost || totals.pauses)
		return EXIT_FAILED;
	if (code)
		return code;
	if (run->cfg->strict && verdict)
		return verdict;
	return run->cfg->propagate_exit ? status : EXIT_OK;
}

/* What is named as another format would be a trace under a wrong name. */
static int choose_format(struct run *run, const struct record_cfg *cfg)
{
	const char *word = cfg->output_format;
	enum compress_method method;
	const struct writer_ops *writer = word ? formats_writer_named(word) : output_format(cfg->output, &method);

	if (!writer) {
		log_error("%s: --output-format: %s: not a format (fxt, perfetto)", run->name, word ?: "");
		return EXIT_USAGE;
	}
	run->recorder_cfg.stage = record_stage(writer);
	if (writer->writes_fxt || run->recorder_cfg.stage)
		return EXIT_OK;
	log_error("%s: %s: a recording is FXT or Perfetto packets (kfxt record -o trace.fxt, then kfxt convert -o %s trace.fxt)",
		  run->name, cfg->output, cfg->output);
	return EXIT_USAGE;
}

static int check_output(const struct run *run, const struct record_cfg *cfg)
{
	if (cfg->output[0])
		return stats_opts_check(&cfg->stats, run->name, cfg->output);
	log_error("%s: --output: is empty", run->name);
	return EXIT_USAGE;
}

/* Of two; @n is not 0. */
static uint64_t round_up_to_power(uint64_t n)
{
	return n == 1 ? 1 : 1ULL << (64 - __builtin_clzll(n - 1));
}

/* Where the trace goes, as what and how compressed. A window has a compression of its own. */
static int choose_output(struct run *run, struct record_cfg *cfg, struct record_use *use)
{
	struct compress_cfg *compress = &run->recorder_cfg.compress;

	if (choose_format(run, cfg) || check_output(run, cfg) ||
	    compress_opts_choose(&cfg->compress, run->name, &cfg->output, default_output, compress))
		return EXIT_USAGE;
	if (!use)
		return EXIT_OK;
	if (cfg->archive.keep && (compress->method == COMPRESS_NONE || run->recorder_cfg.stage))
		use->compress = (struct compress_cfg){ COMPRESS_ZSTD, WINDOW_LEVEL };
	else if (compress->method == COMPRESS_NONE && !run->recorder_cfg.stage)
		*compress = use->compress;
	else
		use->compress = *compress;
	cfg->output = "/dev/null";
	return EXIT_OK;
}

/* What is recorded, once all that can be wrong with the words is checked. */
static int choose(struct run *run, struct record_cfg *cfg)
{
	int code = check_needs(run) ?: choose_events(run, &cfg->events) ?: record_cpus_choose(&run->cpus, &cfg->cpus, run->name);

	if (!code && (run->stop_fd < 0 || watch_signals(run))) {
		log_error("%s: signals: %s", run->name, strerror(errno));
		code = EXIT_FAILED;
	}
	cfg->funcs.comms = cfg->filter.comms.cnt;
	if (!code)
		code = func_opts_choose(&cfg->funcs, run->name, false, &run->funcs);
	if (!code)
		code = archive_opts_check_sources(&run->recorder_cfg, run->name, run->sources, run->funcs);
	if (!code)
		code = stack_opts_choose(&cfg->stacks, run->name, cfg->ring_bytes, &run->stacks);
	if (run->sources) {
		sources_add(run->sources, RAW_FUNC, run->funcs);
		sources_add(run->sources, RAW_STACK, run->stacks);
	}
	if (!code)
		code = filter_opts_choose(&cfg->filter, run->name, run->argv, cfg->archive.keep || cfg->archive.rotate, &run->filter);
	if (!code)
		code = text_opts_choose(&cfg->texts, run->name, &run->recorder_cfg.hidden);
	run->recorder_cfg.cpus = run->cpus.list;
	run->recorder_cfg.cpus_cnt = run->cpus.cnt;
	run->recorder_cfg.sources = run->sources;
	run->recorder_cfg.filter = run->filter;
	return code;
}

static void close_run(struct run *run)
{
	record_keep_close(&run->keep);
	record_control_close(run->control);
	archive_close(&run->recorder_cfg);
	workload_close(run->workload);
	funcs_close(run->funcs);
	stack_source_close(run->stacks);
	sources_close(run->sources);
	filter_close(run->filter);
	redact_close(run->recorder_cfg.hidden.redact);
	free(run->cpus.list);
	urgency_close(run->recorder_cfg.urgency);
}

static void take_window(struct record_use *use, struct recorder_keep *keep)
{
	use->keep_ns = keep->age_ns;
	use->keep_bytes = keep->bytes;
	keep->age_ns = keep->age_ns > use->age_max_ns ? use->age_max_ns : keep->age_ns;
}

int record_run(struct record_cfg *cfg, struct record_use *use, char **argv)
{
	struct run run = {
		.cfg = cfg, .use = use, .name = use ? use->name : "record", .argv = argv,
		.signal_fd = -1, .timer_fd = -1, .stats_fd = -1,
	};
	const char *output = cfg->output;
	int code;

	if (choose_output(&run, cfg, use) || self_opts_check(&cfg->self, run.name))
		return EXIT_USAGE;
	cfg->ring_bytes = round_up_to_power(cfg->ring_bytes);
	if (cfg->propagate_exit && !run.argv) {
		log_error("%s: --propagate-exit needs a command", run.name);
		return EXIT_USAGE;
	}
	run.progress = isatty(STDERR_FILENO) && log_get_level() >= LOG_LEVEL_INFO;
	run.recorder_cfg = (struct recorder_cfg){
		.output = cfg->output,
		.compress = run.recorder_cfg.compress,
		.stage = run.recorder_cfg.stage,
		.ring_bytes = cfg->ring_bytes,
		.cpus_text = run.cpus.text,
		.perfetto_packets = !cfg->no_perfetto_packets,
		.cost = !use,
		.memory_bytes = cfg->budget.memory_bytes,
		.nice = getpriority(PRIO_PROCESS, 0),
		.progress = show_attaching,
		.progress_ctx = &run,
		.keep = { .fired = record_keep_fired, .done = record_keep_done, .ctx = &run.keep },
	};
	if (budget_opts_choose(&cfg->budget, run.name, &run.recorder_cfg.budget))
		return EXIT_USAGE;
	if (!use && record_keep_open(&run.keep, run.name, run.progress))
		return EXIT_FAILED;
	huge_pages_refuse();
	record_grow_file_table();
	/* Threads that are real-time may have all CPUs. */
	if (self_opts_nice(&cfg->self) < 0)
		run.recorder_cfg.urgency = urgency_open(record_say_stuck);
	run.recorder_cfg.realtime = self_opts_realtime(&cfg->self, argv);
	code = archive_opts_open(&cfg->archive, run.name, use ? output : cfg->output, use, &run.recorder_cfg);
	if (use)
		take_window(use, &run.recorder_cfg.keep);
	libbpf_set_print(print_libbpf);
	run.stop_fd = epoll_create1(EPOLL_CLOEXEC);
	/* Until all is attached; the process that writes files has been forked. */
	if (self_opts_nice(&cfg->self) < run.recorder_cfg.nice)
		setpriority(PRIO_PROCESS, 0, self_opts_nice(&cfg->self));
	code = code ?: archive_opts_add_funcs(&run.recorder_cfg, run.name, &cfg->funcs);
	code = code ?: choose(&run, cfg);
	if (!code && run.recorder_cfg.broker)
		record_control_open(&run.control, run.name, &run.recorder_cfg, &run.summary);
	record_keep_set_control(&run.keep, run.control);
	code = code ?: use ? 0 : stats_opts_open(&cfg->stats, run.name, &run.stats_fd);
	if (!code)
		code = record(&run);
	close_run(&run);
	return code;
}

int cmd_record(int argc, char **argv)
{
	struct record_cfg cfg = { 0 };
	int first, code;

	record_keep_hold_signal();
	first = opt_parse(&record_command, &cfg, argc, argv);
	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	code = record_run(&cfg, NULL, first < argc ? argv + first : NULL);
	opt_config_close(&cfg.config);
	return code;
}
