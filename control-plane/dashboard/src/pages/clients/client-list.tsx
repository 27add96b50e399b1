/** Paged list of clients, filtered by text, group, and the source of the group. */
import { Inbox } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { searchOf } from '../../api/search-fields.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Pager } from '../../ui/controls/pager.tsx';
import { Answered, Callout, Empty, FormFault } from '../../ui/display/states.tsx';
import { Badge, Moment } from '../../ui/display/values.tsx';
import { NewDevices } from './new-devices.tsx';
import { makerOf, SOURCE_TEXTS } from './client-words.ts';
import { nameOf } from '../../ui/policy/client-name.ts';
import type { Client } from './client-words.ts';
import { Filters } from '../../ui/display/filters.tsx';
import styles from './clients.module.css';
import { notify } from '../../api/notices.ts';
import { useChange } from '../../api/use-change.ts';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';

/** State that is kept in the URL. */
export const DEFAULTS = {
  tab: 'clients',
  search: '',
  group: '',
  source: '',
  seen: '',
  offset: '0',
  open: '',
};
const PAGE_ROWS = 50;
const MAX_STATS = 1_000;
const REFRESH_MS = 30_000;
/** Maximum number of devices in the dialog for names. */
const MAX_SHOWN = 20;
const SOURCES = ['mac', 'manual', 'subnet', 'default'] as const;

export function ClientList(): ReactNode {
  const { say } = useText();
  const [{ search, group, source, seen, offset }, setFields] = useUrlState(DEFAULTS);
  const knownSource = SOURCES.find((one) => one === source);
  const first = /^\d{1,9}$/.test(offset) ? Number(offset) : 0;
  const query = {
    limit: PAGE_ROWS,
    offset: first,
    ...(search.trim() !== '' && { search: search.trim().slice(0, 255) }),
    ...(/^[1-9]\d{0,8}$/.test(group) && { group_id: group }),
    ...(knownSource !== undefined && { group_source: knownSource }),
    ...(seen === 'new' && { is_new: true as const }),
  };
  const clients = useAsk('GET /clients', { query }, { everyMs: REFRESH_MS });
  const isFiltered = search.trim() !== '' || group !== '' || source !== '' || seen !== '';
  const clear = (): void => setFields({ search: '', group: '', source: '', seen: '', offset: '0' });
  const { data: groups = [] } = useAsk('GET /groups', {});
  return (
    <>
      <Filters
        label={say('clients.search')}
        search={search}
        onSearch={(text) => setFields({ search: text, offset: '0' }, { replace: true })}
        isShort
        activeCount={[group, source, seen].filter((choice) => choice !== '').length}
      >
        <SelectField
          label={say('field.group')}
          isLabelHidden
          value={group}
          onChange={(chosen) => setFields({ group: chosen, offset: '0' })}
          choices={[
            { id: '', text: say('rules.anyGroup') },
            ...groups.map(({ id, name }) => ({ id: `${id}`, text: name })),
          ]}
        />
        <SelectField
          label={say('clients.why')}
          isLabelHidden
          value={source}
          onChange={(chosen) => setFields({ source: chosen, offset: '0' })}
          choices={[
            { id: '', text: say('clients.source.any') },
            ...SOURCES.map((one) => ({ id: one, text: say(SOURCE_TEXTS[one]) })),
          ]}
        />
        <SelectField
          label={say('clients.firstSeen')}
          isLabelHidden
          value={seen}
          onChange={(chosen) => setFields({ seen: chosen, offset: '0' })}
          choices={[
            { id: '', text: say('clients.seen.any') },
            { id: 'new', text: say('clients.seen.new') },
          ]}
        />
      </Filters>
      <Answered of={clients} lines={8}>
        {({ data: rows, total }) => (
          <>
            <NewDevices rows={rows} />
            <UnnamedHint />
            <Card>
              {rows.length > 0 ? (
                <ClientTable rows={rows} />
              ) : (
                <Empty icon={Inbox} title={say(isFiltered ? 'clients.noneFound' : 'clients.none')}>
                  {isFiltered ? (
                    <Button onPress={clear}>{say('action.clearFilters')}</Button>
                  ) : (
                    <p>{say('clients.none.help')}</p>
                  )}
                </Empty>
              )}
              <Pager
                total={total}
                offset={first}
                limit={PAGE_ROWS}
                onMove={(next) => setFields({ offset: `${next}` })}
              />
            </Card>
          </>
        )}
      </Answered>
    </>
  );
}

/**
 * Counts the devices without a name on all pages of the list, and offers to name those that were active most recently.
 */
function UnnamedHint(): ReactNode {
  const { say } = useText();
  const [isNaming, setNaming] = useState(false);
  const { data } = useAsk(
    'GET /clients',
    { query: { is_unnamed: true, limit: MAX_SHOWN } },
    { everyMs: REFRESH_MS },
  );
  const { data: unnamed, total } = data ?? { data: [], total: 0 };
  return (
    <ForAdmins>
      {total > 0 && (
        <Callout
          tone="info"
          more={say('clients.unnamed.more')}
          actions={<Button onPress={() => setNaming(true)}>{say('clients.nameThem')}</Button>}
        >
          {say('clients.unnamed', { count: total })}
        </Callout>
      )}
      {isNaming && <NameThem clients={unnamed} onClose={() => setNaming(false)} />}
    </ForAdmins>
  );
}

