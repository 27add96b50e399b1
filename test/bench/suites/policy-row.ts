// Cost of a query with the policy of a large household: many groups, clients and subnets, queried from many addresses.
import type { Bench } from '../bench.ts';
import { stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { grow } from './growth.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

const MOST = 1.1;
/** Number of source addresses. With the policy, half of the clients have a group by address, the rest by subnet. */
const ASKING = 20_000;
/** Settings of the variant: the policy of a large household. */
export const LARGE_HOUSE = {
  groups: 200,
  policy: { clients: ASKING, subnets: 10_000, services: 300 },
};

/**
 * Compares a server with the large policy to a server with only the group Default. Both receive the same queries from
 * the same addresses.
 */
export async function growPolicy(bench: Bench, material: Material): Promise<RowResult> {
  const stage = stageOf(bench, material);
  const workload = saturatedMix(bench, material, 'policy', { clients: ASKING });
  const variants = [{ name: 'weir-one-group' }, { name: 'weir-policy', ...LARGE_HOUSE }];
  return grow(
    bench,
    variants.map((variant) => ({ variant, stage, workload })),
    MOST,
  );
}
