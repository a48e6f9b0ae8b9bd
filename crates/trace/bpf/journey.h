/*
 * A journey: one packet, or one call, on its way past the points of a path.
 *
 * Pure: no helper, no map, no clock. Compiled by clang for the kernel, and by the machine's own
 * compiler for the property tests of this crate, so that what is tested is what runs.
 *
 * Times are in ns of one clock and never go back. A point is a number below POINTS, in the order of
 * the path; point 0 begins a journey and the point `last` ends it.
 */
#ifndef JOURNEY_H
#define JOURNEY_H

typedef unsigned long long u64;
typedef unsigned int u32;

#define POINTS 64

/* What a hit came to: the index of a tally too. */
enum came_to {
	PASSED,   /* on its way */
	BEGUN,    /* a new journey */
	DONE,     /* arrived: each point on its way was passed once, in order */
	LOST,     /* a new journey, and the one before never arrived */
	STRAY,    /* no journey is under way: its begin was not seen */
	REPEATED, /* arrived, but passed a point again (a packet that became several) or out of order */
	INSIDE,   /* hit in an interrupt that came in between: another packet's */
	CAME_IN,  /* a packet from outside: it arrives if a reader that is followed takes it */
	CAME_TO
};

struct journey {
	u64 passed;          /* a bit for each point; 0: none is under way */
	u64 packet;          /* of a reader: the packet that it took */
	u64 since;           /* when the outermost interruption began */
	u64 aside;           /* time in interruptions so far */
	u32 depth;           /* interruptions that are under way, one in the other; or GONE */
	u32 latest;          /* the latest point */
	u32 again;           /* hits of points that were passed already, or out of order */
	u32 before;          /* of a journey that arrived: the point before the one that is counted */
	u32 start;           /* of a journey that arrived: its first point */
	u32 way;             /* of a journey that arrived: the number of its way */
	u64 at[POINTS];      /* of each passed point: the time */
	u64 outside[POINTS]; /* of each passed point: `aside` at that time */
};

#define INLINE static inline __attribute__((always_inline))

/* A time, and the time in interruptions until then: read together, with no interruption between. */
struct moment {
	u64 now;
	u64 aside;
};

/*
 * A hit of a point. `first` begins a journey; `last` ends it (POINTS: it ends elsewhere). The end
 * takes the whole system call: no interruption outlives it.
 */
INLINE enum came_to
pass(struct journey *journey, u32 point, u32 first, u32 last, struct moment moment)
{
	enum came_to came_to = PASSED;

	if (point >= POINTS)
		return STRAY;
	if (journey->depth)
		return INSIDE;
	if (point == first) {
		came_to = journey->passed ? LOST : BEGUN;
		journey->passed = 0;
		journey->again = 0;
	} else if (!journey->passed) {
		return STRAY;
	}
	if (journey->passed && point <= journey->latest) {
		journey->again++;
		return PASSED;
	}
	journey->at[point] = moment.now;
	journey->outside[point] = moment.aside;
	journey->passed |= 1ULL << point;
	journey->latest = point;
	if (point == last && point != first)
		came_to = journey->again ? REPEATED : DONE;
	return came_to;
}

/* The journey is over and counted: the next one may begin. */
INLINE void arrive(struct journey *journey)
{
	journey->passed = 0;
}

/* What is written above it in the code is written before what stands below. */
#define IN_ORDER asm volatile("" ::: "memory")

/*
 * An interrupt or a soft interrupt gets the CPU. Whether that is the outermost one: the caller then
 * reads the clock into `since`. In this order: an interrupt that comes before it is read is one
 * inside the other, and not counted by itself as well.
 */
INLINE u32 interrupt(struct journey *journey)
{
	u32 outermost = journey->depth++ == 0;

	IN_ORDER;
	return outermost;
}

/* It gives the CPU back. One that began before it was looked for is not counted. */
INLINE void resume(struct journey *journey, u64 now)
{
	if (journey->depth == 0)
		return;
	if (journey->depth == 1)
		journey->aside += now - journey->since;
	IN_ORDER;
	journey->depth--;
}

/* Another task has the CPU of the thread. */
#define GONE (1u << 31)

/* The thread sleeps, or waits for the CPU: it is within no interruption. */
INLINE void go(struct journey *journey, u64 now)
{
	journey->since = now;
	journey->depth = GONE;
}

/*
 * The thread runs. Not every kernel runs programs in every task, so that it came back may not have
 * been seen: without this, no packet of it would count any more.
 */
INLINE void come_back(struct journey *journey, u64 now)
{
	u64 since = journey->since;

	/* In this order: an interrupt in between finds the thread back. */
	journey->depth = 0;
	IN_ORDER;
	journey->aside += now - since;
}

