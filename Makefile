# SPDX-License-Identifier: GPL-2.0
#
# make            build/kfxt and libfxt
# make demo       install what is missing, build, record this machine, show it
# make check      install what is missing, build, run every test
# make check-vm   those that run on other kernels, in virtual machines
# make fuzz       FUZZ_S=3600 FUZZ='fxt repair': the fuzzers, for so long each, all or some
# make bench      what kfxt costs, beside its peers; BENCH=traced for one part
# make install    PREFIX=/usr/local DESTDIR=
# make module     the kernel module, KDIR=/lib/modules/.../build; see kmod/README.md
#
# O=DIR builds elsewhere, V=1 shows commands, SAN=address,undefined or thread,
# CC, CLANG, BPFTOOL, CROSS_COMPILE choose tools, WERROR=1 is what CI sets.
# CROSS_COMPILE=aarch64-linux-gnu- builds for arm64; SYSROOT is where that finds headers
# and libraries, by default Debian's packages, unpacked by tests/vm/arm64.py; empty: /.

VERSION	:= 0.1.0
O	?= build
PREFIX	?= /usr/local
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
CPPFLAGS += -D_GNU_SOURCE -Iuser/fxt -I$(O)/gen -DKFXT_VERSION='"$(VERSION)"'
override CFLAGS += -std=gnu11 $(WARNINGS) $(SYSROOT:%=--sysroot=%)
ifdef SAN
override CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined
override LDFLAGS += -fsanitize=$(SAN)
endif
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall $(if $(WERROR),-Werror) \
	$(SYSROOT:%=--sysroot=%) $(if $(MULTIARCH),-idirafter $(SYSROOT)/usr/include/$(MULTIARCH))

LIBS	= -lbpf -ltraceevent -lelf -lzstd -lz -lprotobuf-c -lseccomp -lcap -pthread

# ---- sources ----------------------------------------------------------------

