/* Drives journey.h by lines of standard input, for tests/journey.rs. */
#include <stdio.h>
#include "journey.h"

static void segments(const struct journey *journey)
{
	u64 passed = journey->passed;
	u32 before = highest(passed & -passed);

	for (u32 point = before + 1; point < POINTS; point++) {
		if (!(passed >> point & 1))
			continue;
		u64 outside = journey->outside[point] - journey->outside[before];
		printf(" %u:%llu:%llu", point, journey->at[point] - journey->at[before] - outside, outside);
		before = point;
	}
}

/* On the way in: points from 0 lead to a packet, which begins at BEGINS; its reader does at READS. */
#define BEGINS 2
#define READS 4
#define LAST 7

/* A card interrupts, and leads to a packet; that takes until 3 ns after `now`. */
static void interrupted(struct journey *cpu, u64 now)
{
	lead(cpu, 0, (struct moment){now + 1, cpu->aside});
	if (interrupt(cpu))
		cpu->since = now + 2;
	resume(cpu, now + 3);
}

int main(void)
{
	struct journey journey = {0}, cpu = {0}, packet = {0};
	enum came_to came_to;
	char what;
	u64 first, second;

	while (scanf(" %c %llu %llu", &what, &first, &second) == 3) {
		if (what == 'i') {
			if (interrupt(&journey))
				journey.since = first;
			printf("i\n");
		} else if (what == 'u') {
			/* Interrupted itself, before the clock is read. */
			u32 outermost = interrupt(&journey);

			if (interrupt(&journey))
				journey.since = first;
			resume(&journey, second);
			if (outermost)
				journey.since = second;
			printf("u\n");
		} else if (what == 'r') {
			resume(&journey, first);
			printf("r\n");
		} else if (what == 's') {
			go(&journey, first);
			printf("s\n");
		} else if (what == 'S') {
			come_back(&journey, first);
			printf("S\n");
		} else if (what == 'b') {
			printf("%u\n", bucket(first));
		} else if (what == 'n') {
			journey = cpu = packet = (struct journey){0};
			printf("n\n");
		} else if (what == 'I') {
			if (interrupt(&cpu))
				cpu.since = first;
			printf("I\n");
		} else if (what == 'R') {
			resume(&cpu, first);
			printf("R\n");
		} else if (what == 'l') {
			lead(&cpu, (u32)first, (struct moment){second, cpu.aside});
			printf("l\n");
		} else if (what == 'L') {
			struct moment moment = {second, cpu.aside};

			interrupted(&cpu, second);
			lead(&cpu, (u32)first, moment);
			printf("L\n");
		} else if (what == 'p' || what == 'P') {
			struct moment moment = {second, cpu.aside};

			came_to = pass(&packet, (u32)first, BEGINS, POINTS, moment);
			if (what == 'P')
				interrupted(&cpu, second);
			if (came_to == BEGUN || came_to == LOST)
				take_lead(&packet, &cpu, BEGINS, moment.aside);
			printf("%d\n", came_to);
		} else if (what == 'g') {
			/* g POINT NOW: the reader's. */
			came_to = pass(&journey, (u32)first, READS, LAST, (struct moment){second, journey.aside});
			printf("%d", came_to);
			if (came_to == DONE) {
				join(&journey, &packet, READS, LAST);
				segments(&journey);
				arrive(&journey);
			}
			printf("\n");
		} else {
			/* h POINT NOW: of a way out. */
			came_to = pass(&journey, (u32)first, 0, LAST, (struct moment){second, journey.aside});
			printf("%d", came_to);
			if (came_to == DONE)
				segments(&journey);
			if (came_to == DONE || came_to == REPEATED)
				arrive(&journey);
			printf("\n");
		}
		fflush(stdout);
	}
	return 0;
}
