/** A change of the draft as text, with buttons to apply it and to remove it. */
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { ForAdmins } from '../../api/session.tsx';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { useGroups } from '../../ui/policy/groups.tsx';
import type { DraftChange } from './draft.ts';
import { useChanges } from '../../api/use-change.ts';
import styles from './simulate-page.module.css';

interface ChangeRowProps {
  readonly change: DraftChange;
  /** Whether there is a result, so that the change can be applied. */
  readonly canDo: boolean;
  readonly onDrop: () => void;
}

export function ChangeRow({ change, canDo, onDrop }: ChangeRowProps): ReactNode {
  const { say } = useText();
  const text = useWords(change);
  const { make, isPending } = useMake(change, onDrop);
  return (
    <li className={styles['change']}>
      <bdi className={styles['words']}>{text}</bdi>
      {canDo && make !== null && (
        <ForAdmins>
          <Button isPending={isPending} onPress={make}>
            {say('action.apply')}
          </Button>
        </ForAdmins>
      )}
      <IconButton icon={X} label={say('simulate.drop', { change: text })} onPress={onDrop} />
    </li>
  );
}

function useWords(change: DraftChange): string {
  const { say } = useText();
  const groups = useGroups();
  const nameOf = (id: number | null): string =>
    id === null ? say('groups.all') : (groups.find((group) => group.id === id)?.name ?? `${id}`);
  switch (change.kind) {
    case 'turnOn':
    case 'turnOff':
      return say(`simulate.words.${change.kind}`, { name: change.name });
    case 'url':
      return say(`simulate.words.${change.of === 'block' ? 'urlBlock' : 'urlAllow'}`, { url: change.url });
    case 'domain':
      return say(`simulate.words.${change.action}`, {
        name: change.domain,
        group: nameOf(change.groupId),
      });
    case 'block':
    case 'unblock':
      return say(`simulate.words.${change.kind}`, { name: change.name, group: nameOf(change.groupId) });
    case 'client':
      return say('simulate.words.client', { client: change.address, group: nameOf(change.groupId) });
  }
}

interface Make {
  /** Applies the change; null if this page cannot apply it. */
  readonly make: (() => void) | null;
  readonly isPending: boolean;
}

/** Applies a change of the draft to the policy and removes it from the draft. */
function useMake(change: DraftChange, onDone: () => void): Make {
  const { run, isPending } = useChanges({ done: 'simulate.done', onDone });
  const isClient = change.kind === 'client';
  const { data: clients } = useAsk(
    'GET /clients',
    { query: { limit: 100, ...(isClient && { search: change.address }) } },
    { enabled: isClient },
  );
  switch (change.kind) {
    case 'turnOn':
    case 'turnOff': {
      const { approve, change: turn } = operationsOf(change.of);
      const params = { id: change.id };
      if (change.kind === 'turnOn' && change.isHeld)
        return { make: () => void run(approve, { params }), isPending };
      const call = { params, body: { enabled: change.kind === 'turnOn' } };
      return { make: () => void run(turn, call), isPending };
    }
    case 'url': {
      const body = { name: change.url.replace(/^https?:\/\//, '').slice(0, 200), url: change.url };
      return { make: () => void run(operationsOf(change.of).create, { body }), isPending };
    }
    case 'domain': {
      const body = { domain: change.domain, action: change.action, group_id: change.groupId };
      return { make: () => void run('POST /managed-domains', { body }), isPending };
    }
    case 'block':
    case 'unblock': {
      const ids = { service_id: change.serviceId, group_id: change.groupId };
      const make =
        change.kind === 'block'
          ? () => run('POST /services', { body: ids })
          : () => run('DELETE /services/{service_id}/groups/{group_id}', { params: ids });
      return { make: () => void make(), isPending };
    }
    case 'client': {
      const id = clients?.data.find(({ ip_address: address }) => address === change.address)?.id;
      if (id === undefined) return { make: null, isPending };
      const call = { params: { id }, body: { group_id: change.groupId } };
      return { make: () => void run('PUT /clients/{id}/group', call), isPending };
    }
  }
}
