// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the programs share: helpers of the kernel, maps, and constants that differ from copy to copy. */
#ifndef MAPS_H
#define MAPS_H

#include "journey.h"

#define SEC(name) __attribute__((section(name), used))
#define FIELDS __attribute__((preserve_access_index))

enum { HASH = 1, ARRAY = 2, PERCPU_ARRAY = 6, RINGBUF = 27 };

static void *(*lookup)(void *map, const void *key) = (void *)1;
static u64 (*now_ns)(void) = (void *)5;
/* The process in the upper half, the thread in the lower one. */
static u64 (*current)(void) = (void *)14;
static u32 (*this_cpu)(void) = (void *)8;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*ring_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;

struct task_struct {
	int pid;
} FIELDS;

struct pt_regs {
	unsigned long di, si, dx, orig_ax;
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

/* A reader that is followed polls the device, in its system call. */
#define POLLED 2

/* Of each CPU: what leads to the next packet, and the packet that it handles. */
struct cpu {
	u64 packet;
	u32 delivers; /* 1: a soft interrupt is under way; POLLED */
	u32 padding;
	struct journey journey;
};
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	u32 *key;
	struct cpu *value;
} cpus SEC(".maps");

/*
 * Packets on their way in, by their address: each has one place, and one that comes later to the
 * same place takes it. So memory is bounded, and a packet that nobody reads needs no end.
 */
#define PACKETS 1024
struct packet {
	u64 address;
	u64 ahead; /* what the clock of interruptions of this CPU is ahead of the packet's */
	u32 cpu;   /* the latest one */
	u32 padding;
	struct journey journey;
};
struct {
	NUMBER(type, ARRAY);
	NUMBER(max_entries, PACKETS);
	u32 *key;
	struct packet *value;
} packets SEC(".maps");

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

/*
 * By way and point: the segment that ends at this point. The first point's cell has the whole
 * journey. The one behind all others counts for nothing.
 */
#define NOWHERE (WAYS * POINTS)
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, NOWHERE + 1);
	u32 *key;
	struct cell *value;
} cells SEC(".maps");

/*
 * How often hits came to what (`enum came_to`), then journeys of more ways than are kept apart.
 * Behind these, what goes on from batch to batch: journeys that arrived, and samples without room.
 */
#define CROWDED CAME_TO
#define ARRIVALS (CAME_TO + 1)
#define MISSED (CAME_TO + 2)
#define TALLIES (CAME_TO + 3)
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, TALLIES);
	u32 *key;
	u64 *value;
} tallies SEC(".maps");

/*
 * Journeys that leave the kernel with their stamps. Who traces reads them when the batch is over:
 * nobody is woken. The loader sets the size.
 */
#define NO_WAKEUP 1
struct {
	NUMBER(type, RINGBUF);
	NUMBER(max_entries, 4096);
} samples SEC(".maps");

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
/* Whose journey a point belongs to. */
#define PHASE CONSTANT(0x6e65746173736105)
enum phase { OUT, LEADING, ARRIVING, READING };
/* The point at which the journeys of this phase begin. */
#define FIRST CONSTANT(0x6e65746173736106)
/* Which argument is the packet, from 1; or LISTED and which is a list of packets; 0: none. */
#define PACKET CONSTANT(0x6e65746173736107)
#define LISTED 8
/* Of each CPU, one journey in so many leaves the kernel; 0: none. */
#define EVERY CONSTANT(0x6e65746173736108)

INLINE void count(void *map, u32 index)
{
	u64 *tally = lookup(map, &index);

	if (tally)
		++*tally;
}

#endif
