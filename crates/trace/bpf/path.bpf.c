// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The programs that stamp packets on their way through the kernel: one for each kind of probe. The
 * loader makes a copy for each point of a path and puts the point's number into it.
 *
 * Compiled by `cargo xtask bpf`; the object beside it is checked in. CO-RE: only the fields below
 * are used of the kernel's types, and the loader finds their offsets in the kernel's own BTF.
 */
#include "maps.h"

/* The journey of the running thread, if it is followed. */
INLINE struct journey *under_way(void)
{
	u32 thread = (u32)current();
	struct journey *journey = lookup(&journeys, &thread);

	if (journey && journey->depth == GONE)
		come_back(journey, now_ns());
	return journey;
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
 * Adds a journey that arrived to the cells of its way. All points are gone through without branches
 * on which of them were passed, as the verifier would try every combination.
 */
INLINE void keep(struct journey *journey)
{
	u64 passed = journey->passed, rest = passed & (passed - 1), outside;
	u32 first, index, before;
	struct cell *cell;

	journey->way = way_of(passed);
	if (journey->way >= WAYS) {
		count(&tallies, CROWDED);
		return;
	}
	first = *(volatile u32 *)&journey->way * POINTS;
	journey->start = highest(passed & -passed);
	journey->before = journey->start;
	for (u32 point = 1; point <= LAST && point < POINTS; point++) {
		u32 counts = rest >> point & 1;

		index = NOWHERE - (NOWHERE - first - point) * counts;
		cell = lookup(&cells, &index);
		if (!cell)
			return;
		before = journey->before & (POINTS - 1);
		outside = journey->outside[point] - journey->outside[before];
		add(cell, journey->at[point] - journey->at[before] - outside, outside);
		journey->before = before + (point - before) * counts;
	}
	before = journey->before & (POINTS - 1);
	index = journey->start & (POINTS - 1);
	outside = journey->outside[before] - journey->outside[index];
	rest = journey->at[before] - journey->at[index] - outside;
	index += first;
	cell = lookup(&cells, &index);
	if (cell)
		add(cell, rest, outside);
}

/* Of each CPU one journey in EVERY, from the middle of the first EVERY on. */
INLINE void sample(struct journey *journey, u64 every)
{
	u32 index = ARRIVALS;
	u64 *arrivals = lookup(&tallies, &index);

	if (!arrivals || (*arrivals)++ % every != every / 2)
		return;
	if (ring_output(&samples, journey, sizeof(*journey), NO_WAKEUP))
		count(&tallies, MISSED);
}

/*
 * The time, and a clock of interruptions at that time. An interruption between the two readings
 * would count for the segment before as well as for the one behind.
 */
INLINE struct moment moment_of(struct journey *clock)
{
	volatile u64 *aside = &clock->aside;
	struct moment moment = {.aside = *aside};

	moment.now = now_ns();
	if (*aside != moment.aside) {
		/* Two in a row are too rare to matter. */
		moment.aside = *aside;
		moment.now = now_ns();
	}
	return moment;
}

INLINE struct packet *packet_at(u64 address)
{
	/* Packets are 256 bytes apart. */
	u32 place = (u32)(address >> 8) & (PACKETS - 1);

	return lookup(&packets, &place);
}

/* A point that a CPU passes with a packet, or on its way to one. */
INLINE int arriving(u64 address)
{
	u32 zero = 0, processor;
	struct cpu *cpu = lookup(&cpus, &zero);
	struct packet *packet;
	struct journey *journey;
	struct moment moment;
	enum came_to came_to;
	u64 aside;

	if (!cpu)
		return 0;
	if (TRYING) {
		count(&hits, POINT);
		return 0;
	}
	if (PHASE == LEADING) {
		journey = under_way();
		if (cpu->delivers == POLLED && cpu->journey.depth) {
			/* The device interrupts its poll: that is the way of the next packet. */
			cpu->delivers = 0;
			cpu->journey.depth = 0;
		} else if (!cpu->delivers && journey && !journey->depth) {
			/* A reader that is followed polls the device itself. */
			cpu->delivers = POLLED;
		}
		lead(&cpu->journey, POINT, moment_of(&cpu->journey));
		return 0;
	}
	/* In memory an address is a number: of a pointer the verifier allows no part. */
	if (PACKET)
		*(volatile u64 *)&cpu->packet = address;
	else if (!cpu->delivers)
		return 0; /* somebody else's use of the same function */
	address = *(volatile u64 *)&cpu->packet;
	packet = packet_at(address);
	if (!packet || (POINT != FIRST && packet->address != address))
		return 0;
	journey = &packet->journey;
	processor = this_cpu();
	if (POINT == FIRST) {
		packet->address = address;
		packet->ahead = 0;
		packet->cpu = processor;
	} else if (packet->cpu != processor) {
		packet->ahead = cpu->journey.aside - journey->outside[journey->latest & (POINTS - 1)];
		packet->cpu = processor;
	}
	moment = moment_of(&cpu->journey);
	aside = moment.aside;
	moment.aside -= packet->ahead;
	came_to = pass(journey, POINT, FIRST, POINTS, moment);
	if (came_to == BEGUN || came_to == LOST) {
		take_lead(journey, &cpu->journey, FIRST, aside);
		count(&tallies, CAME_IN);
	}
	return 0;
}

/* This CPU, where packets that come in are followed. */
INLINE struct cpu *receiving(void)
{
	u32 zero = 0;

	return PHASE != OUT ? lookup(&cpus, &zero) : 0;
}

/* The reader polls no more: its call is over, or it sleeps. */
INLINE void polls_no_more(void)
{
	struct cpu *cpu = receiving();

	if (cpu && cpu->delivers == POLLED)
		cpu->delivers = 0;
}

/* What came of a read that returned: the packet that it took is joined to it. */
INLINE enum came_to taken(struct journey *reader)
{
	u64 address = *(volatile u64 *)&reader->packet;
	struct packet *packet = packet_at(address);
	struct journey *journey;

	if (!address || !packet)
		return PASSED; /* nothing was there to read */
	journey = &packet->journey;
	if (packet->address != address || !journey->passed)
		return STRAY;
	packet->address = 0;
	if (journey->again)
		return REPEATED;
	join(reader, journey, FIRST, LAST);
	arrive(journey);
	return DONE;
}

INLINE int hit(u64 address)
{
	struct journey *journey;
	enum came_to came_to;

	if (PHASE == LEADING || PHASE == ARRIVING)
		return arriving(address);
	journey = under_way();
	if (!journey)
		return 0;
	if (TRYING) {
		if (!journey->depth)
			count(&hits, POINT);
		return 0;
	}
	if (PHASE == READING && (POINT == FIRST || PACKET) && !journey->depth)
		journey->packet = address;
	came_to = pass(journey, POINT, FIRST, LAST, moment_of(journey));
	if (came_to == DONE || came_to == REPEATED) {
		if (PHASE == READING) {
			polls_no_more();
			if (came_to == DONE)
				came_to = taken(journey);
		}
		if (came_to == DONE) {
			u64 every = EVERY;

			keep(journey);
			if (every)
				sample(journey, every);
		}
		arrive(journey);
	}
	if (came_to != PASSED)
		count(&tallies, came_to);
	return 0;
}

/* The packet among the arguments of a function or tracepoint. */
#define PICK(which, argument) \
	if ((PACKET & (LISTED - 1)) == (which)) \
		picked = (u64)(argument)
#define PICKED(first, second, third) \
	({ \
		u64 picked = 0; \
		PICK(1, first); \
		PICK(2, second); \
		PICK(3, third); \
		if (PACKET & LISTED) \
			picked = listed(picked); \
		picked; \
	})

/* The first packet of a list: its links are the first of its fields. */
INLINE u64 listed(u64 list)
{
	u64 packet = 0;

	read_kernel(&packet, sizeof(packet), (void *)list);
	return packet;
}

#define OF_CONTEXT PICKED(context[0], context[1], context[2])
#define OF_REGISTERS PICKED(registers->di, registers->si, registers->dx)

SEC("fentry/any") int fentry(u64 *context) { return hit(OF_CONTEXT); }
SEC("fexit/any") int fexit(void *context) { return hit(0); }
SEC("kprobe/any") int kprobe(struct pt_regs *registers) { return hit(OF_REGISTERS); }
SEC("kretprobe/any") int kretprobe(void *context) { return hit(0); }
SEC("raw_tp/any") int tracepoint(u64 *context) { return hit(OF_CONTEXT); }

/* sys_enter has the registers and the number of the call. */
SEC("raw_tp/sys_enter") int sys_enter(u64 *context)
{
	return context[1] == CALL ? hit(0) : 0;
}

/* sys_exit has the registers, which still know the number, and the result. */
SEC("raw_tp/sys_exit") int sys_exit(u64 *context)
{
	struct pt_regs *registers = (void *)context[0];
	u64 call = 0;

	read_kernel(&call, sizeof(call), &registers->orig_ax);
	return call == CALL ? hit(0) : 0;
}

/* softirq_entry has which it is: NET_RX_SOFTIRQ. */
SEC("raw_tp/softirq_entry") int softirq_entry(u64 *context)
{
	return context[0] == 3 ? hit(0) : 0;
}

/* An interrupt or a soft interrupt gets the CPU. */
INLINE void leave(struct journey *journey)
{
	if (interrupt(journey))
		journey->since = now_ns();
}

/* An interrupt: it interrupts a soft interrupt, too. */
SEC("raw_tp/begin") int begin(void *context)
{
	struct journey *journey = under_way();
	struct cpu *cpu = receiving();

	if (journey)
		leave(journey);
	if (cpu && cpu->delivers)
		leave(&cpu->journey);
	return 0;
}

SEC("raw_tp/end") int end(void *context)
{
	struct journey *journey = under_way();
	struct cpu *cpu = receiving();

	if (journey)
		resume(journey, now_ns());
	if (cpu)
		resume(&cpu->journey, now_ns());
	return 0;
}

SEC("raw_tp/soft_begin") int soft_begin(void *context)
{
	struct journey *journey = under_way();
	struct cpu *cpu = receiving();

	if (journey)
		leave(journey);
	if (cpu)
		cpu->delivers = 1;
	return 0;
}

SEC("raw_tp/soft_end") int soft_end(void *context)
{
	struct journey *journey = under_way();
	struct cpu *cpu = receiving();

	if (cpu) {
		cpu->delivers = 0;
		cpu->journey.passed = 0;
	}
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
		go(journey, now_ns());
	polls_no_more();
	read_kernel(&thread, sizeof(thread), &comes->pid);
	journey = lookup(&journeys, &thread);
	if (journey && journey->depth == GONE)
		come_back(journey, now_ns());
	return 0;
}

char terms[] SEC("license") = "GPL";
