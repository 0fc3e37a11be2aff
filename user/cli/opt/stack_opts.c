// SPDX-License-Identifier: GPL-2.0
/*
 * From the options about stacks to what samples.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "cli/exit.h"
#include "source/stack/stack.h"
#include "stack_opts.h"

#define HZ_DEFAULT	99U	/* not 100, which would keep step with the ticks of the kernel */
#define COPY_DEFAULT	16384U

static int wrong(const char *command, const char *option, const char *value, const char *why)
{
	log_error("%s: --%s: %s: '%s'", command, option, why, value);
	return EXIT_USAGE;
}

/* "", "HZ", "cycles", "cycles:HZ". */
static int parse_sample(const char *text, const char *command, struct stack_cfg *cfg)
{
	const size_t len = strlen("cycles");
	const char *hz = text, *why;

	cfg->hz = HZ_DEFAULT;
	cfg->cycles = !strncmp(text, "cycles", len) && (!text[len] || text[len] == ':');
	if (cfg->cycles)
		hz += len + (text[len] == ':');
	if (!*hz && (!cfg->cycles || !text[len]))
		return EXIT_OK;
	if (num_parse_u64(hz, &cfg->hz, &why))
		return wrong(command, "sample", text, "not HZ or cycles:HZ");
	if (cfg->hz < 1 || cfg->hz > STACK_HZ_MAX)
		return wrong(command, "sample", text, "must be between 1 and 20000");
	return EXIT_OK;
}

static int parse_off_cpu(const char *text, const char *command, struct stack_cfg *cfg)
{
	const char *why;

	if (!*text)
		return EXIT_OK;
	if (num_parse_duration(text, &cfg->off_cpu_ns, &why))
		return wrong(command, "off-cpu", text, why);
	return cfg->off_cpu_ns ? EXIT_OK : wrong(command, "off-cpu", text, "must be at least 1ns");
}

/* "unwind", "unwind:SIZE", "fp", "none". */
static int parse_user(const char *text, const char *command, struct stack_cfg *cfg)
{
	const size_t len = strlen("unwind");
	const char *why;

	if (!strcmp(text, "fp") || !strcmp(text, "none")) {
		cfg->user = *text == 'f' ? STACK_BY_FP : STACK_NO_USER;
		return EXIT_OK;
	}
	if (strncmp(text, "unwind", len) || (text[len] && text[len] != ':'))
		return wrong(command, "user-stack", text, "not unwind, unwind:SIZE, fp or none");
	if (!text[len])
		return EXIT_OK;
	if (num_parse_size(text + len + 1, &cfg->copy_bytes, &why))
		return wrong(command, "user-stack", text, why);
	if (cfg->copy_bytes < 1024 || cfg->copy_bytes > STACK_COPY_MAX || cfg->copy_bytes % 8)
		return wrong(command, "user-stack", text, "must be a multiple of 8 between 1K and 24K");
	return EXIT_OK;
}

int stack_opts_choose(const struct stack_opts *opts, const char *command, uint64_t ring_bytes, struct stack_source **out)
{
	const char *sample = opts->sample ?: opts->stacks ? "" : NULL;
	struct stack_cfg cfg = {
		.off_cpu = opts->off_cpu || opts->stacks, .wakers = opts->wakers || opts->stacks,
		.off_cpu_ns = STACK_OFF_CPU_NS, .user = STACK_BY_RULES, .copy_bytes = COPY_DEFAULT,
		.no_kernel = opts->no_kernel, .ring_bytes = ring_bytes,
	};
	char why[256];
	int err, code = sample ? parse_sample(sample, command, &cfg) : EXIT_OK;

	code = code ?: opts->off_cpu ? parse_off_cpu(opts->off_cpu, command, &cfg) : EXIT_OK;
	code = code ?: opts->user ? parse_user(opts->user, command, &cfg) : EXIT_OK;
	if (code)
		return code;
	if (opts->kernel && opts->no_kernel) {
		log_error("%s: --kernel-stack and --no-kernel-stack exclude each other", command);
		return EXIT_USAGE;
	}
	if (!cfg.hz && !cfg.off_cpu && !cfg.wakers) {
		if (!opts->user && !opts->kernel && !opts->no_kernel)
			return EXIT_OK;
		log_error("%s: --user-stack, --kernel-stack and --no-kernel-stack need --sample, --off-cpu, --wakers or --stacks",
			  command);
		return EXIT_USAGE;
	}
	if (cfg.no_kernel && cfg.user == STACK_NO_USER) {
		log_error("%s: --no-kernel-stack and --user-stack=none leave no stack to sample", command);
		return EXIT_USAGE;
	}
	err = stack_source_open(out, &cfg, why, sizeof(why));
	if (err)
		log_error("%s: %s", command, err == -ENOMEM ? strerror(ENOMEM) : why);
	return exit_of(err);
}