/* The number of the highest bit, without branches: the verifier would follow each. */
INLINE u32 highest(u64 bits)
{
	u32 power = 0;

	for (u32 step = 32; step; step >>= 1) {
		u64 high = bits >> step;
		u32 by = (u32)((high | -high) >> 63) * step;

		bits >>= by;
		power += by;
	}
	return power;
}

/*
 * Whether an interruption came in since the CPU had spent `aside` in them. A card that interrupts
 * leads to a packet itself: it writes the same fields, and what is half its own is nobody's.
 */
INLINE u32 is_torn(const struct journey *cpu, u64 aside)
{
	IN_ORDER;
	return *(const volatile u64 *)&cpu->aside != aside;
}

/*
 * The way in. A packet comes by an interrupt and is handed from function to function by a CPU, and
 * later from the socket to a thread that reads: two journeys, joined when the read returns.
 *
 * What a CPU passes before it has a packet leads to the next one: the interrupt, the poll of a
 * device. The latest time counts, and what stood behind it is forgotten. It may lie within an
 * interruption, which counts until there: the rest is added when it ends.
 */
INLINE void lead(struct journey *cpu, u32 point, struct moment moment)
{
	if (point >= POINTS)
		return;
	cpu->passed = (cpu->passed & ((1ULL << point) - 1)) | 1ULL << point;
	cpu->at[point] = moment.now;
	cpu->outside[point] = moment.aside + (cpu->depth ? moment.now - cpu->since : 0);
	if (is_torn(cpu, moment.aside))
		cpu->passed = 0;
}

/*
 * The packet that has just begun with `first`, when the CPU had spent `aside` in interruptions,
 * takes what led to it.
 */
INLINE void take_lead(struct journey *packet, struct journey *cpu, u32 first, u64 aside)
{
	u64 led = cpu->passed & ((1ULL << first) - 1);

	for (u32 point = 0; point < first && point < POINTS; point++) {
		packet->at[point] = cpu->at[point];
		packet->outside[point] = cpu->outside[point];
	}
	if (!is_torn(cpu, aside))
		packet->passed |= led;
	cpu->passed = 0;
}

/*
 * The reader's journey becomes the packet's: from its points in front of `border`, which the CPU
 * passed, to the reader's own. A reader that asked before the packet was there slept: what it
 * passed before is not on the packet's way. Time from the last point of the CPU to the first of the
 * reader is the packet's, whoever had the CPU.
 */
INLINE void join(struct journey *reader, const struct journey *packet, u32 border, u32 last)
{
	u64 latest = packet->latest & (POINTS - 1);
	u64 arrived = packet->at[latest], early = 0, first, base;

	/* Without branches: the verifier would follow each. */
	for (u32 point = border; point <= last && point < POINTS; point++)
		early |= (reader->at[point] - arrived) >> 63 << point;
	reader->passed &= ~early;
	first = highest(reader->passed & -reader->passed);
	base = reader->outside[first & (POINTS - 1)];
	for (u32 point = 0; point <= last && point < POINTS; point++) {
		if (point < border) {
			reader->at[point] = packet->at[point];
			reader->outside[point] = packet->outside[point];
		} else {
			reader->outside[point] += packet->outside[latest] - base;
		}
	}
	reader->passed |= packet->passed;
}

/* Those that are used, and the next power of two. */
#define BUCKETS 496
#define CELL_BUCKETS 512

/*
 * The bucket of a time: 8 for each power of two (so at most 12.5 % wide), and one for each ns below
 * 16. 64 bits have (64 - 4) * 8 + 16 buckets.
 */
INLINE u32 bucket(u64 ns)
{
	u32 beyond = highest(ns | 8) - 3;

	return beyond * 8 + (u32)(ns >> beyond);
}

/* A segment: from one point to the next that was passed. A new one is all zero. */
struct cell {
	u64 count;
	u64 sum;     /* ns, without interruptions */
	u64 spare;   /* MOST less the shortest time */
	u64 most;
	u64 outside; /* ns in interruptions */
	u32 buckets[CELL_BUCKETS];
};

/* No time is longer, in ns: 292 years. */
#define MOST (~0ULL >> 1)

/* Of two numbers up to MOST. */
INLINE u64 larger(u64 one, u64 other)
{
	return one + ((other - one) & ~((u64)((long long)(other - one) >> 63)));
}

/* Without branches: the verifier would follow each, at each point of a path. */
INLINE void add(struct cell *cell, u64 ns, u64 outside)
{
	ns &= MOST;
	cell->count++;
	cell->spare = larger(cell->spare, MOST - ns);
	cell->most = larger(cell->most, ns);
	cell->sum += ns;
	cell->outside += outside;
	cell->buckets[bucket(ns) & (CELL_BUCKETS - 1)]++;
}

#endif
