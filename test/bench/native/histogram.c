#include "histogram.h"

#include <math.h>

static unsigned bucket_of(uint64_t value) {
  if (value < STEPS) return (unsigned)value;
  unsigned exponent = 63u - (unsigned)__builtin_clzll(value);
  unsigned shift = exponent - STEPS_LOG2;
  unsigned bucket = (shift + 1) * STEPS + (unsigned)((value >> shift) - STEPS);
  return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

// The lowest value in `bucket`.
static uint64_t value_of(unsigned bucket) {
  if (bucket < STEPS) return bucket;
  unsigned shift = bucket / STEPS - 1;
  return (uint64_t)(STEPS + bucket % STEPS) << shift;
}

void histogram_add(struct histogram *histogram, uint64_t value_ns) {
  histogram->buckets[bucket_of(value_ns)]++;
  histogram->count++;
  histogram->total_ns += value_ns;
  if (value_ns > histogram->max_ns) histogram->max_ns = value_ns;
}

uint64_t histogram_quantile(const struct histogram *histogram, double share) {
  uint64_t wanted = (uint64_t)ceil(share * (double)histogram->count), seen = 0;
  if (wanted == 0) return 0;
  for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
    seen += histogram->buckets[bucket];
    if (seen >= wanted) return value_of(bucket);
  }
  return histogram->max_ns;
}
