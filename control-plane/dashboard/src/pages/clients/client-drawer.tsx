/** Drawer of a client: identifiers, group, temporary rules and recent queries. */
import { Ban, CircleHelp, ListTree } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../../ui/controls/fields.tsx';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { Bar } from '../../ui/display/page.tsx';
import { Answered, Skeleton } from '../../ui/display/states.tsx';
import { Badge, DomainName, Facts, Moment } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { TimedPermissions } from '../../ui/policy/timed-permissions.tsx';
import { ClientForm } from './client-form.tsx';
import { AcknowledgeButton } from './new-devices.tsx';
import { NewKeyButton } from './new-key-button.tsx';
import { ClientParts, MergeButton } from './client-parts.tsx';
import { EXCLUSIONS, hasOwnGroup, SOURCE_TEXTS } from './client-words.ts';
import { nameOf } from '../../ui/policy/client-name.ts';
import type { Client } from './client-words.ts';
import { UnblockService } from './unblock-service.tsx';
import { EditAndDelete } from '../../ui/overlays/edit-and-delete.tsx';
import styles from './clients.module.css';
import { lazy, Suspense, useState } from 'react';
import { TimelineChart } from '../../ui/charts/timeline-chart.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { BarList } from '../../ui/display/bar-list.tsx';

const PhoneSetup = lazy(() => import('./phone-setup.tsx'));

interface ClientDrawerProps {
  readonly id: number;
  readonly onClose: () => void;
}

export function ClientDrawer({ id, onClose }: ClientDrawerProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
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
              <MergeButton client={client} />
              <AcknowledgeButton client={client} />
            </Bar>
            <ClientFacts client={client} />
            <ClientParts client={client} />
            {isAdmin && <AwayFromHome client={client} />}
            <section className={styles['section']}>
              <h3>{say('timed.title')}</h3>
              <TimedPermissions of={{ client_id: client.id }}>
                <UnblockService client={client} />
              </TimedPermissions>
            </section>
            {client.ip_address !== null && <ClientActivity id={client.id} address={client.ip_address} />}
          </>
        )}
      </Answered>
    </Drawer>
  );
}

/** Set-up of the device for use outside the network. This requires a client key. */
function AwayFromHome({ client: { id, client_key: key } }: { readonly client: Client }): ReactNode {
  const { say } = useText();
  return (
    <section className={styles['section']}>
      <h3>{say('phone.title')}</h3>
      {key === null ? (
        <>
          <p className="quiet">{say('phone.keyless')}</p>
          <Bar>
            <NewKeyButton id={id} />
          </Bar>
        </>
      ) : (
        <Suspense fallback={<Skeleton lines={4} />}>
          <PhoneSetup id={id} />
        </Suspense>
      )}
    </section>
  );
}

function ClientFacts({ client }: { readonly client: Client }): ReactNode {
  const { say, format } = useText();
  const { ip_address: ip, mac_address: mac, client_key: key, hostname } = client;
  const facts: (readonly [string, ReactNode])[] = [
    [say('field.group'), <GroupOf key="group" client={client} />],
    [say('field.address'), <bdi key="address">{ip ?? '–'}</bdi>],
    [say('clients.field.mac_address'), <bdi key="mac">{mac ?? '–'}</bdi>],
  ];
  if (client.private_address) facts.push([say('clients.vendor'), say('clients.privateAddress.help')]);
  else if (client.vendor !== null)
    facts.push([say('clients.vendor'), <bdi key="vendor">{client.vendor}</bdi>]);
  if (key !== null) facts.push([say('clients.key'), <bdi key="key">{key}</bdi>]);
  if (hostname !== null) facts.push([say('clients.hostname'), <bdi key="hostname">{hostname}</bdi>]);
  if (client.first_seen !== null)
    facts.push([
      say('clients.firstSeen'),
      <span key="first">
        <Moment at={client.first_seen} />{' '}
        {client.is_new && <Badge tone="warning">{say('clients.new')}</Badge>}
      </span>,
    ]);
  facts.push([
    say('field.lastSeen'),
    client.last_seen === null ? say('word.never') : <Moment key="last" at={client.last_seen} />,
  ]);
  facts.push([say('clients.queriesAll'), format.count(client.query_count)]);
  const excluded = EXCLUSIONS.filter((field) => client[field]);
  if (excluded.length > 0)
    facts.push([
      say('clients.excluded'),
      excluded.map((field) => say(`clients.excluded.${field}`)).join(', '),
    ]);
  return (
    <>
      <Facts facts={facts} />
      <p className={styles['links']}>
        <Link to={`/queries?client_id=${String(client.id)}`} className={styles['more']}>
          <ListTree size={18} aria-hidden /> {say('clients.itsQueries')}
        </Link>
        <Link to={`/queries?client_id=${String(client.id)}&status=BLOCKED`} className={styles['more']}>
          <Ban size={18} aria-hidden /> {say('clients.itsBlocked')}
        </Link>
        <Link to={`/why?client_id=${String(client.id)}`} className={styles['more']}>
          <CircleHelp size={18} aria-hidden /> {say('why.open')}
        </Link>
      </p>
    </>
  );
}

/** The group and the reason for it. Administrators can change it here. */
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

const PERIODS = ['1h', '24h', '7d'] as const;
const ROWS = 8;

interface ClientActivityProps {
  readonly id: number;
  readonly address: string;
}

/** Queries of a client over time, the names that it queried most, and its most blocked names. */
function ClientActivity({ id, address }: ClientActivityProps): ReactNode {
  const { say } = useText();
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('24h');
  const query = { client: address, period, limit: ROWS };
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const timeline = useAsk('GET /queries/timeline', { query: { client: address, period, timezone } });
  const blocked = useAsk('GET /stats/top_blocked', { query });
  const asked = useAsk('GET /stats/top_domains', { query });
  return (
    <>
      <section className={styles['section']}>
        <Segments
          label={say('field.period')}
          value={period}
          choices={PERIODS.map((id) => ({ id, text: say(`period.${id}`) }))}
          onChange={setPeriod}
        />
        <Answered of={timeline} lines={5}>
          {({ buckets, granularity }) => <TimelineChart buckets={buckets} granularity={granularity} />}
        </Answered>
      </section>
      <section className={styles['section']}>
        <h3>{say('overview.topBlocked')}</h3>
        <Answered of={blocked}>{(rows) => <Names id={id} rows={rows} tone="blocked" />}</Answered>
      </section>
      <section className={styles['section']}>
        <h3>{say('overview.topNames')}</h3>
        <Answered of={asked}>{(rows) => <Names id={id} rows={rows} tone="allowed" />}</Answered>
      </section>
    </>
  );
}

interface NamesProps {
  /** Id of the client. */
  readonly id: number;
  readonly rows: readonly { readonly domain: string; readonly count: number }[];
  readonly tone: 'allowed' | 'blocked';
}

/** Each name links to its explanation for the client, on which the name can be unblocked or blocked. */
function Names({ id, rows, tone }: NamesProps): ReactNode {
  const { say } = useText();
  if (rows.length === 0) return <p className="quiet">{say('clients.nothing')}</p>;
  return (
    <BarList
      tone={tone}
      rows={rows.map(({ domain, count }) => ({
        key: domain,
        name: (
          <OpenLink to={`/why?name=${encodeURIComponent(domain)}&client_id=${id}`}>
            <DomainName name={domain} />
          </OpenLink>
        ),
        count,
      }))}
    />
  );
}