FXT_SRC	:= $(sort $(filter-out user/fxt/example.c,$(wildcard user/fxt/*.c)))
READ_SRC := $(sort $(wildcard user/read/*.c))
RECORD_SRC := $(sort $(wildcard user/record/*.c))
FTRACE_SRC := $(sort $(wildcard user/ftrace/*.c))
BUILD_SRC := $(sort $(wildcard user/build/*.c))
CLI_SRC	:= $(sort $(wildcard user/cli/*.c))
BPF_SRC	:= $(sort $(wildcard bpf/*.bpf.c))
MAN1	:= $(sort $(wildcard docs/man/*.1))
MAN3	:= $(sort $(wildcard docs/man/*.3))

obj	= $(patsubst %.c,$(O)/obj/%.o,$(1))
FXT_OBJ	:= $(call obj,$(FXT_SRC))
# Everything but main(), for the unit tests too.
PART_OBJ := $(call obj,$(READ_SRC) $(RECORD_SRC) $(FTRACE_SRC) $(BUILD_SRC) \
	$(filter-out user/cli/main.c,$(CLI_SRC))) \
	$(O)/obj/gen/perfetto.pb-c.o
KFXT_OBJ := $(O)/obj/user/cli/main.o $(PART_OBJ)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all demo check check-vm vm-programs bench bench-programs cost-programs fuzz install uninstall clean unit headers FORCE

all: $(O)/kfxt $(O)/libfxt.a $(O)/libfxt.pc $(O)/kfxt.service

$(O)/kfxt: $(KFXT_OBJ) $(O)/libfxt.a
	$(call msg,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/libfxt.a: $(FXT_OBJ)
	$(call msg,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/libfxt.pc: user/fxt/libfxt.pc.in $(O)/flags
	$(call msg,GEN)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

$(O)/kfxt.service: scripts/kfxt.service.in $(O)/flags
	$(call msg,GEN)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' $< > $@

# A change of flags rebuilds everything.
FLAGS	:= $(CC) $(CLANG) $(CPPFLAGS) $(CFLAGS) $(BPF_CFLAGS) $(LDFLAGS) $(PREFIX) $(VERSION)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' > $@

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
$(foreach dir,bpf tests/live tests/bench,$(eval $(call bpf_rule,$(dir))))

$(O)/gen/%.skel.h: $(O)/gen/%.bpf.o
	$(call msg,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@

$(O)/gen/kfxt.linked.o: $(BPF_SRC:bpf/%.c=$(O)/gen/%.o)
	$(call msg,BPFLINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/gen/kfxt.skel.h: $(O)/gen/kfxt.linked.o
	$(call msg,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name kfxt_bpf > $@

$(O)/gen/perfetto.pb-c.c $(O)/gen/perfetto.pb-c.h &: user/record/perfetto.proto
	$(call msg,PROTOC)
	@mkdir -p $(@D)
	$(Q)$(PROTOC_C) --c_out=$(O)/gen -Iuser/record $<

$(call obj,$(shell grep -l kfxt.skel.h user/record/*.c)): $(O)/gen/kfxt.skel.h

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

$(call obj,user/record/syscall_table.c): $(O)/gen/syscalls_native.h $(O)/gen/syscalls_compat.h
$(call obj,user/record/packets.c): $(O)/gen/perfetto.pb-c.h

# ---- tests -------------------------------------------------------------------

UNIT	:= $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/*_test.c)))
# What several unit tests share.
UNIT_PARTS := $(patsubst %.c,$(O)/obj/%.o,$(filter-out %_test.c %_fuzz.c %_records.c,$(sort $(wildcard tests/unit/*.c))))
UNIT_BIN := $(UNIT:%=$(O)/tests/%)
LIVE	:= calls cross load outs pingpong states still storm syscalls usdt
LIVE_BPF := switch_count
TEST_BIN := $(addprefix $(O)/tests/,fxt_all_records example $(LIVE) $(LIVE_BPF))
MODULE_TESTER := $(sort $(wildcard tests/vm/module_*.c))

$(UNIT_BIN): $(O)/tests/%: $(O)/obj/tests/unit/%.o $(UNIT_PARTS) $(PART_OBJ) $(O)/libfxt.a
	$(call msg,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

$(O)/tests/fxt_all_records: $(addprefix $(O)/obj/tests/unit/,fxt_all_records.o fxt_sample.o) $(O)/libfxt.a
$(O)/tests/example: $(O)/obj/user/fxt/example.o $(O)/libfxt.a
$(LIVE:%=$(O)/tests/%): $(O)/tests/%: $(O)/obj/tests/live/%.o
$(call obj,tests/live/switch_count.c): $(O)/gen/switch_count.skel.h
$(O)/tests/switch_count: $(O)/obj/tests/live/switch_count.o
$(TEST_BIN):
	$(call msg,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(if $(filter %switch_count,$@),-lbpf -lelf -lz) -pthread

# Goes into virtual machines that have nothing else.
$(O)/tests/module_tester: $(call obj,$(MODULE_TESTER))
	$(call msg,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ -pthread

unit: $(UNIT_BIN) $(TEST_BIN)
vm-programs: unit $(O)/tests/module_tester

# libFuzzer: everything a fuzzer runs through is compiled with it.
FUZZERS	:= fxt peel parse convert kmsg tracepoint repair raw words
FUZZ_BIN := $(FUZZERS:%=$(O)/tests/%_fuzz)
FUZZ_FLAGS := -g -O1 -D_GNU_SOURCE -Iuser/fxt -I$(O)/gen -DKFXT_VERSION='"$(VERSION)"' -fsanitize=address,undefined
VERIFY_SRC := $(addprefix user/record/,sink.c sink_queue.c compress.c confine.c text_file.c) \
	$(addprefix user/cli/,verify.c verify_format.c verify_gaps.c verify_sense.c repair.c repair_copy.c summary.c \
	trace.c input.c json.c log.c num.c opt.c output.c)
$(O)/tests/fxt_fuzz: tests/unit/fxt_walk.c tests/unit/fxt_mem.c $(FXT_SRC)
$(O)/tests/peel_fuzz: $(filter user/ftrace/peel%,$(FTRACE_SRC))
$(O)/tests/kmsg_fuzz: user/record/kmsg.c user/fxt/utf8.c
$(O)/tests/tracepoint_fuzz: $(addprefix user/record/,tracepoint_check.c tracepoint_format.c tracepoint_parse.c \
	tracepoint_print.c tracepoint_filter.c \
	kernel_symbols.c text_file.c kmsg.c) $(FXT_SRC)
$(O)/tests/parse_fuzz: tests/unit/parse_walk.c $(filter user/ftrace/parse%,$(FTRACE_SRC))
$(O)/tests/convert_fuzz: tests/unit/convert_pipe.c $(FXT_SRC) $(READ_SRC) $(FTRACE_SRC) $(BUILD_SRC) $(VERIFY_SRC)
$(O)/tests/repair_fuzz: tests/unit/repair_walk.c tests/unit/fxt_mem.c $(FXT_SRC) $(READ_SRC) $(VERIFY_SRC)
$(O)/tests/convert_fuzz $(O)/tests/repair_fuzz: FUZZ_LIBS := $(LIBS)
# Of those that need nearly everything, all is compiled once, like PART_OBJ.
FUZZ_OBJ := $(patsubst $(O)/obj/%,$(O)/fuzz-obj/%,$(PART_OBJ) $(FXT_OBJ))
$(O)/fuzz-obj/gen/%.o: $(O)/gen/%.c $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<
$(O)/fuzz-obj/%.o: %.c $(O)/flags
	$(call msg,CLANG)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<
$(FUZZ_OBJ): $(O)/gen/kfxt.skel.h $(O)/gen/perfetto.pb-c.h $(O)/gen/syscalls_native.h $(O)/gen/syscalls_compat.h
$(O)/tests/raw_fuzz: tests/unit/fxt_walk.c tests/unit/fxt_mem.c $(FUZZ_OBJ)
$(O)/tests/words_fuzz: $(FUZZ_OBJ)
$(O)/tests/raw_fuzz: FUZZ_LIBS := $(LIBS) -Wl,--wrap=marker_copy_open,--wrap=names_drained_ns,--wrap=names_find
$(O)/tests/words_fuzz: FUZZ_LIBS := $(LIBS) -Wl,--wrap=opt_parse
$(FUZZ_BIN): $(O)/tests/%_fuzz: tests/unit/%_fuzz.c $(O)/flags $(wildcard user/*/*.h tests/unit/*.h)
	$(call msg,FUZZ)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $(filter %.c %.o,$^) $(or $(FUZZ_LIBS),-ltraceevent -lzstd -lz)

# FUZZ_S=3600 seconds each, FUZZ=fxt or FUZZ='fxt repair' for these alone.
FUZZ	?= $(FUZZERS)
fuzz:
	$(Q)O='$(O)' FUZZ='$(FUZZ)' tests/run.sh fuzz

check:
	$(Q)scripts/install-packages.sh test
	$(Q)tests/run.sh

check-vm:
	$(Q)scripts/install-packages.sh test
	$(Q)tests/run.sh vm arm64

demo:
	$(Q)scripts/install-packages.sh build
	$(Q)$(MAKE) --no-print-directory all $(O)/tests/pingpong
	$(Q)scripts/demo.sh $(O)

# ---- benchmarks ---------------------------------------------------------------

BENCH_LOADS := $(addprefix $(O)/tests/,func_load rate_load ftrace_copy)
$(BENCH_LOADS): $(O)/tests/%: $(O)/obj/tests/bench/%.o
	$(call msg,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

$(O)/tests/drain_load: $(call obj,tests/bench/drain_load.c $(addprefix user/record/,ring.c cache_flush.c sink.c \
		sink_queue.c compress.c confine.c text_file.c))
	$(call msg,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lbpf -lelf -lseccomp -lcap -lzstd -lz -pthread

$(call obj,tests/bench/ring_bench.c): $(O)/gen/ring_bench.skel.h
$(call obj,tests/bench/empty.c): $(O)/gen/empty.skel.h
$(addprefix $(O)/tests/,ring_bench empty jited): $(O)/tests/%: $(O)/obj/tests/bench/%.o
	$(call msg,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lbpf -lelf -lz

# BENCH=traced for one of: traced kernel recorder ends events functions import scale (tests/bench/bench.py).
bench:
	$(Q)scripts/install-packages.sh bench
	$(Q)$(MAKE) --no-print-directory all bench-programs
	$(Q)$(PYTHON) tests/bench/bench.py $(O) $(BENCH)
# What tests/bench/cost_test.py needs.
cost-programs: $(addprefix $(O)/tests/,drain_load jited pingpong)
bench-programs: $(BENCH_LOADS) $(addprefix $(O)/tests/,drain_load ring_bench empty calls pingpong load)

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

install: all
	install -D -m 755 $(O)/kfxt $(DESTDIR)$(PREFIX)/bin/kfxt
	install -D -m 644 $(O)/libfxt.a $(DESTDIR)$(PREFIX)/lib/libfxt.a
	install -D -m 644 $(O)/libfxt.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/libfxt.pc
	install -D -m 644 $(O)/kfxt.service $(DESTDIR)$(PREFIX)/lib/systemd/system/kfxt.service
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/fxt user/fxt/fxt.h user/fxt/format.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(MAN1)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man3 $(MAN3)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/kfxt $(DESTDIR)$(PREFIX)/lib/libfxt.a \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/libfxt.pc $(DESTDIR)$(PREFIX)/lib/systemd/system/kfxt.service \
		$(MAN1:docs/man/%=$(DESTDIR)$(PREFIX)/share/man/man1/%) \
		$(MAN3:docs/man/%=$(DESTDIR)$(PREFIX)/share/man/man3/%)
	rm -rf $(DESTDIR)$(PREFIX)/include/fxt

clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