function ClientTable({ rows }: { readonly rows: readonly Client[] }): ReactNode {
  const { say, format } = useText();
  const [params] = useSearchParams();
  const { data: groups } = useAsk('GET /groups', {});
  const stats = useAsk('GET /clients/stats', { query: { period: '24h', limit: MAX_STATS } });
  const statsOf = useMemo(() => new Map(stats.data?.map((row) => [row.id, row])), [stats.data]);
  const queriesOf = (id: number): ReactNode => {
    const found = statsOf.get(id);
    if (found === undefined)
      return stats.data === undefined || stats.data.length >= MAX_STATS ? '–' : format.count(0);
    return (
      <span title={say('clients.blockedShare', { share: format.percent(found.block_rate) })}>
        {format.count(found.queries_total)}
      </span>
    );
  };
  const columns: readonly Column<Client>[] = [
    {
      id: 'name',
      title: say('field.name'),
      isName: true,
      cell: (client) => (
        <OpenLink
          to={`/clients?${String(searchOf(params, { open: `${client.id}` }, { open: '' }))}`}
          detail={
            client.name !== null && client.hostname !== null ? (
              <bdi className={styles['detail']}>{client.hostname}</bdi>
            ) : null
          }
        >
          <bdi>{nameOf(client)}</bdi> {client.is_new && <Badge tone="warning">{say('clients.new')}</Badge>}
        </OpenLink>
      ),
    },
    {
      id: 'address',
      title: say('field.address'),
      isPlain: true,
      cell: (client) => <Addresses client={client} />,
    },
    {
      id: 'group',
      title: say('field.group'),
      isPlain: true,
      cell: (client) => (
        <span className={styles['addresses']}>
          <bdi>{groups?.find(({ id }) => id === client.group_id)?.name ?? '…'}</bdi>
          <span className={styles['detail']}>{say(SOURCE_TEXTS[client.group_source])}</span>
        </span>
      ),
    },
    {
      id: 'seen',
      title: say('field.lastSeen'),
      isPlain: true,
      cell: ({ last_seen: seen }) => (seen === null ? say('clients.neverSeen') : <Moment at={seen} />),
    },
    { id: 'queries', title: say('clients.queries24h'), isNumber: true, cell: ({ id }) => queriesOf(id) },
  ];
  return <DataTable label={say('page.clients')} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

/** Identifiers of a client, the address first, and its manufacturer. */
function Addresses({ client }: { readonly client: Client }): ReactNode {
  const { say } = useText();
  const { ip_address: ip, mac_address: mac, client_key: key } = client;
  const maker = makerOf(client, say);
  return (
    <span className={styles['addresses']}>
      <bdi>{ip ?? mac ?? '–'}</bdi>
      {ip !== null && mac !== null && <bdi className={styles['detail']}>{mac}</bdi>}
      {maker !== null && <bdi className={styles['detail']}>{maker}</bdi>}
      {key !== null && (
        <span className={styles['detail']}>
          {say('clients.keyIs')} <bdi>{key}</bdi>
        </span>
      )}
    </span>
  );
}

interface NameThemProps {
  readonly clients: readonly Client[];
  readonly onClose: () => void;
}

/** A name field for each device. Devices whose field stays empty are still shown by their address. */
function NameThem({ clients, onClose }: NameThemProps): ReactNode {
  const { say, format } = useText();
  const [shown] = useState(clients);
  const [names, setNames] = useState<Readonly<Record<number, string>>>({});
  const [isSaving, setSaving] = useState(false);
  const change = useChange('PATCH /clients/{id}', { quiet: true });

  async function save(): Promise<void> {
    setSaving(true);
    let named = 0;
    for (const { id } of shown) {
      const name = names[id]?.trim() ?? '';
      if (name === '') continue;
      if (!(await change.run({ params: { id }, body: { name } }))) {
        setSaving(false);
        return;
      }
      setNames((before) => ({ ...before, [id]: '' }));
      named++;
    }
    setSaving(false);
    if (named > 0) notify({ tone: 'good', text: say('clients.named', { count: named }) });
    onClose();
  }

  return (
    <FormDialog
      title={say('clients.nameThem')}
      isPending={isSaving}
      onSave={() => void save()}
      onClose={onClose}
    >
      <p className="quiet">{say('clients.nameThem.help')}</p>
      <FormFault failure={change.failure} />
      {shown.map((client) => (
        <TextField
          key={client.id}
          label={nameOf(client)}
          help={[
            client.mac_address,
            makerOf(client, say),
            client.last_seen === null ? null : say('clients.seenAgo', { ago: format.ago(client.last_seen) }),
            say('clients.queriesEver', { count: client.query_count }),
          ]
            .filter((part) => part !== null)
            .join(' · ')}
          value={names[client.id] ?? ''}
          onChange={(name) => setNames((before) => ({ ...before, [client.id]: name }))}
          autoComplete="off"
        />
      ))}
    </FormDialog>
  );
}
