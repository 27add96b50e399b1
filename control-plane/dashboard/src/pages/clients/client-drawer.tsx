/** One client: what it is, its group, what it may ask for a while, and what it asked. */
import { CircleHelp, ListTree } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../../ui/controls/fields.tsx';
import { Bar } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { Facts, Moment } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { TimedPermissions } from '../../ui/policy/timed-permissions.tsx';
import { ClientActivity } from './client-activity.tsx';
import { ClientForm } from './client-form.tsx';
import { hasOwnGroup, nameOf, SOURCE_TEXTS } from './client-words.ts';
import type { Client } from './client-words.ts';
import { EditAndDelete } from '../../ui/overlays/edit-and-delete.tsx';
import styles from './clients.module.css';

interface ClientDrawerProps {
  readonly id: number;
  readonly onClose: () => void;
}

/** The drawer. */
export function ClientDrawer({ id, onClose }: ClientDrawerProps): ReactNode {
  const { say } = useText();
  const answer = useAsk('GET /clients/{id}', { params: { id } });
  const remove = useChange('DELETE /clients/{id}', { done: 'clients.deleted', onDone: onClose });
  return (
    <Drawer
      title={<bdi>{answer.data === undefined ? say('field.client') : nameOf(answer.data)}</bdi>}
      isOpen
      onClose={onClose}
    >
      <Answered of={answer} lines={6}>
        {(client) => (
          <>
            <Bar>
              <EditAndDelete
                name={nameOf(client)}
                form={(close) => <ClientForm client={client} onClose={close} />}
                onDelete={() => remove.run({ params: { id } })}
                isPending={remove.isPending}
              >
                {say('clients.delete.text')}
              </EditAndDelete>
            </Bar>
            <ClientFacts client={client} />
            <section className={styles['section']}>
              <h3>{say('timed.title')}</h3>
              <TimedPermissions of={{ client_id: client.id }} />
            </section>
            {client.ip_address !== null && <ClientActivity address={client.ip_address} />}
          </>
        )}
      </Answered>
    </Drawer>
  );
}

function ClientFacts({ client }: { readonly client: Client }): ReactNode {
  const { say, format } = useText();
  const { ip_address: ip, mac_address: mac, client_key: key, hostname } = client;
  const facts: (readonly [string, ReactNode])[] = [
    [say('field.group'), <GroupOf key="group" client={client} />],
    [say('field.address'), <bdi key="address">{ip ?? '–'}</bdi>],
    [say('clients.mac'), <bdi key="mac">{mac ?? '–'}</bdi>],
  ];
  if (key !== null) facts.push([say('clients.key'), <bdi key="key">{key}</bdi>]);
  if (hostname !== null) facts.push([say('clients.hostname'), <bdi key="hostname">{hostname}</bdi>]);
  if (client.first_seen !== null)
    facts.push([say('clients.firstSeen'), <Moment key="first" at={client.first_seen} />]);
  facts.push([
    say('field.lastSeen'),
    client.last_seen === null ? say('word.never') : <Moment key="last" at={client.last_seen} />,
  ]);
  facts.push([say('clients.queriesAll'), format.count(client.query_count)]);
  return (
    <>
      <Facts facts={facts} />
      <p>
        <Link to={`/queries?client_id=${String(client.id)}`} className={styles['more']}>
          <ListTree size={18} aria-hidden /> {say('clients.itsQueries')}
        </Link>{' '}
        <Link to={`/why?client_id=${String(client.id)}`} className={styles['more']}>
          <CircleHelp size={18} aria-hidden /> {say('why.open')}
        </Link>
      </p>
    </>
  );
}

/** The group and why; administrators choose another one here. */
function GroupOf({ client }: { readonly client: Client }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const { data: groups = [] } = useAsk('GET /groups', {});
  const assign = useChange('PUT /clients/{id}/group', { done: 'clients.moved' });
  const name = groups.find(({ id }) => id === client.group_id)?.name ?? '…';
  return (
    <span className={styles['addresses']}>
      {isAdmin ? (
        <SelectField
          label={say('field.group')}
          isLabelHidden
          value={hasOwnGroup(client) ? `${client.group_id}` : ''}
          onChange={(chosen) =>
            void assign.run({
              params: { id: client.id },
              body: { group_id: chosen === '' ? null : Number(chosen) },
            })
          }
          choices={[
            {
              id: '',
              text: hasOwnGroup(client) ? say('clients.group.auto') : say('clients.group.autoIs', { name }),
            },
            ...groups.map((group) => ({ id: `${group.id}`, text: group.name })),
          ]}
        />
      ) : (
        <bdi>{name}</bdi>
      )}
      <span className="quiet">
        {say(SOURCE_TEXTS[client.group_source])}{' '}
        <Link to={`/groups?open=${client.group_id}`}>{say('clients.group.look')}</Link>
      </span>
    </span>
  );
}
