# SPDX-License-Identifier: GPL-2.0
#
# make            build/kfxt and libfxt
# make demo       install what is missing, build, record this machine, show it
# make check      install what is missing, build, run the tests that each change has to pass
# make check-all  every test there is; SUITES='vm arm64' for some
# make check TEST='live:names_in_a_storm vm:6.12'   some tests only: SUITE or SUITE:NAME,...
# make check-unit those that need neither root nor other packages than the build, in a minute
# make check-vm   those that run on other kernels, in virtual machines
# make fuzz       FUZZ_S=3600 FUZZ='fxt repair': the fuzzers, for so long each, all or some
# make bench      what kfxt costs, beside its peers; BENCH=traced for one part
# make install    PREFIX=/usr/local SYSCONFDIR=/etc DESTDIR=
# make module     the kernel module, KDIR=/lib/modules/.../build; see kmod/README.md
#
# O=DIR builds elsewhere, V=1 shows commands, SAN=address,undefined or thread,
# CC, CLANG, BPFTOOL, CROSS_COMPILE choose tools, WERROR=1 is what CI sets.
# CROSS_COMPILE=aarch64-linux-gnu- builds for arm64; SYSROOT is where that finds headers
# and libraries, by default Debian's packages, unpacked by tests/vm/arm64.py; empty: /.

VERSION	:= 0.1.0
O	?= build
PREFIX	?= /usr/local
SYSCONFDIR ?= /etc
CLANG	?= clang
BPFTOOL	?= bpftool
PROTOC_C ?= protoc-c
PKG_CONFIG ?= $(CROSS_COMPILE)pkg-config
PYTHON	?= python3
ifeq ($(origin CC),default)
CC	:= $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR	:= $(CROSS_COMPILE)ar
endif

ifeq ($(CROSS_COMPILE)$(origin SYSROOT),aarch64-linux-gnu-undefined)
SYSROOT	:= $(if $(filter-out clean,$(or $(MAKECMDGOALS),all)),$(shell tests/vm/arm64.py --sysroot))
endif

Q	:= $(if $(V),,@)
msg	= $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(patsubst $(O)/%,%,$@)')

ARCH	:= $(shell $(CC) -dumpmachine 2>/dev/null | sed -e 's/-.*//' -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)

CFLAGS	?= -O3 -g
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes $(if $(WERROR),-Werror)
CPPFLAGS += -D_GNU_SOURCE -Iuser -I. -I$(O)/gen -DKFXT_VERSION='"$(VERSION)"'
override CFLAGS += -std=gnu11 $(WARNINGS) $(SYSROOT:%=--sysroot=%)
ifdef SAN
# What is built so can also be fuzzed. NULL + 0, as the end of an empty array, is allowed from C2Y on. A char
# has no sign, as on arm64. At a fixed address, as relocating the sanitizers' tables touches 700 pages at each start.
CC	= $(CLANG)
WARNINGS += -Wno-unknown-attributes -Wno-string-concatenation
CPPFLAGS += $(if $(findstring address,$(SAN)),-D__SANITIZE_ADDRESS__) $(if $(findstring thread,$(SAN)),-D__SANITIZE_THREAD__)
override CFLAGS += -O1 -fsanitize=$(SAN),fuzzer-no-link -fno-omit-frame-pointer -fno-sanitize-recover=undefined -fno-sanitize=pointer-overflow -funsigned-char -fno-pie
override LDFLAGS += -fsanitize=$(SAN) -no-pie
endif
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall $(if $(WERROR),-Werror) \
	$(SYSROOT:%=--sysroot=%) $(if $(MULTIARCH),-idirafter $(SYSROOT)/usr/include/$(MULTIARCH))

LIBS	= -lbpf -ltraceevent -ldw -lelf -llzma -liberty -lzstd -lz -lprotobuf-c -lseccomp -lcap -pthread

# ---- sources ----------------------------------------------------------------

# sqrt() of user/analysis/stacks_diff.c
LIBS	+= -lm