void stack_opts_show_attached(const struct stack_source *s)
{
	const enum stack_via via = stack_source_via(s);

	if (via != STACK_VIA_CNT)
		log_debug("sleeps are sampled by %s", stack_via_name(via));
	if (stack_source_lacks_user(s))
		log_warn("in a PID namespace: samples have no user stacks (run outside of the container)");
	else if (stack_source_is_partial(s))
		log_warn("samples of --off-cpu have no user stacks: this kernel has neither the tracepoint sched_exit_tp nor kprobes");
}

static void show_partial(uint64_t cnt, uint64_t all, const char *why)
{
	if (cnt)
		log_info("%" PRIu64 " of %" PRIu64 " user stacks are cut (frame \"[cut]\"): %s", cnt, all, why);
}

void stack_opts_show_end(const struct stack_source *s)
{
	struct stack_counts c;
	uint64_t all;

	stack_source_counts(s, &c);
	all = c.whole + c.cut + c.unmapped + c.no_rule + c.unreadable;
	log_debug("samples: %" PRIu64 " on-CPU, %" PRIu64 " off-CPU, %" PRIu64 " of wakers; %" PRIu64 " user stacks whole",
		  c.by_kind[STACK_CPU], c.by_kind[STACK_OFF_CPU], c.by_kind[STACK_WAKER], c.whole);
	show_partial(c.cut, all, "longer than what is copied (--user-stack=unwind:24K)");
	show_partial(c.unmapped, all, "what is mapped there is not known");
	show_partial(c.no_rule, all, "the file has no unwind information, and there is no frame pointer");
	show_partial(c.unreadable, all, "could not be read, as where a thread ends or executes a program");
	if (c.events_err)
		log_warn("user stacks of new programs may be cut: new mappings are not reported: %s "
			 "(root helps, or kernel.perf_event_paranoid at most 2)", strerror(-c.events_err));
	if (c.ended)
		log_warn("%" PRIu64 " CPU%s went offline: there are no samples of what ran there afterwards (start a new recording)",
			 c.ended, c.ended == 1 ? "" : "s");
	if (c.maps_lost)
		log_warn("lost %" PRIu64 " records of mappings: too many at once", c.maps_lost);
	if (c.maps_refused)
		log_warn("%" PRIu64 " mappings are of more files than are kept: what is there has no names (restart the recorder)",
			 c.maps_refused);
}

void stack_opts_print_json(struct json *j, const struct stack_source *s)
{
	struct stack_counts c;

	stack_source_counts(s, &c);
	json_object(j);
	json_key_u64(j, "whole", c.whole);
	json_key_u64(j, "cut", c.cut);
	json_key_u64(j, "unmapped", c.unmapped);
	json_key_u64(j, "no_rule", c.no_rule);
	json_key_u64(j, "unreadable", c.unreadable);
	json_key_u64(j, "lost_mappings", c.maps_lost);
	json_key_u64(j, "refused_mappings", c.maps_refused);
	json_key_u64(j, "ended_events", c.ended);
	json_end(j);
}
