# Builds build/lockstep, build/liblockstep.so and build/liblockstep.a from src/WING/ROOM/*.c with gcc or clang.
#   make [CC=clang] [B=folder] [SANITIZE=address,undefined | thread]
# git, make, gcc, liblz4-dev, libzstd-dev and libdw-dev are assumed; `make setup` installs what is missing of them, and what the tests can use (tests/need).
B ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
SANITIZE ?=
ARCH := $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1)
CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
VERSION := $(shell sed -n 's/^\#define LK_VERSION "\(.*\)"/\1/p' include/lockstep.h)

# A room is included by its name ("report/finding.h"), whichever wing it is in.
WINGS := $(patsubst %/,-I%,$(wildcard src/*/))

# IEEE semantics are the machine's: nothing that lets the compiler reorder, contract or skip floating point.
# -g1: lines and functions in backtraces. Types and variables take a seventh of the time; who debugs says CFLAGS='-O0 -g'.
CFLAGS ?= -O2 -g1
FLAGS = -std=gnu17 -D_GNU_SOURCE= $(WINGS) -Iinclude -Wall -Wextra -Werror $(CFLAGS) -fPIC -fvisibility=hidden \
	-fno-math-errno -ffp-contract=off -pthread $(if $(PACKING),,-DNO_PACKING) $(if $(LIBDW),,-DNO_LIBDW) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	$(if $(findstring undefined,$(SANITIZE)),-fno-sanitize-recover=undefined) \
	$(if $(findstring thread,$(SANITIZE)),$(if $(CLANG),,-Wno-tsan)))
LINK = -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)
# Images in fatbins may be packed: liblz4 and libzstd unpack them. A build without their headers says so when it meets one.
PACKING := $(shell printf '\043include <lz4.h>\n\043include <zstd.h>\n' | $(CC) -E -x c - > /dev/null 2>&1 && echo -llz4 -lzstd)
LIBS = -lm -lpthread -ldl $(PACKING)
# The command reads debug information of programs with libdw; without its headers reports name addresses, not lines.
LIBDW := $(shell printf '\043include <elfutils/libdwfl.h>\n' | $(CC) -E -x c - > /dev/null 2>&1 && echo -ldw -lelf)
# The lane loops: gcc needs -O3 for the masked commit; clang loses the vectors when it unrolls, and warns of rows that have none. Where a
# variable of a vectorised loop lies at each instruction tells a debugger little, and takes a seventh of the time.
LANES_FLAGS = -O3 $(if $(CLANG),-fno-unroll-loops -Wno-pass-failed,-fno-var-tracking -Wno-psabi)

# src/cuda/front is a library of its own: it lives beside the loader, not in liblockstep.
FRONT := $(sort $(wildcard src/cuda/front/*.c))
FRONT_PYTHON := $(patsubst src/cuda/front/%,%,$(sort $(wildcard src/cuda/front/python/*.py)))
# NVIDIA's compiled libraries, a table of exports each; the file of CUDA 12 and that of CUDA 13.
LIBRARIES = libcublas.so.12 libcublas.so.13 libcublasLt.so.12 libcublasLt.so.13 libcurand.so.10 libcufft.so.11 libcufft.so.12
library_name = $(patsubst lib%,%,$(firstword $(subst .so, ,$(1))))
library_release = $(if $(filter %.so.10 libcufft.so.12 %.so.13,$(1)),13,12)
SRC := $(filter-out $(FRONT),$(sort $(wildcard src/*/*.c src/*/*/*.c)))
CLI := $(filter src/cli/%,$(SRC))
obj = $(patsubst src/%.c,$(B)/obj/%.o,$(1))
# The drop-in libraries (src/cuda/driver, src/cuda/runtime): stubs of what nobody defines are part of the engine.
LIB_OBJ := $(call obj,$(filter-out $(CLI),$(SRC))) $(B)/obj/device/abi/cu_stubs.o $(B)/obj/device/abi/rt_stubs.o $(B)/obj/device/abi/gate_entry.o
CLI_OBJ := $(call obj,$(CLI))
LANES := $(wildcard src/machine/lanes/lanes*.c)
# Video instructions take each lane apart: AVX2 is nothing to them.
LANES_V3 := $(patsubst src/%.c,$(B)/obj/%_v3.o,$(filter-out %/lanes_video.c,$(LANES)))
# x86-64 carries the lane loops twice; the machine picks at start (-DLANES_V3 marks the second copy). ROWS=1 (tests/rows) counts in them.
# There the first copy is for processors older than 2013: it is right, and takes a third of the time to make.
ifeq ($(ARCH),x86_64)
LIB_OBJ += $(LANES_V3)
LANES_FIRST = $(LANES_FLAGS:-O3=-O1)
else
LANES_FIRST = $(LANES_FLAGS)
endif
ifdef ROWS
override LANES_FLAGS := -O1 --coverage
LINK += --coverage
endif
UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZCC ?= clang
TRUTH := $(wildcard tests/truth/*.c)
BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))

# The targets that a newcomer types use all processors unless told otherwise.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
jobs = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
# One short line for each file; make V=1 shows the whole command.
say = $(if $(V),,@echo '$(1) $(2)';)

.PHONY: all docs man demo test test-clients truth agree rows oracle check-layers format regen bench unit fuzz fuzzers sanitize tsan stress clean install uninstall deb wheel need setup check-all FORCE
.DELETE_ON_ERROR:

# What takes longest is begun first.
all: $(call obj,$(LANES) src/lang/oracle/oracle_f64.c src/lang/oracle/oracle_rows_dd.c) $(if $(filter x86_64,$(ARCH)),$(LANES_V3)) $(B)/lockstep $(B)/liblockstep.so $(B)/liblockstep.a $(addprefix $(B)/front/,lockstep-front.so libcuda.so.1 libcudart.so.11.0 libcudart.so.12 libcudart.so.13 libnvidia-ml.so.1 libgpuocelot.so $(LIBRARIES) $(FRONT_PYTHON))

# The compiler and its flags, so that changing them rebuilds; touched only when they differ.
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(CC) $(FLAGS) $(LINK)' | cmp -s - $@ || echo '$(CC) $(FLAGS) $(LINK)' > $@

$(call obj,$(LANES)): MORE = $(LANES_FIRST)
$(call obj,src/machine/sim/lanes_wrap.c src/machine/sim/memory.c src/machine/sim/memory_fast.c src/check/check/init_fast.c src/check/check/init_memory.c src/check/race/race_handlers.c src/check/race/race_handlers_init.c src/check/race/race_cell.c src/check/race/race_list.c \
    src/check/race/happens_before.c): MORE = $(LANES_FLAGS)
# What runs once a call of a person, or writes what was found: -O1, which takes two thirds of the time of -O2.
CALM := $(filter src/cli/% src/cuda/nvml/% src/store/report/% src/store/page/% src/store/record/% src/store/image/% src/lang/contract/% src/check/explain/% \
    src/device/compile/% src/device/gpu/% src/base/stat/% src/api/api/% src/cuda/engine/%,$(filter-out %/report.c,$(SRC)))
$(call obj,$(CALM)): MORE = $(if $(filter -O2 -O3,$(CFLAGS)),-O1)
# A loop over memory: clang keeps its vectors, and unrolls it.
$(call obj,src/check/check/value_scan.c): MORE = -O3
$(B)/obj/%.o: src/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(FLAGS) $(MORE) -MMD -MP -c $< -o $@

$(LANES_V3): MORE = $(LANES_FLAGS) -march=x86-64-v3 -DLANES_V3
# Video instructions are rare: -O3 makes them a tenth faster, and takes three times as long.
$(B)/obj/machine/lanes/lanes_video.o: LANES_FIRST := $(LANES_FLAGS:-O3=-O1)
$(B)/obj/%_v3.o: src/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(FLAGS) $(MORE) -MMD -MP -c $< -o $@

# The command carries the kernels of `lockstep ring --validate` and `--bench` in itself.
$(B)/obj/cli/verbs/ring_validate.o: src/generated/vectors.ptx
$(B)/obj/cli/verbs/ring_mail.o: src/generated/mail.ptx
$(B)/obj/cli/verbs/ring_pairs.o: src/generated/pairs.ptx

# ... and the program that times Python callables.
$(B)/obj/cli/bench/bench_side.o: src/cli/bench/timed.py

# The definitions of oracles lie in the library as they are written.
$(B)/obj/lang/oracle/oracle_read.o: src/lang/oracle/ops.txt
$(B)/obj/api/lab/lab_outside.o: src/api/lab/outside.py

# The parts of the page of `--html` lie in the library, too.
$(B)/obj/store/page/page.o: src/store/page/page.html src/store/page/page.css src/store/page/charts.js src/store/page/page.js

# Directed rounding: the compiler must not take the rounding mode for granted.
$(B)/obj/machine/lanes/lanes_round.o $(B)/obj/machine/lanes/lanes_round_v3.o: FLAGS += -frounding-math $(if $(CLANG),-Wno-unsupported-floating-point-opt)

$(B)/liblockstep.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,ar,$@)ar rcs $@ $^

# nodelete: it has threads, and mono closes what a program has loaded before the process ends.
$(B)/liblockstep.so: $(LIB_OBJ)
	$(call say,ld,$@)$(CC) -shared -static-libgcc -Wl,-soname,liblockstep.so.0 -Wl,-z,nodelete $(LINK) $^ -o $@ $(LIBS)
	@ln -sf liblockstep.so $@.0

$(B)/obj/%.o: src/%.S src/device/abi/libcuda.def src/device/abi/cudart.def src/device/abi/gate_layout.h src/device/abi/gate_door.S $(B)/flags
	@mkdir -p $(@D)
	$(call say,as,$<)$(CC) $(WINGS) -c $< -o $@
# The engine is found one folder up from them; with it a process has one copy of everything.
drop_in = $(CC) $(WINGS) -shared -nostdlib $(1) $< -o $@ -Wl,-soname,$(@F) $(B)/liblockstep.so '-Wl,-rpath,$$ORIGIN/..:$$ORIGIN/../..'
$(B)/front/libcuda.so.1: src/device/abi/shell.S src/device/abi/gate_door.S src/device/abi/libcuda.def $(B)/liblockstep.so
	@mkdir -p $(@D)
	$(call say,ld,$@)$(call drop_in,'-DEXPORTS="abi/libcuda.def"' -DPREFIX=lkcu_)
$(B)/front/libcudart.so.%: src/device/abi/shell.S src/device/abi/gate_door.S src/device/abi/libcuda.def src/device/abi/cudart.def $(B)/liblockstep.so
	@mkdir -p $(@D); echo '$(@F) { global: cu*; __cu*; local: *; };' > $@.map
	$(call say,ld,$@)$(call drop_in,'-DEXPORTS="abi/cudart.def"' -DPREFIX=lkrt_ -DRELEASE=$(basename $*) -Xlinker --version-script=$@.map)

$(LIBRARIES:%=$(B)/front/%): src/device/abi/library_shell.S src/device/abi/gate_door.S src/device/abi/gate_layout.h $(wildcard src/device/abi/cu*.def) src/device/abi/libraries.def $(B)/liblockstep.so
	@mkdir -p $(@D); echo '$(@F) { global: $(call library_name,$(@F))*; local: *; };' > $@.map
	$(call say,ld,$@)$(call drop_in,'-DEXPORTS="abi/$(call library_name,$(@F)).def"' -DFIRST=first_$(call library_name,$(@F)) -DRELEASE=$(call library_release,$(@F)) -Xlinker --version-script=$@.map)

$(B)/front/libnvidia-ml.so.1: src/cuda/nvml/ml_shell.S src/device/abi/ml.def $(B)/liblockstep.so
	@mkdir -p $(@D)
	$(call say,ld,$@)$(call drop_in,)

# A client of the drop-in driver in the same folder. Its callers are found by frame pointers.
$(B)/front/libgpuocelot.so: src/cuda/front/ocelot/ptx_run.c $(B)/front/libcuda.so.1 $(B)/flags
	$(call say,ld,$@)$(CC) $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(FLAGS)) -fno-omit-frame-pointer -fno-optimize-sibling-calls -shared -Wl,-soname,$(@F) $(LDFLAGS) $< -o $@ $(B)/front/libcuda.so.1 '-Wl,-rpath,$$ORIGIN' -pthread

$(B)/front/python/%: src/cuda/front/python/%
	@mkdir -p $(@D) && cp $< $@

# No sanitizer: the loader calls it before any runtime of theirs is there.
$(B)/front/lockstep-front.so: $(FRONT) $(wildcard src/cuda/front/*.h src/cuda/front/*.def) src/device/abi/cudart.def $(B)/flags
	@mkdir -p $(@D)
	$(call say,ld,$@)$(CC) $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(FLAGS)) -shared $(LDFLAGS) $(FRONT) -o $@ -ldl

$(B)/lockstep: $(CLI_OBJ) $(B)/liblockstep.a
	$(call say,ld,$@)$(CC) $(LINK) $^ -o $@ $(LIBS) $(LIBDW)
	@$(if $(LIBDW),true,echo "libdw-dev is missing: lockstep run will name addresses of host programs in place of lines")

# Tests see the insides: they link the archive. The command's own files but main.c are linked in too.
$(B)/cli.a: $(filter-out $(B)/obj/cli/cli/main.o,$(CLI_OBJ))
	@rm -f $@
	$(call say,ar,$@)ar rcs $@ $^
$(B)/unit/%: tests/unit/%.c $(B)/cli.a $(B)/liblockstep.a
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(FLAGS) -MMD -MP -Itests/unit $(LINK) $< $(filter tests/framework/%.c,$^) $(B)/cli.a $(B)/liblockstep.a -o $@ $(LIBS) $(LIBDW)
# The jobs of a framework, on the software GPU or a real one: tests/framework/suite.h.
$(B)/unit/test_framework: $(wildcard tests/framework/*.c) tests/framework/suite.h | $(B)/unit/second_driver.so $(B)/front/libcuda.so.1
$(B)/unit/second_driver.so: tests/unit/second_driver.c src/device/gpu/driver.h $(B)/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(FLAGS)) -shared $(LDFLAGS) $< -o $@ -ldl
# A driver without a GPU, which LOCKSTEP_LIBCUDA names (tests/unit/test_gpu.c).
$(B)/unit/stub_driver.so: tests/unit/stub_driver.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(FLAGS) -Wno-format-zero-length -MMD -MP -shared $(LINK) $< -o $@
$(B)/unit/test_gpu: $(B)/unit/stub_driver.so
# fuzz_x.c brings what else is named *_x.c, a reference or a generator.
$(B)/fuzz/%: tests/fuzz/%.c $(B)/cli.a $(B)/liblockstep.a
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(FLAGS) -DREPLAY -MMD -MP $(LINK) $(wildcard tests/fuzz/*_$(*:fuzz_%=%).c) $(B)/cli.a $(B)/liblockstep.a -o $@ $(LIBS) $(LIBDW)
# The same for a fuzzer that brings main: libFuzzer, or AFL++ with FUZZCC=afl-clang-fast (`make fuzzers`, docs/inside/fuzzing.md).
$(B)/fuzzer/%: tests/fuzz/fuzz_%.c $(B)/cli.a $(B)/liblockstep.a
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(FLAGS) -MMD -MP $(LINK) -fsanitize=fuzzer $(wildcard tests/fuzz/*_$*.c) $(B)/cli.a $(B)/liblockstep.a -o $@ $(LIBS) $(LIBDW)
$(B)/bench/%: tests/bench/%.c $(B)/liblockstep.a
	@mkdir -p $(@D)
	$(call say,cc,$<)$(CC) $(FLAGS) -MMD -MP $(LINK) $< $(B)/liblockstep.a -o $@ $(LIBS)

$(B)/truth/truth: $(TRUTH) tests/truth/truth.h $(B)/liblockstep.a
	@mkdir -p $(@D)
	$(call say,cc,tests/truth)$(CC) $(FLAGS) -O3 $(LINK) $(TRUTH) $(B)/liblockstep.a -o $@ $(LIBS)

unit: $(UNIT)
fuzz: $(FUZZ)
fuzzers:
	@$(MAKE) --no-print-directory $(jobs) B=$(B)-fuzz CC=$(FUZZCC) CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' LANES_FLAGS='-O1 -Wno-pass-failed' SANITIZE=address,undefined $(FUZZ:$(B)/fuzz/fuzz_%=$(B)-fuzz/fuzzer/%)

need:
	@tests/need '$(CC)'

setup:
	@tests/need --setup '$(CC)' '$(B)'
# `make setup test` is one line of a newcomer, who may have MAKEFLAGS=-j.
demo test: | $(filter setup,$(MAKECMDGOALS))
need: | $(filter setup,$(MAKECMDGOALS))

demo: need
	@echo "building into $(B) (make V=1 demo shows it)"
	@$(MAKE) --no-print-directory $(jobs) all > $(if $(V),/dev/stdout,/dev/null)
	@tests/demo $(B)

test: need
	@$(MAKE) --no-print-directory $(jobs) all unit fuzz $(B)/truth/truth
	@tests/run --build $(B)

# What the real GPU computes, all of it, against the software GPU (docs/measured/truth.md); `make test` replays a part.
truth: need
	@$(MAKE) --no-print-directory $(jobs) $(B)/truth/truth
	@$(B)/truth/truth replay tests/truth/records/h200.truth --all-verdicts

# Which rows of isa.def no test runs, by gcov; .ci/run does it after `make test`.
rows: need
	@tests/rows --build $(B)
# Python and other clients, installed from their registries, as their users run them; .ci/run does it after `make rows`. CLIENTS="numba cupy": these alone.
test-clients: need
	@$(MAKE) --no-print-directory $(jobs) all
	@tests/clients/run --build $(B) $(CLIENTS)
# How often the front end and ptxas agree on what is PTX (docs/inside/ptx.md); needs ptxas.
agree: need
	@$(MAKE) --no-print-directory $(jobs) $(B)/bench/agree
	@$(B)/bench/agree -n $(or $(MUTANTS),2000) -v tests/cases/*/*.ptx tests/bench/*.ptx

check-layers:
	@tests/layers

# Every C file as .clang-format has it, documents in 120 columns; the suite checks it.
format:
	@tests/format --fix
	@tests/wrap --fix > /dev/null

# What is generated from the tables; tests/cases/cli/isa.case, explain.case and man.case see that it is up to date.
docs: all man
	$(B)/lockstep isa --markdown --times tests/bench/rows > docs/reference/isa.md
	$(B)/lockstep explain --markdown > docs/reference/findings.md
	tests/library > docs/lab/kernels.md
	{ sed '/^| primitive/,$$d' docs/lab/oracle.md; $(B)/lockstep test --primitives; } > $(B)/oracle.md && cp $(B)/oracle.md docs/lab/oracle.md
man: all
	$(B)/lockstep help --man > man/lockstep.1

# What takes too long for `make test` (tests/long), and forms of oracles, some hundred thousand (FORMS times what the suite runs).
check-all: need
	@$(MAKE) --no-print-directory $(jobs) all unit fuzz $(B)/truth/truth
	@tests/run --build $(B) --long
	@$(B)/unit/test_oracle_forms $(or $(FORMS),100)

# PTX is committed beside each .cu, so that nobody needs the toolkit; this rebuilds it (needs nvcc).
# A million random programs under the race check and under a naive oracle: make oracle [FIRST=1] [COUNT=1000000]
oracle: $(B)/unit/test_race_oracle
	$(B)/unit/test_race_oracle $(or $(FIRST),1) $(or $(COUNT),1000000) $(JOBS)

regen:
	@tests/regen

bench: all $(BENCH)
	tests/bench/run $(B)

sanitize: need
	@$(MAKE) --no-print-directory B=$(B)-asan SANITIZE=address,undefined test
	@ASAN_OPTIONS=detect_leaks=1 tests/run --build $(B)-asan --area demo

# A program of random threads, streams, graphs and allocations under lockstep run, a thousand times. Needs nvcc.
stress: all
	@tests/stress/run $(B)

tsan: need
	@$(MAKE) --no-print-directory $(jobs) B=$(B)-tsan SANITIZE=thread all unit
	@tests/run --build $(B)-tsan --area tsan
	@tests/run --build $(B)-tsan unit/test_base unit/test_channel unit/test_launches 'unit/test_stream*' unit/test_graphs unit/test_handles 'unit/test_api_*' unit/test_pools unit/test_devices unit/test_dev_random unit/test_dev_blocked \
	    unit/test_async_random unit/test_copies unit/test_footprint unit/test_dev_async unit/test_dev_signals
	@TSAN_OPTIONS=report_signal_unsafe=0 tests/run --build $(B)-tsan unit/test_memory_kinds # its faults are those of its own accesses

# Where things go. Packagers set LIBDIR=$(PREFIX)/lib/<triplet>.
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
# What `lockstep run` puts in front of programs lies beside the libraries, in a folder that no linker looks into.
FRONTDIR ?= $(PREFIX)/lib/lockstep
DROP_IN = lockstep-front.so libcuda.so.1 libcudart.so.11.0 libcudart.so.12 libcudart.so.13 libnvidia-ml.so.1 libgpuocelot.so $(LIBRARIES)
HEADERS = lockstep.h lockstep_contract.h lockstep_image.h lockstep_memory.h lockstep_report.h lockstep_tables.h lockstep_texture.h lockstep_lab.h lockstep_times.h lockstep_ring.h lockstep_ring_layout.h lockstep_ring.cuh lockstep_ring_unit.cuh
INSTALLED = $(BINDIR)/lockstep $(addprefix $(FRONTDIR)/,$(DROP_IN) $(FRONT_PYTHON)) $(LIBDIR)/liblockstep.so.$(VERSION) $(LIBDIR)/liblockstep.so.0 $(LIBDIR)/liblockstep.so $(LIBDIR)/liblockstep.a \
	$(LIBDIR)/pkgconfig/lockstep.pc $(addprefix $(INCLUDEDIR)/,$(HEADERS)) $(foreach m,$(wildcard man/*.[0-9]),$(MANDIR)/man$(patsubst .%,%,$(suffix $(m)))/$(notdir $(m))) \
	$(BASHDIR)/lockstep $(ZSHDIR)/_lockstep

$(B)/lockstep.pc: include/lockstep.h FORCE
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' '' 'Name: lockstep' \
	    'Description: a checked GPU in software: runs CUDA kernels and checks every access' 'Version: $(VERSION)' \
	    'Libs: -L$${libdir} -llockstep' 'Libs.private: $(LIBS)' 'Cflags: -I$${includedir}' > $@

install: all $(B)/lockstep.pc
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))))
	install -m 755 $(B)/lockstep $(DESTDIR)$(BINDIR)/lockstep
	install -m 755 $(B)/liblockstep.so $(DESTDIR)$(LIBDIR)/liblockstep.so.$(VERSION)
	ln -sf liblockstep.so.$(VERSION) $(DESTDIR)$(LIBDIR)/liblockstep.so.0
	ln -sf liblockstep.so.0 $(DESTDIR)$(LIBDIR)/liblockstep.so
	for f in $(DROP_IN); do install -m 755 $(B)/front/$$f $(DESTDIR)$(FRONTDIR)/$$f || exit; done
	install -m 644 $(addprefix src/cuda/front/,$(FRONT_PYTHON)) $(DESTDIR)$(FRONTDIR)/python
	install -m 644 $(B)/liblockstep.a $(DESTDIR)$(LIBDIR)/liblockstep.a
	install -m 644 $(B)/lockstep.pc $(DESTDIR)$(LIBDIR)/pkgconfig/lockstep.pc
	for h in $(HEADERS); do install -m 644 include/$$h $(DESTDIR)$(INCLUDEDIR)/$$h || exit; done
	for m in man/*.[0-9]; do install -m 644 $$m $(DESTDIR)$(MANDIR)/man$${m##*.}/ || exit; done
	$(B)/lockstep completion bash > $(DESTDIR)$(BASHDIR)/lockstep
	$(B)/lockstep completion zsh > $(DESTDIR)$(ZSHDIR)/_lockstep

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))

# Debian packages of all of it, in $(B)/deb (needs dpkg-deb; lintian checks them where it is installed).
deb: all
	packaging/deb '$(B)' '$(VERSION)' '$(CC)'

# A wheel of all of it with the package python/lockstep, in $(B)/wheel: make wheel [TAG=manylinux_2_35_x86_64] [PTX=softmax,gelu] (tests/wheel tests it).
# The command finds libdw in the folder beside it, and what libdw needs, too (an old-style rpath is inherited); liblz4 and libzstd are linked in.
WHEEL_PACKING = $(if $(PACKING),-l:liblz4.a -l:libzstd.a)
$(B)/wheel/lockstep: $(CLI_OBJ) $(B)/liblockstep.a
	@mkdir -p $(@D)
	$(call say,ld,$@)$(CC) $(LINK) -static-libgcc -Wl,--disable-new-dtags '-Wl,-rpath,$$ORIGIN/libs' $^ -o $@ -lm -lpthread -ldl $(WHEEL_PACKING) $(LIBDW)
$(B)/wheel/liblockstep.so.0: $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,ld,$@)$(CC) -shared -static-libgcc -Wl,-soname,liblockstep.so.0 -Wl,-z,nodelete -Wl,--exclude-libs,ALL $(LINK) $^ -o $@ -lm -lpthread -ldl $(WHEEL_PACKING)
wheel: all $(B)/wheel/lockstep $(B)/wheel/liblockstep.so.0
	@packaging/wheel '$(B)' '$(VERSION)' '$(CC)' $(if $(TAG),--tag $(TAG)) $(if $(PTX),--ptx $(PTX))

clean:
	rm -rf $(B) $(B)-asan $(B)-tsan $(B)-fuzz

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(addsuffix .d,$(UNIT) $(FUZZ) $(FUZZ:$(B)/fuzz/fuzz_%=$(B)/fuzzer/%) $(BENCH))
