# Makefile - builds libmprof.so and mprof, runs every check. `make help` lists the targets.

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
ARCH    := $(shell uname -m)

CC      ?= cc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wundef -Wvla -Wstrict-prototypes -Wmissing-prototypes \
           -Wframe-larger-than=2048 -Werror
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -DMPROF_VERSION='"$(VERSION)"' -I. -I$(BUILD)/gen $(WARN) $(CFLAGS) \
             -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer -fno-semantic-interposition -MMD -MP $(SANITIZE) $(FILE_CFLAGS)

# Sources by layer. *_$(ARCH).c is the one file per architecture; decode*.c need malloc, so only the tools get them.
sources = $(filter-out %_x86_64.c %_aarch64.c,$(wildcard $(1)/*.c)) $(wildcard $(1)/*_$(ARCH).c)
CORE    := $(call sources,core)
DECODE  := $(wildcard pprof/decode*.c)
PPROF   := $(filter-out $(DECODE),$(call sources,pprof)) $(BUILD)/gen/pprof/profile.pb-c.c
PRELOAD := $(filter-out preload/sizeclass_%,$(call sources,preload))
TOOLS   := $(call sources,tools)
UNIT    := $(wildcard tests/unit/*.c)
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(patsubst $(BUILD)/gen/%,%,$(1)))

# The exported functions (figures: preload/README.md): each in cache lines of its own, no frames, no code shared between branches (gcc's
# options; clang shares none).
SEPARATE := $(if $(findstring clang,$(shell $(CC) --version)),,-fno-tree-tail-merge -fno-crossjumping)
$(BUILD)/obj/preload/malloc.o $(BUILD)/obj/preload/operators.o: FILE_CFLAGS := -fomit-frame-pointer -falign-functions=64 $(SEPARATE)

# What records allocations: sampled stacks, or exact counts by size class where there is no stack source.
RECORDER ?= stacks
LIB_stacks    := $(BUILD)/libmprof.so
LIB_sizeclass := $(BUILD)/libmprof-sizeclass.so

LIB     := $(or $(LIB_$(RECORDER)),$(error RECORDER is stacks or sizeclass, not $(RECORDER)))
TOOL    := $(BUILD)/mprof
MAN     := $(BUILD)/man/mprof.1 $(BUILD)/man/libmprof.7
UNITBIN := $(BUILD)/tests/unit
SAMPLES := $(patsubst tests/programs/%.c,$(BUILD)/tests/%,$(wildcard tests/programs/*.c)) \
           $(patsubst tests/programs/%.cc,$(BUILD)/tests/%,$(wildcard tests/programs/*.cc))

STATIC  := $(shell $(CC) -print-file-name=libz.a) $(shell $(CC) -print-file-name=libprotobuf-c.a)
TOOL_LIBS := -ldw -lelf -liberty -lncursesw -lm
JEMALLOC_PIC := $(shell $(CC) -print-file-name=libjemalloc_pic.a)

# Short lines unless V=1.
Q := $(if $(V),,@)

.PHONY: all demo fuzz check check-unit check-e2e check-asan check-tsan lint format bench install clean deps help
all: $(LIB) $(TOOL) $(MAN)

help:
	@echo "all demo check check-asan check-tsan fuzz lint format bench install clean"

# --- the library ------------------------------------------------------------------------------------------------

# jemalloc as a guest: its C++ operators dropped, its public names je_*, its system calls ours (they keep errno).
$(BUILD)/jemalloc.a: $(JEMALLOC_PIC) preload/jemalloc.syms
	@mkdir -p $(@D)
	@echo "  AR   $@"
	$(Q)cp $(JEMALLOC_PIC) $@.tmp
	$(Q)ar d $@.tmp jemalloc_cpp.pic.o
	$(Q)objcopy --redefine-syms=preload/jemalloc.syms $@.tmp
	$(Q)mv $@.tmp $@

$(LIB_stacks): $(call objects,$(filter-out core/sizeclass.c,$(CORE)) $(PPROF) $(PRELOAD))

# The fallback recorder: these replace whatever defines the same symbols, and of the rest the linker takes what it needs.
SIZECLASS := preload/malloc.c preload/operators.c $(wildcard preload/sizeclass_*.c)
$(LIB_sizeclass): $(SIZECLASS:%.c=$(BUILD)/obj/sizeclass/%.o) $(BUILD)/obj/sizeclass/rest.a

$(BUILD)/obj/sizeclass/rest.a: $(call objects,$(CORE) $(PPROF) $(PRELOAD))
	@mkdir -p $(@D)
	@echo "  AR   $@"
	$(Q)rm -f $@ && ar rcs $@ $^

$(LIB_stacks) $(LIB_sizeclass): $(BUILD)/jemalloc.a preload/export.map
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -shared -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(STATIC) -lm \
		-Wl,--version-script=preload/export.map -Wl,-z,now,-z,relro -Wl,--gc-sections,--as-needed \
		-Wl,-z,defs -Wl,-soname,$(@F)

# For tests: every captured stack compared with libunwind's.
ORACLE := $(BUILD)/tests/libmprof-oracle.so
$(ORACLE): $(call objects,$(filter-out core/sizeclass.c,$(CORE)) $(PPROF) $(PRELOAD) tests/oracle/oracle.c) $(BUILD)/jemalloc.a
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $^ -Wl,--wrap=stack_capture $(STATIC) -lunwind -lm \
		-Wl,--version-script=preload/export.map -Wl,-z,now -Wl,--gc-sections

# --- the tool ---------------------------------------------------------------------------------------------------

$(TOOL): $(call objects,$(TOOLS) $(DECODE) $(PPROF) $(CORE))
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(STATIC) $(TOOL_LIBS)

# --- the page of `mprof report` ---------------------------------------------------------------------------------

# npm leaves its packages, and esbuild the bundle, in the build tree.
PAGE := $(wildcard tools/page/*.* tools/page/src/*.js)

$(BUILD)/page/node_modules/.package-lock.json: tools/page/package.json tools/page/package-lock.json tools/page/.npmrc
	@mkdir -p $(BUILD)/page
	@echo "  NPM  tools/page"
	$(Q)cp $^ $(BUILD)/page/
	$(Q)cd $(BUILD)/page && npm ci --loglevel=error >/dev/null && touch node_modules/.package-lock.json

$(BUILD)/gen/page.html: $(PAGE) $(BUILD)/page/node_modules/.package-lock.json
	@mkdir -p $(@D)
	@echo "  GEN  $@"
	$(Q)cp -R $(wildcard tools/page/*.*) tools/page/src $(BUILD)/page/
	$(Q)cd $(BUILD)/page && node build.mjs $(abspath $@)

$(BUILD)/obj/tools/page.o: $(BUILD)/gen/page.html
$(BUILD)/obj/tools/page.o: FILE_CFLAGS := -Wa,-I$(BUILD)/gen

# The manual pages: what the tool and the sources say of themselves.
$(MAN) &: $(TOOL) README.md CHANGELOG.md core/options.def core/loss.def preload/mprof.h scripts/man.sh $(wildcard scripts/man/*)
	@echo "  MAN  $(MAN)"
	$(Q)scripts/man.sh $(BUILD)

# --- compiling --------------------------------------------------------------------------------------------------

$(BUILD)/gen/pprof/profile.pb-c.c $(BUILD)/gen/pprof/profile.pb-c.h &: pprof/profile.proto
	@mkdir -p $(BUILD)/gen
	@echo "  GEN  $@"
	$(Q)protoc-c --c_out=$(BUILD)/gen pprof/profile.proto

$(BUILD)/obj/pprof/profile.pb-c.o: $(BUILD)/gen/pprof/profile.pb-c.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(filter-out -Wshadow -Wundef,$(ALL_CFLAGS)) -c -o $@ $<

$(BUILD)/obj/%.o: %.c | $(BUILD)/gen/pprof/profile.pb-c.h
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/sizeclass/%.o: %.c | $(BUILD)/gen/pprof/profile.pb-c.h
	@mkdir -p $(@D)
	@echo "  CC   $< (sizeclass)"
	$(Q)$(CC) $(ALL_CFLAGS) -DMPROF_RECORDER_SIZECLASS -c -o $@ $<

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# --- tests ------------------------------------------------------------------------------------------------------

$(UNITBIN): $(call objects,$(UNIT) $(filter-out tools/main.c,$(TOOLS)) preload/output.c $(DECODE) $(PPROF) $(CORE))
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(STATIC) $(TOOL_LIBS) -lcriterion -lpthread

$(BUILD)/tests/%: tests/programs/%.c preload/mprof.h
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-inline -fno-builtin -fno-optimize-sibling-calls -Wall -Werror -I. -o $@ $< -lpthread -ldl

$(BUILD)/tests/%: tests/programs/%.cc
	@mkdir -p $(@D)
	@echo "  CXX  $<"
	$(Q)$(CXX) -std=c++17 -O1 -g -fno-inline -fno-builtin -fno-optimize-sibling-calls -Wall -Werror -I. -o $@ $< -lpthread -ldl

# Drives a browser through the page of `mprof report`.
PAGE_TEST := $(BUILD)/tests/page/look.mjs

$(PAGE_TEST): tests/page/look.mjs tests/page/package.json tests/page/package-lock.json tests/page/.npmrc
	@mkdir -p $(@D)
	@echo "  NPM  tests/page"
	$(Q)cp $^ $(@D)/
	$(Q)cd $(@D) && npm ci --loglevel=error >/dev/null

deps:
	@scripts/install-deps.sh

check: deps
	@$(MAKE) --no-print-directory all $(LIB_sizeclass) $(ORACLE) $(UNITBIN) $(SAMPLES) $(PAGE_TEST) $(FUZZERS)
	@scripts/check.sh $(BUILD)

check-unit: $(UNITBIN)
	$(UNITBIN)

check-e2e: all $(LIB_sizeclass) $(ORACLE) $(SAMPLES) $(PAGE_TEST)
	python3 tests/e2e/run.py $(BUILD)

# The unit tests once more, under AddressSanitizer + UBSan, and those of core/ under ThreadSanitizer, without Criterion.
check-asan:
	$(MAKE) check-unit BUILD=$(BUILD)/asan \
		SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover -Wno-frame-larger-than"
check-tsan:
	$(MAKE) check-unit BUILD=$(BUILD)/tsan SANITIZE="-fsanitize=thread -Wno-frame-larger-than -Itests/tsan" \
		UNIT="tests/tsan/main.c $(wildcard $(CORE:core/%.c=tests/unit/test_%.c))"

lint: all
	scripts/lint.sh $(BUILD)
format:
	clang-format -i $(wildcard core/*.[ch] pprof/*.[ch] preload/*.[ch] tools/*.[ch] tests/*/*.[ch] tests/programs/*.cc)

# Fuzzers (libFuzzer): `make fuzz SECONDS=600` runs each that long; what it finds new is added to its corpus.
SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*.c))
FUZZ_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O1 -g -I. -I$(BUILD)/gen -fno-omit-frame-pointer \
               -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined

$(BUILD)/fuzz/%: tests/fuzz/%.c $(filter-out core/sizeclass.c,$(CORE)) $(DECODE) pprof/unsample.c pprof/gzip.c | $(BUILD)/gen/pprof/profile.pb-c.h
	@mkdir -p $(@D)
	@echo "  FUZZ $<"
	$(Q)clang $(FUZZ_CFLAGS) -DMPROF_VERSION='"$(VERSION)"' -o $@ $(filter %.c,$^) $(BUILD)/gen/pprof/profile.pb-c.c $(STATIC) -liberty -lm

# What reading verbs do besides decoding.
$(BUILD)/fuzz/read: $(wildcard tools/convert_*.c) $(patsubst %,tools/%.c,buffer demangle error filter format json measure pack profile_view stacks summary utf8)

fuzz: $(FUZZERS)
	@for fuzzer in $(FUZZERS); do GROW=1 scripts/fuzz.sh $$fuzzer -max_total_time=$(SECONDS) || exit 1; done

# --- using it ---------------------------------------------------------------------------------------------------

demo: deps
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh $(BUILD)

# What each benchmark is made of, besides its own file, and links.
$(BUILD)/bench/counters: $(call objects,core/sizeclass.c)
$(BUILD)/bench/capture: $(call objects,$(filter-out core/sizeclass.c,$(CORE)))
$(BUILD)/bench/capture: BENCH_LIBS := -lunwind
$(BUILD)/bench/hotpath: BENCH_LIBS := -lstdc++
BENCHES := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))

$(BENCHES): $(BUILD)/bench/%: $(BUILD)/obj/bench/%.o
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(BENCH_LIBS) -lm -lpthread

$(BUILD)/obj/bench/%.o: FILE_CFLAGS := -fno-builtin -fno-optimize-sibling-calls

# All of them, and bench/RESULTS.md; SECTIONS="hotpath dump" only prints these.
bench: deps
	@scripts/install-peers.sh
	@$(MAKE) --no-print-directory all $(BENCHES)
	@python3 bench/run.py $(SECTIONS)

# libunwind's library, which libmprof.so looks for beside itself first (core/learn.c).
UNWINDER = $(shell $(CC) -print-file-name=libunwind-$(ARCH).so.8)
SHARE    = $(DESTDIR)$(PREFIX)/share

install: all
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(TOOL)
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib $(LIB)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib $(UNWINDER)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include preload/mprof.h
	install -D -m 644 -t $(SHARE)/man/man1 $(BUILD)/man/mprof.1
	install -D -m 644 -t $(SHARE)/man/man7 $(BUILD)/man/libmprof.7
	install -D -m 644 scripts/completion.bash $(SHARE)/bash-completion/completions/mprof

clean:
	rm -rf $(BUILD)