# Each folder below user/ is one static archive: lib/source-func.a is user/source/func.
USER_SRC := $(sort $(filter-out user/fxt/example.c user/cli/main.c,$(wildcard user/*/*.c user/*/*/*.c)))
FOLDERS	:= $(sort $(patsubst user/%/,%,$(dir $(USER_SRC))))
PROTO	:= user/format/perfetto/perfetto.proto
BPF_SRC	:= $(sort $(wildcard bpf/*.bpf.c))
MAN1	:= $(sort $(wildcard docs/man/*.1))
MAN3	:= $(sort $(wildcard docs/man/*.3))
MAN5	:= $(sort $(wildcard docs/man/*.5))

obj	= $(patsubst %.c,$(O)/obj/%.o,$(1))
archive	= $(if $(filter fxt,$(1)),$(O)/libfxt.a,$(O)/lib/$(subst /,-,$(1)).a)
ARCHIVES := $(foreach folder,$(FOLDERS),$(call archive,$(folder)))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all demo check check-all check-unit check-vm vm-programs bench bench-programs cost-programs fuzz install uninstall clean unit headers test-headers FORCE

all: $(O)/kfxt $(O)/libfxt.a $(O)/libfxt.pc $(O)/kfxt.service $(O)/kfxt.conf

$(O)/obj/tests/unit/%.o: private CPPFLAGS += -Itests/unit
# Users of the library have its headers in a folder of their own.
$(O)/obj/user/fxt/example.o $(O)/obj/tests/unit/%main_test.o: private CPPFLAGS += -Iuser/fxt
# Archives may use one another in any order.
define link
$(call msg,LD)
@mkdir -p $(@D)
$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group
endef
define ar
$(call msg,AR)
@mkdir -p $(@D)
$(Q)rm -f $@ && $(AR) rcs $@ $^
endef

$(O)/kfxt: $(O)/obj/user/cli/main.o $(ARCHIVES)
	$(link) $(LIBS)

$(foreach folder,$(FOLDERS),$(eval $(call archive,$(folder)): \
	$(call obj,$(foreach src,$(USER_SRC),$(if $(filter user/$(folder)/,$(dir $(src))),$(src))))))
$(call archive,$(patsubst user/%/,%,$(dir $(PROTO)))): $(O)/obj/gen/perfetto.pb-c.o
$(ARCHIVES):
	$(ar)

$(O)/libfxt.pc: user/fxt/libfxt.pc.in $(O)/prefix
	$(call msg,GEN)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

$(O)/kfxt.service: scripts/kfxt.service.in $(O)/prefix
	$(call msg,GEN)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|' $< > $@

$(O)/kfxt.conf: scripts/kfxt.conf
	$(Q)cp $< $@

# Files that change only when what is in them does: a change of flags rebuilds everything.
$(O)/flags: STAMP = $(CC) $(CLANG) $(CPPFLAGS) $(CFLAGS) $(BPF_CFLAGS) $(LDFLAGS)
$(O)/prefix: STAMP = $(PREFIX) $(SYSCONFDIR) $(VERSION)
$(O)/flags $(O)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(STAMP))' | cmp -s - $@ || echo '$(subst ','\'',$(STAMP))' > $@

$(O)/obj/%.o: %.c $(O)/flags
	$(call msg,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/obj/gen/%.o: $(O)/gen/%.c $(O)/flags
	$(call msg,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# ---- generated --------------------------------------------------------------

define bpf_rule
$(O)/gen/%.bpf.o: $(1)/%.bpf.c $(O)/flags
	$$(call msg,CLANG)
	@mkdir -p $$(@D)
	$$(Q)$$(CLANG) $$(BPF_CFLAGS) -MMD -MP -MF $$(@:.o=.d) -c -o $$@ $$<
endef
$(foreach dir,bpf tests/live/programs tests/bench,$(eval $(call bpf_rule,$(dir))))

$(O)/gen/%.skel.h: $(O)/gen/%.bpf.o
	$(call msg,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@

$(O)/gen/kfxt.linked.o: $(BPF_SRC:bpf/%.c=$(O)/gen/%.o)
	$(call msg,BPFLINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/gen/kfxt.skel.h: $(O)/gen/kfxt.linked.o
	$(call msg,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name kfxt_bpf > $@

$(O)/gen/perfetto.pb-c.c $(O)/gen/perfetto.pb-c.h &: $(PROTO)
	$(call msg,PROTOC)
	@mkdir -p $(@D)
	$(Q)$(PROTOC_C) --c_out=$(O)/gen -I$(dir $<) $<

$(call obj,$(shell grep -l kfxt.skel.h $(USER_SRC))): $(O)/gen/kfxt.skel.h

# Names by number: what the compiler's headers have, for programs of 64 and of 32 bits.
$(O)/gen/syscalls_%.h: $(O)/flags
	$(call msg,GEN)
	@mkdir -p $(@D)
	$(Q)echo '#include <asm/unistd.h>' | $(CC) $(CFLAGS) -E -dM - | \
		sed -nE 's/^#define __NR_([a-z_][a-z0-9_]*) .*/[__NR_\1] = "\1",/p' | grep -vwE '__NR_(syscalls|arch_specific_syscall)' > $@
$(O)/gen/syscalls_compat.h: $(O)/flags
	$(call msg,GEN)
	@mkdir -p $(@D)
	$(Q)printf '#if __has_include(<asm/unistd_32.h>)\n#include <asm/unistd_32.h>\n#endif\n' | \
		$(CC) $(CFLAGS) -E -dM - | sed -nE 's/^#define __NR_([a-z0-9_]+) ([0-9]+)$$/[\2] = "\1",/p' > $@

$(call obj,user/kernel/syscalls.c): $(O)/gen/syscalls_native.h $(O)/gen/syscalls_compat.h
$(call obj,user/format/perfetto/packets.c): $(O)/gen/perfetto.pb-c.h

# ---- tests -------------------------------------------------------------------

UNIT_SRC := $(sort $(wildcard tests/unit/*.c tests/unit/*/*.c tests/unit/*/*/*.c))
UNIT_TESTS := $(filter %_test.c,$(UNIT_SRC))
UNIT_BIN := $(patsubst %.c,$(O)/tests/%,$(notdir $(UNIT_TESTS)))
LIVE	:= calls cross load outs pingpong stacks states still storm syscalls usdt
LIVE_BPF := switch_count
TEST_BIN := $(addprefix $(O)/tests/,fxt_all_records model_records scan_records trigger_records example $(LIVE) $(LIVE_BPF))
MODULE_TESTER := $(sort $(wildcard tests/vm/module_*.c))

# What several unit tests share.
$(O)/lib/unit.a: $(call obj,$(filter-out %_test.c %_fuzz.c %_records.c,$(UNIT_SRC)))
	$(ar)

$(foreach src,$(UNIT_TESTS),$(eval $(O)/tests/$(basename $(notdir $(src))): $(call obj,$(src))))
$(UNIT_BIN): $(O)/lib/unit.a $(ARCHIVES)
	$(link) $(WRAP) $(JUDGE) $(LIBS) -lcmocka

# What a test has in place of the kernel: __wrap_NAME() for NAME().
comma	:= ,
wraps	= $(addprefix -Wl$(comma)--wrap=,$(1))
MAPS_WRAP := $(call wraps,mmap_events_open mmap_events_begin mmap_events_read mmap_events_lost mmap_events_close opendir fopen)
$(addprefix $(O)/tests/,process_maps_test unwind_test): WRAP := $(MAPS_WRAP)

$(O)/tests/delays_test: WRAP := $(call wraps,mkdir rmdir write tracefs_instances)
$(O)/tests/check_trials_test: WRAP := $(call wraps,feature_at feature_have)
$(O)/tests/cgroup_filter_test: WRAP := $(call wraps,cgroups_each)
$(O)/tests/tracefs_busy_test: WRAP := $(call wraps,text_file_read)
$(O)/tests/tracefs_busy_source_test: WRAP := $(call wraps,tracefs_format tracefs_is_busy)
$(O)/tests/urgency_sleep_test: WRAP := $(call wraps,kernel_is_preempt_rt)
$(O)/tests/marker_helper_test: WRAP := $(call wraps,mkdir rmdir)
$(O)/tests/window_memory_test: WRAP := $(call wraps,malloc calloc realloc)

# The same program with call frame information of all kinds, or none: stacks to be unwound.
UNWOUND	:= nofp fp static nopie now stripped debug_frame nohdr nocfi
UNWOUND_nofp := -fomit-frame-pointer
UNWOUND_fp := -fno-omit-frame-pointer
UNWOUND_static := -fomit-frame-pointer -static
UNWOUND_nopie := -fomit-frame-pointer -no-pie
UNWOUND_now := -fomit-frame-pointer -Wl,-z,now
UNWOUND_stripped := -fomit-frame-pointer -s
UNWOUND_debug_frame := -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -g
UNWOUND_nohdr := -fomit-frame-pointer -Wl,--no-eh-frame-hdr
UNWOUND_nocfi := -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables
UNWOUND_BIN := $(UNWOUND:%=$(O)/tests/unwound-%)
$(UNWOUND_BIN): $(O)/tests/unwound-%: tests/live/programs/unwound.c $(O)/flags
	$(call msg,CC)
	@mkdir -p $(@D)
	$(Q)$(CROSS_COMPILE)gcc $(SYSROOT:%=--sysroot=%) -D_GNU_SOURCE -O2 -Wall -Wextra $(UNWOUND_$*) -o $@ $< -pthread
# The program whose threads are sampled, in the ways in which programs are built.
STACKS_BIN := $(addprefix $(O)/tests/stacks-,nofp fp static nopie stripped)
$(STACKS_BIN): $(O)/tests/stacks-%: tests/live/programs/stacks.c tests/live/programs/tally.h $(O)/flags
	$(call msg,CC)
	@mkdir -p $(@D)
	$(Q)$(CROSS_COMPILE)gcc $(SYSROOT:%=--sysroot=%) -D_GNU_SOURCE -O2 -Wall -Wextra $(UNWOUND_$*) -o $@ $< -pthread
$(O)/tests/unwind_program_test: JUDGE := -ldw

$(O)/tests/fxt_all_records: $(call obj,$(filter %/fxt_all_records.c,$(UNIT_SRC))) $(O)/lib/unit.a $(O)/libfxt.a
$(O)/tests/model_records: $(call obj,$(filter %/model_records.c,$(UNIT_SRC))) $(ARCHIVES)
$(O)/tests/trigger_records: $(call obj,$(filter %/trigger_records.c,$(UNIT_SRC))) $(ARCHIVES)
$(O)/tests/scan_records: $(call obj,$(filter %/scan_records.c,$(UNIT_SRC))) $(ARCHIVES)
$(O)/tests/example: $(O)/obj/user/fxt/example.o $(O)/libfxt.a
$(LIVE:%=$(O)/tests/%): $(O)/tests/%: $(O)/obj/tests/live/programs/%.o
$(call obj,tests/live/programs/switch_count.c): $(O)/gen/switch_count.skel.h
$(O)/tests/switch_count: $(O)/obj/tests/live/programs/switch_count.o
$(TEST_BIN):
	$(link) $(if $(filter %switch_count,$@),-lbpf -lelf -lz) -pthread

# kfxt with its unwinder judged, and without the tracepoint that samples sleeps.
$(O)/tests/judged: WRAP := $(call wraps,unwinder_unwind)
$(O)/tests/fallback: WRAP := $(call wraps,kernel_btf_has_tracepoint)
RECORDERS := $(addprefix $(O)/tests/,judged fallback)
$(RECORDERS): $(O)/tests/%: $(O)/obj/tests/live/programs/%.o $(O)/obj/user/cli/main.o $(ARCHIVES)
	$(link) $(WRAP) $(LIBS)

# Goes into virtual machines that have nothing else.
$(O)/tests/module_tester: $(call obj,$(MODULE_TESTER))
	$(call msg,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ -pthread

# Of packages that only tests need.
$(call obj,$(filter-out %_fuzz.c,$(UNIT_SRC)) tests/live/programs/usdt.c): | test-headers
test-headers:
	$(Q)for header in cmocka.h sys/sdt.h; do \
		echo "#include <$$header>" | $(CC) $(CPPFLAGS) $(CFLAGS) -E -xc -o /dev/null - 2>/dev/null || \
		{ echo "tests: no $$header: as root run scripts/install-packages.sh test" >&2; exit 1; }; done

unit: $(UNIT_BIN) $(TEST_BIN) $(UNWOUND_BIN) $(STACKS_BIN) $(RECORDERS)
vm-programs: unit $(O)/tests/module_tester

# libFuzzer: the fuzzers take what is built with sanitizers.
FUZZERS	:= fxt unwrap json phases packets pftrace transcode profile stacks parse convert model kmsg tracepoint repair raw maps words
FUZZERS	+= symbol unwind trigger control
FUZZ_BIN := $(FUZZERS:%=$(O)/tests/%_fuzz)
$(foreach src,$(filter %_fuzz.c,$(UNIT_SRC)),$(eval $(O)/tests/$(basename $(notdir $(src))): $(call obj,$(src))))
$(O)/tests/raw_fuzz: WRAP := $(call wraps,marker_instance_open tasks_drained_ns tasks_find)
$(addprefix $(O)/tests/,maps_fuzz unwind_fuzz): WRAP := $(MAPS_WRAP)
$(O)/tests/words_fuzz: WRAP := $(call wraps,opt_parse text_file_read)
$(FUZZ_BIN): $(O)/lib/unit.a $(ARCHIVES)
	$(if $(SAN),,$(error fuzzers need SAN=address,undefined))
	$(link) -fsanitize=fuzzer $(WRAP) $(LIBS)

# FUZZ_S=3600 seconds each, FUZZ=fxt or FUZZ='fxt repair' for these alone.
FUZZ	?= $(FUZZERS)
fuzz:
	$(Q)O='$(O)' FUZZ='$(FUZZ)' tests/run.sh --all fuzz

check:
	$(Q)$(if $(TEST),,scripts/install-packages.sh test)
	$(Q)tests/run.sh $(TEST)

check-all:
	$(Q)scripts/install-packages.sh test
	$(Q)tests/run.sh --all $(SUITES)

check-unit:
	$(Q)CUT_STEP=$${CUT_STEP:-997} tests/run.sh layers unit golden convert json perfetto

check-vm:
	$(Q)scripts/install-packages.sh test
	$(Q)tests/run.sh --all vm arm64

demo:
	$(Q)scripts/install-packages.sh build
	$(Q)$(MAKE) --no-print-directory all $(O)/tests/pingpong
	$(Q)scripts/demo.sh $(O)

# ---- benchmarks ---------------------------------------------------------------

BENCH_LOADS := $(addprefix $(O)/tests/,func_load rate_load ftrace_copy json_scan)
$(BENCH_LOADS): $(O)/tests/%: $(O)/obj/tests/bench/%.o
	$(link) -pthread

$(addprefix $(O)/tests/,drain_load trigger_load): $(O)/tests/%: $(O)/obj/tests/bench/%.o $(ARCHIVES)
	$(link) $(LIBS)

$(O)/tests/unwind_load: $(call obj,tests/bench/unwind_load.c) $(ARCHIVES)
	$(link) $(call wraps,opendir) -ldw $(LIBS)

$(call obj,tests/bench/ring_bench.c): $(O)/gen/ring_bench.skel.h
$(call obj,tests/bench/empty.c): $(O)/gen/empty.skel.h
$(addprefix $(O)/tests/,ring_bench empty jited): $(O)/tests/%: $(O)/obj/tests/bench/%.o
	$(link) -lbpf -lelf -lz

# BENCH=traced for one of: traced kernel recorder ends events functions import samples scale (tests/bench/bench.py).
bench:
	$(Q)scripts/install-packages.sh bench
	$(Q)$(MAKE) --no-print-directory all bench-programs
	$(Q)$(PYTHON) tests/bench/bench.py $(O) $(BENCH)
# What tests/bench/cost_test.py needs.
cost-programs: $(addprefix $(O)/tests/,drain_load trigger_load unwind_load jited pingpong)
bench-programs: $(BENCH_LOADS) $(addprefix $(O)/tests/,drain_load unwind_load ring_bench empty calls pingpong load stacks)

# ---- kernel module ---------------------------------------------------------------

# Built in $(O)/kmod/RELEASE from links to kmod/, so that the builds for several
# kernels stand side by side and the tree stays clean. DEBUG=1: tests itself at load.
KDIR	?= /lib/modules/$(shell uname -r)/build
KMOD_SRC := $(sort $(wildcard kmod/*.[ch])) kmod/Kbuild
KMOD_RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KMOD_DIR = $(abspath $(O))/kmod/$(KMOD_RELEASE)
# O= again, for ours is not the kernel's. No BTF: nothing needs it, it takes pahole, and one
# that does not fit keeps a module from loading.
KMOD_MAKE = $(MAKE) --no-print-directory -C $(KDIR) O=$(realpath $(KDIR)) M=$(KMOD_DIR) \
	CONFIG_DEBUG_INFO_BTF_MODULES= $(if $(DEBUG),DEBUG=$(DEBUG)) $(if $(WERROR),KCFLAGS=-Werror)

.PHONY: module modules_install module-sources module-dkms-install

module: module-sources
	$(Q)$(KMOD_MAKE) modules

module-sources:
	$(Q)test -e $(KDIR)/include/generated/utsrelease.h || \
		{ echo 'module: no kernel headers in $(KDIR) (package linux-headers-..., or KDIR=)' >&2; exit 1; }
	$(Q)mkdir -p $(KMOD_DIR)
	$(Q)ln -sf $(abspath $(KMOD_SRC)) $(KMOD_DIR)

# Not by the kernel's own rule, which would try to sign it with the kernel's key.
KMOD_INSTALLED = $(DESTDIR)/lib/modules/$(KMOD_RELEASE)/updates/kfxt.ko
modules_install: module
	install -D -m 644 $(KMOD_DIR)/kfxt.ko $(KMOD_INSTALLED)
	$(CROSS_COMPILE)strip --strip-debug $(KMOD_INSTALLED)
	$(if $(DESTDIR),,depmod $(KMOD_RELEASE))

# The sources for DKMS; without DESTDIR= also builds and installs for the running kernel.
KMOD_DKMS = $(DESTDIR)/usr/src/kfxt-$(VERSION)
module-dkms-install:
	install -D -m 644 -t $(KMOD_DKMS) $(KMOD_SRC)
	sed 's/@VERSION@/$(VERSION)/' kmod/dkms.conf > $(KMOD_DKMS)/dkms.conf
	$(if $(DESTDIR),,dkms install kfxt/$(VERSION))

# ---- installing ----------------------------------------------------------------

# The file in use may have been edited: it is neither replaced nor, unless it is as installed, removed.
CONF	= $(SYSCONFDIR)/kfxt/kfxt.conf
install: all
	install -D -m 755 $(O)/kfxt $(DESTDIR)$(PREFIX)/bin/kfxt
	install -D -m 644 $(O)/libfxt.a $(DESTDIR)$(PREFIX)/lib/libfxt.a
	install -D -m 644 $(O)/libfxt.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/libfxt.pc
	install -D -m 644 $(O)/kfxt.service $(DESTDIR)$(PREFIX)/lib/systemd/system/kfxt.service
	install -D -m 644 $(O)/kfxt.conf $(DESTDIR)$(PREFIX)/share/kfxt/kfxt.conf
	test -e $(DESTDIR)$(CONF) || install -D -m 644 $(O)/kfxt.conf $(DESTDIR)$(CONF)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/fxt user/fxt/fxt.h user/fxt/format.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(MAN1)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man3 $(MAN3)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man5 $(MAN5)

uninstall:
	! cmp -s $(DESTDIR)$(PREFIX)/share/kfxt/kfxt.conf $(DESTDIR)$(CONF) || rm $(DESTDIR)$(CONF)
	rm -f $(DESTDIR)$(PREFIX)/bin/kfxt $(DESTDIR)$(PREFIX)/lib/libfxt.a \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/libfxt.pc $(DESTDIR)$(PREFIX)/lib/systemd/system/kfxt.service \
		$(MAN1:docs/man/%=$(DESTDIR)$(PREFIX)/share/man/man1/%) \
		$(MAN3:docs/man/%=$(DESTDIR)$(PREFIX)/share/man/man3/%) \
		$(MAN5:docs/man/%=$(DESTDIR)$(PREFIX)/share/man/man5/%)
	rm -rf $(DESTDIR)$(PREFIX)/include/fxt $(DESTDIR)$(PREFIX)/share/kfxt
	rmdir $(DESTDIR)$(SYSCONFDIR)/kfxt 2>/dev/null || true

clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
