/* Drives journey.h by lines of standard input, for tests/journey.rs. */
#include <stdio.h>
#include "journey.h"

static void segments(const struct journey *journey)
{
	u32 before = 0;

	for (u32 point = 1; point < POINTS; point++) {
		if (!(journey->passed >> point & 1))
			continue;
		u64 outside = journey->outside[point] - journey->outside[before];
		printf(" %u:%llu:%llu", point, journey->at[point] - journey->at[before] - outside, outside);
		before = point;
	}
}

int main(void)
{
	struct journey journey = {0};
	char what;
	u64 first, second;

	while (scanf(" %c %llu %llu", &what, &first, &second) == 3) {
		if (what == 'i') {
			interrupt(&journey, first);
			printf("i\n");
		} else if (what == 'r') {
			resume(&journey, first);
			printf("r\n");
		} else if (what == 'b') {
			printf("%u\n", bucket(first));
		} else if (what == 'n') {
			journey = (struct journey){0};
			printf("n\n");
		} else {
			/* h POINT NOW; the last point is 7. */
			enum came_to came_to = pass(&journey, (u32)first, 7, second);

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
