// Cost of a query with the policy of a large household: many groups, clients and subnets, asked from many addresses.
import type { Bench } from '../bench.ts';
import { stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { grow } from './growth.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

const MOST = 1.1;
/** Addresses that ask: with the policy, one half has a group by its address, the other by its subnet. */
const ASKING = 20_000;
/** Settings of a variant: the policy of a large house. */
export const LARGE_HOUSE = {
  groups: 200,
  policy: { clients: ASKING, subnets: 10_000, services: 300 },
};

/** Both are asked the same from the same addresses; one has no group but Default. */
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
