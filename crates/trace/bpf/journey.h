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
	CAME_TO
};

struct journey {
	u64 passed;          /* a bit for each point; 0: none is under way */
	u64 begun;           /* the time of point 0 */
	u64 since;           /* when the outermost interruption began */
	u64 aside;           /* time in interruptions since point 0 */
	u32 depth;           /* interruptions that are under way, one in the other */
	u32 latest;          /* the latest point */
	u32 again;           /* hits of points that were passed already, or out of order */
	u32 before;          /* of a journey that arrived: the point before the one that is counted */
	u64 at[POINTS];      /* of each passed point: the time */
	u64 outside[POINTS]; /* of each passed point: `aside` at that time */
};

/* The end of a journey takes the whole system call: no interruption outlives it. */
static inline __attribute__((always_inline)) enum came_to
pass(struct journey *journey, u32 point, u32 last, u64 now)
{
	enum came_to came_to = PASSED;

	if (point >= POINTS)
		return STRAY;
	if (journey->depth)
		return INSIDE;
	if (point == 0) {
		came_to = journey->passed ? LOST : BEGUN;
		journey->passed = 0;
		journey->begun = now;
		journey->aside = 0;
		journey->again = 0;
	} else if (!journey->passed) {
		return STRAY;
	}
	if (journey->passed && point <= journey->latest) {
		journey->again++;
		return PASSED;
	}
	journey->at[point] = now;
	journey->outside[point] = journey->aside;
	journey->passed |= 1ULL << point;
	journey->latest = point;
	if (point == last && point != 0)
		came_to = journey->again ? REPEATED : DONE;
	return came_to;
}

/* The journey is over and counted: the next one may begin. */
static inline __attribute__((always_inline)) void arrive(struct journey *journey)
{
	journey->passed = 0;
}

/* Something else gets the CPU: an interrupt, a soft interrupt, another task. */
static inline __attribute__((always_inline)) void interrupt(struct journey *journey, u64 now)
{
	if (journey->depth++ == 0)
		journey->since = now;
}

/* It gives the CPU back. One that began before it was looked for is not counted. */
static inline __attribute__((always_inline)) void resume(struct journey *journey, u64 now)
{
	if (journey->depth == 0)
		return;
	if (--journey->depth == 0)
		journey->aside += now - journey->since;
}

#define CELL_BUCKETS 496

/*
 * The bucket of a time: 8 for each power of two (so at most 12.5 % wide), and one for each ns below
 * 16. 64 bits have (64 - 4) * 8 + 16 buckets.
 */
static inline __attribute__((always_inline)) u32 bucket(u64 ns)
{
	u64 rest = ns >> 3;
	u32 power = 3;

	if (ns < 16)
		return (u32)ns;
	/* The highest bit, without branches: the verifier would follow each. */
	for (u32 step = 32; step; step >>= 1) {
		u64 high = rest >> step;
		u32 by = (u32)((high | -high) >> 63) * step;

		rest >>= by;
		power += by;
	}
	return 16 + (power - 4) * 8 + ((u32)(ns >> (power - 3)) & 7);
}

/* A segment: from one point to the next that was passed. */
struct cell {
	u64 count;
	u64 sum;     /* ns, without interruptions */
	u64 least;
	u64 most;
	u64 outside; /* ns in interruptions */
	u32 buckets[CELL_BUCKETS];
};

static inline __attribute__((always_inline)) void add(struct cell *cell, u64 ns, u64 outside)
{
	u32 into = bucket(ns);

	if (cell->count++ == 0 || ns < cell->least)
		cell->least = ns;
	if (ns > cell->most)
		cell->most = ns;
	cell->sum += ns;
	cell->outside += outside;
	if (into < CELL_BUCKETS)
		cell->buckets[into]++;
}

#endif
