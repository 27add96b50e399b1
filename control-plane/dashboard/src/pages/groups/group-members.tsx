/** Members of a group. Other clients can be moved into it. */
import { Plus, Users } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SearchField } from '../../ui/controls/fields.tsx';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Answered, Empty } from '../../ui/display/states.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import type { Group } from './group-list.tsx';
import styles from './groups.module.css';

const SHOWN = 8;
const FOUND = 30;

interface Named {
  readonly name: string | null;
  readonly hostname: string | null;
  readonly ip_address: string | null;
  readonly client_key: string | null;
  readonly mac_address: string | null;
}

function nameOf({ name, hostname, ip_address: ip, client_key: key, mac_address: mac }: Named): string {
  return name ?? hostname ?? ip ?? key ?? mac ?? '';
}

export function GroupMembers({ group }: { readonly group: Group }): ReactNode {
  const { say, format } = useText();
  const [isMoving, setMoving] = useState(false);
  const members = useAsk('GET /groups/{id}/clients', { params: { id: group.id }, query: { limit: SHOWN } });
  return (
    <Card
      title={say('field.devices')}
      actions={
        <ForAdmins>
          <Button icon={Plus} onPress={() => setMoving(true)}>
            {say('groups.members.move')}
          </Button>
        </ForAdmins>
      }
    >
      <Answered of={members}>
        {({ data: rows, total }) =>
          rows.length === 0 ? (
            <Empty icon={Users} title={say('groups.members.none')} />
          ) : (
            <>
              <ul className={styles['rows']}>
                {rows.map((client) => (
                  <li key={client.id} className={styles['row']}>
                    <OpenLink to={`/clients?open=${client.id}`}>
                      <bdi>{nameOf(client)}</bdi>
                    </OpenLink>
                    <bdi className={styles['quiet']}>{client.ip_address}</bdi>
                  </li>
                ))}
              </ul>
              {total > rows.length && (
                <Link to={`/clients?group=${group.id}`} className={styles['more']}>
                  {say('groups.members.all', { count: format.count(total) })}
                </Link>
              )}
            </>
          )
        }
      </Answered>
      {isMoving && <MoveHere group={group} onClose={() => setMoving(false)} />}
    </Card>
  );
}

function MoveHere({ group, onClose }: { readonly group: Group; readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const [search, setSearch] = useState('');
  const query = { limit: FOUND, ...(search.trim() !== '' && { search: search.trim().slice(0, 255) }) };
  const clients = useAsk('GET /clients', { query });
  const move = useChange('PUT /clients/{id}/group', { done: 'groups.members.moved' });
  return (
    <Dialog title={say('groups.members.moveTo', { name: group.name })} isOpen onClose={onClose}>
      <SearchField label={say('clients.search')} value={search} onChange={setSearch} />
      <Answered of={clients}>
        {({ data: rows }) => {
          const others = rows.filter(({ group_id: id }) => id !== group.id);
          if (others.length === 0) return <p>{say('groups.members.noneFound')}</p>;
          return (
            <ul className={styles['rows']}>
              {others.map((client) => (
                <li key={client.id} className={styles['row']}>
                  <span className={styles['lines']}>
                    <bdi>{nameOf(client)}</bdi>
                    <bdi className={styles['quiet']}>{client.ip_address}</bdi>
                  </span>
                  <Button
                    isPending={move.isPending}
                    onPress={() => void move.run({ params: { id: client.id }, body: { group_id: group.id } })}
                  >
                    {say('action.add')}
                    <span className="unseen"> {nameOf(client)}</span>
                  </Button>
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </Dialog>
  );
}
