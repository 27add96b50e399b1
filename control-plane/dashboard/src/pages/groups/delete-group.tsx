/** Deletes a group and everything that refers to it, after showing the consequences. */
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Callout, FormFault, Skeleton } from '../../ui/display/states.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import type { Group } from './group-list.tsx';

interface DeleteGroupProps {
  readonly group: Group;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteGroup({ group, onClose, onDeleted }: DeleteGroupProps): ReactNode {
  const { say } = useText();
  const references = useReferences(group.id);
  const remove = useChange('DELETE /group-plans/{id}', {
    done: 'groups.deleted',
    quiet: true,
    onDone: () => {
      onClose();
      onDeleted();
    },
  });
  return (
    <Confirm
      title={say('action.deleteOf', { name: group.name })}
      action={say('action.delete')}
      isOpen
      isPending={remove.isPending || references === undefined}
      onConfirm={() => void remove.run({ params: { id: group.id } })}
      onClose={onClose}
    >
      <FormFault failure={remove.failure} fields={[]} />
      {references === undefined ? (
        <Skeleton />
      ) : (
        <Consequences clients={group.client_count} references={references} />
      )}
    </Confirm>
  );
}

interface ConsequencesProps {
  readonly clients: number;
  readonly references: References;
}

function Consequences({ clients, references }: ConsequencesProps): ReactNode {
  const { say } = useText();
  const { subnets, sharedLists, lastLists } = references;
  return (
    <>
      <ul>
        <li>{say('groups.delete.clients', { count: clients })}</li>
        {subnets > 0 && <li>{say('groups.delete.subnets', { count: subnets })}</li>}
        {sharedLists > 0 && <li>{say('groups.delete.lists', { count: sharedLists })}</li>}
        <li>{say('groups.delete.rest')}</li>
      </ul>
      {lastLists.length > 0 && (
        <Callout tone="warning">{say('groups.delete.lastLists', { names: lastLists.join(', ') })}</Callout>
      )}
    </>
  );
}

/** References to a group. */
interface References {
  readonly subnets: number;
  /** Number of lists that other groups also use. */
  readonly sharedLists: number;
  /**
   * Names of lists that only this group uses. Without this group, these lists would apply to every group, so the server
   * refuses to delete the group.
   */
  readonly lastLists: readonly string[];
}

function useReferences(groupId: number): References | undefined {
  const subnets = useAsk('GET /client-subnets', {}).data;
  const blocklists = useAsk('GET /blocklist-sources', {}).data;
  const allowlists = useAsk('GET /allowlist-sources', {}).data;
  if (subnets === undefined || blocklists === undefined || allowlists === undefined) return undefined;
  const lists = [...blocklists, ...allowlists].filter(({ group_ids: ids }) => ids.includes(groupId));
  const lastLists = lists.filter(({ group_ids: ids }) => ids.length === 1).map(({ name }) => name);
  return {
    subnets: subnets.filter(({ group_id: id }) => id === groupId).length,
    sharedLists: lists.length - lastLists.length,
    lastLists,
  };
}
