/** Figures in the heartbeat of a node. */
import type { NodeFigures } from '../../../control-plane/storage/cluster/node-figures.ts';

export const SAMPLE_FIGURES: NodeFigures['others'] = {
  rows_lost: 0,
  rows_spooled: 5,
  upstreams: { all: 2, unhealthy: 1 },
  cache: { entries: 10, hit_rate: 50 },
  drift: ['cache.max_bytes'],
};
