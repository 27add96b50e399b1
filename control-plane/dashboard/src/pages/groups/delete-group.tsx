/** Deletes a group, once it is said what becomes of everything that refers to it. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { Callout, Skeleton } from '../../ui/display/states.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { emptyingOf } from './emptying.ts';
import type { Emptying } from './emptying.ts';
import type { Group } from './group-list.tsx';

interface DeleteGroupProps {
  readonly group: Group;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

const MOST = 1_000;

/** The question with its consequences. */
export function DeleteGroup({ group, onClose, onDeleted }: DeleteGroupProps): ReactNode {
  const { say } = useText();
  const emptying = useEmptying(group.id);
  const empty = useEmpty();
  const remove = useChange('DELETE /groups/{id}', {
    done: 'groups.deleted',
    quiet: true,
    onDone: () => {
      onClose();
      onDeleted();
    },
  });
  const [isRunning, setRunning] = useState(false);

  async function run(): Promise<void> {
    if (emptying === undefined || emptying.lastLists.length > 0) return;
    setRunning(true);
    if (await empty.run(emptying)) await remove.run({ params: { id: group.id } });
    setRunning(false);
  }

  return (
    <Confirm
      title={say('action.deleteOf', { name: group.name })}
      action={say('action.delete')}
      isOpen
      isPending={isRunning || emptying === undefined}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <FormFault failure={empty.failure ?? remove.failure} fields={[]} />
      {emptying === undefined ? <Skeleton /> : <Consequences emptying={emptying} />}
    </Confirm>
  );
}

function Consequences({ emptying }: { readonly emptying: Emptying }): ReactNode {
  const { say } = useText();
  const rules = emptying.domainIds.length + emptying.patternIds.length;
  const lists = emptying.blocklists.length + emptying.allowlists.length;
  return (
    <>
      <ul>
        <li>{say('groups.delete.clients', { count: emptying.clientIds.length })}</li>
        {emptying.subnetIds.length > 0 && (
          <li>{say('groups.delete.subnets', { count: emptying.subnetIds.length })}</li>
        )}
        {lists > 0 && <li>{say('groups.delete.lists', { count: lists })}</li>}
        {rules > 0 && <li>{say('groups.delete.rules', { count: rules })}</li>}
        <li>{say('groups.delete.rest')}</li>
      </ul>
      {emptying.lastLists.length > 0 && (
        <Callout tone="warning">
          {say('groups.delete.lastLists', { names: emptying.lastLists.join(', ') })}
        </Callout>
      )}
    </>
  );
}

function useEmptying(groupId: number): Emptying | undefined {
  const page = { limit: MOST };
  const clients = useAsk('GET /groups/{id}/clients', { params: { id: groupId }, query: page }).data;
  const subnets = useAsk('GET /client-subnets', {}).data;
  const blocklists = useAsk('GET /blocklist-sources', {}).data;
  const allowlists = useAsk('GET /allowlist-sources', {}).data;
  const domains = useAsk('GET /managed-domains', { query: page }).data;
  const patterns = useAsk('GET /regex-filters', {}).data;
  if (clients === undefined || subnets === undefined || blocklists === undefined) return undefined;
  if (allowlists === undefined || domains === undefined || patterns === undefined) return undefined;
  const chosen = clients.data.filter(({ group_source: source }) => source === 'mac' || source === 'manual');
  const clientIds = chosen.map(({ id }) => id);
  return emptyingOf(groupId, {
    clientIds,
    subnets,
    blocklists,
    allowlists,
    domains: domains.data,
    patterns,
  });
}

interface Empty {
  readonly run: (emptying: Emptying) => Promise<boolean>;
  readonly failure: Error | null;
}

/** Takes all that refers to the group away, step by step; stops at the first that fails. */
function useEmpty(): Empty {
  const quiet = { quiet: true };
  const client = useChange('PUT /clients/{id}/group', quiet);
  const subnet = useChange('DELETE /client-subnets/{id}', quiet);
  const block = useChange('PUT /blocklist-sources/{id}', quiet);
  const allow = useChange('PUT /allowlist-sources/{id}', quiet);
  const domain = useChange('DELETE /managed-domains/{id}', quiet);
  const pattern = useChange('DELETE /regex-filters/{id}', quiet);
  const steps = (emptying: Emptying): (() => Promise<boolean>)[] => [
    ...emptying.clientIds.map((id) => () => client.run({ params: { id }, body: { group_id: null } })),
    ...emptying.subnetIds.map((id) => () => subnet.run({ params: { id } })),
    ...emptying.blocklists.map(
      ({ id, groupIds }) =>
        () =>
          block.run({ params: { id }, body: { group_ids: [...groupIds] } }),
    ),
    ...emptying.allowlists.map(
      ({ id, groupIds }) =>
        () =>
          allow.run({ params: { id }, body: { group_ids: [...groupIds] } }),
    ),
    ...emptying.domainIds.map((id) => () => domain.run({ params: { id } })),
    ...emptying.patternIds.map((id) => () => pattern.run({ params: { id } })),
  ];
  const failures = [client, subnet, block, allow, domain, pattern].map(({ failure }) => failure);
  return {
    run: async (emptying) => {
      for (const step of steps(emptying)) if (!(await step())) return false;
      return true;
    },
    failure: failures.find((failure) => failure !== null) ?? null,
  };
}
