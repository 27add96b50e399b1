/** Signs that a device bypasses Weir: it is on the network but sends no queries, or it looked up another resolver. */
import { EarOff } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Card, Stack } from '../../ui/display/page.tsx';
import { Answered, Empty } from '../../ui/display/states.tsx';
import { Badge, DomainName, Moment } from '../../ui/display/values.tsx';
import { makerOf } from './client-words.ts';
import styles from './clients.module.css';

type Device = AnswerOf<'GET /clients/silent'>[number];

const HOURS = 24;

/** Both signs of a bypass, and their possible causes. */
export function BypassSigns(): ReactNode {
  return (
    <Stack>
      <SilentDevices />
      <ResolverLookups />
    </Stack>
  );
}

function SilentDevices(): ReactNode {
  const { say } = useText();
  const devices = useAsk('GET /clients/silent', { query: { hours: HOURS } });
  const columns: readonly Column<Device>[] = [
    {
      id: 'name',
      title: say('field.name'),
      isName: true,
      cell: (device) => <DeviceName device={device} />,
    },
    {
      id: 'mac',
      title: say('clients.field.mac_address'),
      cell: (device) => (
        <span className={styles['addresses']}>
          <bdi>{device.mac_address}</bdi>
          <bdi className="quiet">{makerOf(device, say)}</bdi>
        </span>
      ),
    },
    {
      id: 'seen',
      title: say('clients.silent.asked'),
      cell: ({ last_seen: at }) => (at === null ? say('word.never') : <Moment at={at} />),
    },
    {
      id: 'where',
      title: say('clients.silent.seenIn'),
      cell: ({ seen_in: places }) => places.map((place) => say(`clients.silent.${place}`)).join(', '),
    },
  ];
  return (
    <Card title={say('clients.silent.title')}>
      <p>{say('clients.silent.help')}</p>
      <Answered of={devices} lines={4}>
        {(rows) => (
          <DataTable
            label={say('clients.silent.title')}
            columns={columns}
            rows={rows}
            keyOf={({ ip_addresses: [address], mac_address: mac }) => mac ?? address ?? ''}
            empty={
              <Empty icon={EarOff} title={say('clients.silent.none')}>
                <p>{say('clients.silent.none.help')}</p>
              </Empty>
            }
          />
        )}
      </Answered>
    </Card>
  );
}

function DeviceName({ device }: { readonly device: Device }): ReactNode {
  const { name, hostname, client_id: id, ip_addresses: addresses } = device;
  const known = name ?? hostname;
  const places = addresses.join(', ');
  if (id !== null)
    return (
      <OpenLink to={`/clients?tab=bypass&open=${id}`} detail={known !== null && <bdi>{places}</bdi>}>
        <bdi>{known ?? places}</bdi>
      </OpenLink>
    );
  return (
    <span className={styles['addresses']}>
      <bdi>{known ?? places}</bdi>
      {known !== null && <bdi className="quiet">{places}</bdi>}
    </span>
  );
}

type Lookup = AnswerOf<'GET /clients/resolver-lookups'>[number];

function ResolverLookups(): ReactNode {
  const { say } = useText();
  const lookups = useAsk('GET /clients/resolver-lookups', { query: { period: `${HOURS}h` } });
  const columns: readonly Column<Lookup>[] = [
    {
      id: 'client',
      title: say('field.name'),
      isName: true,
      cell: ({ client, client_hostname: hostname, resolver }) => (
        <OpenLink
          to={`/queries?${new URLSearchParams({ client, domain: resolver }).toString()}`}
          detail={hostname !== null && <bdi>{client}</bdi>}
        >
          <bdi>{hostname ?? client}</bdi>
        </OpenLink>
      ),
    },
    {
      id: 'resolver',
      title: say('clients.resolver'),
      cell: ({ resolver, status }) => (
        <>
          <DomainName name={resolver} />{' '}
          {status.startsWith('BLOCKED') && <Badge tone="blocked">{say('groups.rules.isBlocked')}</Badge>}
        </>
      ),
    },
    { id: 'asked', title: say('clients.silent.asked'), cell: ({ last_asked: at }) => <Moment at={at} /> },
  ];
  return (
    <Card title={say('clients.resolvers.title')}>
      <p>{say('clients.resolvers.help')}</p>
      <Answered of={lookups} lines={4}>
        {(rows) => (
          <DataTable
            label={say('clients.resolvers.title')}
            columns={columns}
            rows={rows}
            keyOf={({ client, client_id: id, resolver }) => `${client} ${id} ${resolver}`}
            empty={<Empty icon={EarOff} title={say('clients.resolvers.none')} />}
          />
        )}
      </Answered>
    </Card>
  );
}
