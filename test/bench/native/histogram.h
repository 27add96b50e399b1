// A latency histogram in nanoseconds with 128 linear steps per power of two (an error below 1 %).
#ifndef WEIR_BENCH_HISTOGRAM_H
#define WEIR_BENCH_HISTOGRAM_H

#include <stdint.h>

enum { STEPS_LOG2 = 7, STEPS = 1 << STEPS_LOG2, BUCKETS = STEPS * 40 };

struct histogram {
  uint64_t buckets[BUCKETS];
  uint64_t count;
  uint64_t total_ns;
  uint64_t max_ns;
};

void histogram_add(struct histogram *histogram, uint64_t value_ns);

// The smallest recorded value that `share` (0..1) of all values do not exceed; 0 when empty.
uint64_t histogram_quantile(const struct histogram *histogram, double share);

#endif
