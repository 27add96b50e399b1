/** Writes the client subnets of a plan. */
import type { ClientSubnetCreate } from '../../../shared/api/policy/clients-api.ts';
import { deleteSubnet, insertSubnets, listSubnets } from '../../clients/client-subnet-store.ts';
import { CollectedRows } from './collected-rows.ts';
import type { ImportRun } from './planned-state.ts';

/** Writes subnets. */
export async function applySubnets(run: ImportRun): Promise<void> {
  const known = new Map((await listSubnets(run.tx)).map((subnet) => [subnet.subnet_cidr, subnet]));
  const added = new CollectedRows((subnets: readonly ClientSubnetCreate[]) => insertSubnets(run.tx, subnets));
  for (const subnet of run.plan.subnets) {
    const { cidr, comment } = subnet;
    const groupId = run.groupId(subnet.group);
    const before = known.get(cidr);
    if (before?.group_id === groupId) {
      run.note(subnet, null);
      continue;
    }
    if (before !== undefined) await deleteSubnet(run.tx, before.id);
    await added.settle(cidr);
    const row = { subnet_cidr: cidr, group_id: groupId, comment: comment || (before?.comment ?? '') };
    await added.add(cidr, row, () => undefined);
    run.note(subnet, before === undefined ? 'done' : 'changed');
  }
  await added.flush();
}
