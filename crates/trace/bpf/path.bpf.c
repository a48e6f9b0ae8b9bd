// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The programs that stamp packets on their way through the kernel: one for each kind of probe. The
 * loader makes a copy for each point of a path and puts the point's number into it.
 *
 * Compiled by `cargo xtask bpf`; the object beside it is checked in. CO-RE: only the fields below
 * are used of the kernel's types, and the loader finds their offsets in the kernel's own BTF.
 */
#include "journey.h"

#define SEC(name) __attribute__((section(name), used))
#define FIELDS __attribute__((preserve_access_index))

enum { HASH = 1, PERCPU_ARRAY = 6 };

static void *(*lookup)(void *map, const void *key) = (void *)1;
static u64 (*now_ns)(void) = (void *)5;
/* The process in the upper half, the thread in the lower one. */
static u64 (*current)(void) = (void *)14;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;

struct task_struct {
	int pid;
} FIELDS;

struct pt_regs {
	unsigned long orig_ax;
} FIELDS;

/* `__uint(name, value)` of libbpf. */
#define NUMBER(name, value) int(*name)[value]

/* Journeys by the number of the thread that is followed; who follows puts them there. */
struct {
	NUMBER(type, HASH);
	NUMBER(max_entries, 64);
	u32 *key;
	struct journey *value;
} journeys SEC(".maps");

/*
 * Ways: each set of points that a journey passed has a number, in the order in which this CPU met
 * them. By CPU, so that two of them never give one number twice.
 */
#define WAYS 8
struct ways {
	u64 passed[WAYS];
};
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	u32 *key;
	struct ways *value;
} ways SEC(".maps");

/* By way and point: the segment that ends at this point. Point 0's cell has the whole journey. */
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, WAYS * POINTS);
	u32 *key;
	struct cell *value;
} cells SEC(".maps");

/* How often hits came to what (`enum came_to`), then journeys of more ways than are kept apart. */
#define CROWDED CAME_TO
#define TALLIES (CAME_TO + 1)
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, TALLIES);
	u32 *key;
	u64 *value;
} tallies SEC(".maps");

/* How often each point was hit while places were tried. */
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, 256);
	u32 *key;
	u64 *value;
} hits SEC(".maps");

/*
 * Constants that differ from copy to copy: the loader looks for these numbers and puts its own
 * there. The kernel's verifier then knows them, and drops what they rule out.
 */
#define CONSTANT(mark) ({ u64 value; asm volatile("%0 = " #mark " ll" : "=r"(value)); value; })
#define POINT CONSTANT(0x6e65746173736101)
#define LAST CONSTANT(0x6e65746173736102)
#define CALL CONSTANT(0x6e65746173736103)
/* Not 0: only count the hits of points, to learn which of them packets pass. */
#define TRYING CONSTANT(0x6e65746173736104)

#define INLINE static inline __attribute__((always_inline))

INLINE void count(void *map, u32 index)
{
	u64 *tally = lookup(map, &index);

	if (tally)
		++*tally;
}

/* The journey of the running thread, if it is followed. */
INLINE struct journey *under_way(void)
{
	u32 thread = (u32)current();

	return lookup(&journeys, &thread);
}

INLINE u32 way_of(u64 passed)
{
	u32 zero = 0;
	struct ways *known = lookup(&ways, &zero);

	for (u32 way = 0; known && way < WAYS; way++) {
		if (!known->passed[way])
			known->passed[way] = passed;
		if (known->passed[way] == passed)
			return way;
	}
	return WAYS;
}

/*
 * Adds a journey that arrived to the cells of its way. The point before stands in memory, where the
 * verifier does not follow it: it would else try every combination of points.
 */
INLINE void keep(struct journey *journey)
{
	u32 way = way_of(journey->passed), first, index, before;
	struct cell *cell;
	u64 outside;

	if (way >= WAYS) {
		count(&tallies, CROWDED);
		return;
	}
	first = way * POINTS;
	journey->before = 0;
	for (u32 point = 1; point <= LAST && point < POINTS; point++) {
		if (!(journey->passed >> point & 1))
			continue;
		index = first + point;
		cell = lookup(&cells, &index);
		before = journey->before & (POINTS - 1);
		if (!cell)
			return;
		outside = journey->outside[point] - journey->outside[before];
		add(cell, journey->at[point] - journey->at[before] - outside, outside);
		journey->before = point;
	}
	cell = lookup(&cells, &first);
	before = journey->before & (POINTS - 1);
	outside = journey->outside[before];
	if (cell)
		add(cell, journey->at[before] - journey->begun - outside, outside);
}

INLINE int hit(void)
{
	struct journey *journey = under_way();
	enum came_to came_to;

	if (!journey)
		return 0;
	if (TRYING) {
		count(&hits, POINT);
		return 0;
	}
	came_to = pass(journey, POINT, LAST, now_ns());
	if (came_to != PASSED)
		count(&tallies, came_to);
	if (came_to == DONE)
		keep(journey);
	if (came_to == DONE || came_to == REPEATED)
		arrive(journey);
	return 0;
}

SEC("fentry/any") int fentry(void *context) { return hit(); }
SEC("fexit/any") int fexit(void *context) { return hit(); }
SEC("kprobe/any") int kprobe(void *context) { return hit(); }
SEC("kretprobe/any") int kretprobe(void *context) { return hit(); }
SEC("raw_tp/any") int tracepoint(void *context) { return hit(); }

/* sys_enter has the registers and the number of the call. */
SEC("raw_tp/sys_enter") int sys_enter(u64 *context)
{
	return context[1] == CALL ? hit() : 0;
}

/* sys_exit has the registers, which still know the number, and the result. */
SEC("raw_tp/sys_exit") int sys_exit(u64 *context)
{
	struct pt_regs *registers = (void *)context[0];
	u64 call = 0;

	read_kernel(&call, sizeof(call), &registers->orig_ax);
	return call == CALL ? hit() : 0;
}

SEC("raw_tp/begin") int begin(void *context)
{
	struct journey *journey = under_way();

	if (journey)
		interrupt(journey, now_ns());
	return 0;
}

SEC("raw_tp/end") int end(void *context)
{
	struct journey *journey = under_way();

	if (journey)
		resume(journey, now_ns());
	return 0;
}

/* sched_switch has whether it was preempted, the thread that leaves and the one that comes. */
SEC("raw_tp/sched_switch") int sched_switch(u64 *context)
{
	struct task_struct *comes = (void *)context[2];
	struct journey *journey = under_way();
	u32 thread = 0;

	if (journey)
		interrupt(journey, now_ns());
	read_kernel(&thread, sizeof(thread), &comes->pid);
	journey = lookup(&journeys, &thread);
	if (journey)
		resume(journey, now_ns());
	return 0;
}

char terms[] SEC("license") = "GPL";
