/** Card about the cache: hit rate, contents, and clearing of answers. */
import { DatabaseZap, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { SearchField } from '../../ui/controls/fields.tsx';
import { Pager } from '../../ui/controls/pager.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import { Bar, Card } from '../../ui/display/page.tsx';
import { Answered, Empty } from '../../ui/display/states.tsx';
import { DomainName, Figure, Figures } from '../../ui/display/values.tsx';
import { cachedLeft } from './cached-left.ts';
import type { CachedLeft } from './cached-left.ts';
import styles from './resolving-page.module.css';
import { useChange } from '../../api/use-change.ts';
import { Confirm } from '../../ui/overlays/confirm.tsx';

const DEFAULTS = { name: '' };
const ROWS = 25;
const STATES_MS = 10_000;

/** The name that the user searches for is in the URL. */
export function CacheCard({ maxBytes }: { readonly maxBytes: number }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const [{ name }, setFields] = useUrlState(DEFAULTS);
  const [purge, setPurge] = useState<Purge | null>(null);
  const wanted = name.trim();
  return (
    <Card title={say('settings.part.cache')}>
      <CacheFigures maxBytes={maxBytes} />
      <Bar>
        <div className={styles['search']}>
          <SearchField
            label={say('resolving.cache.search')}
            placeholder={say('resolving.cache.placeholder')}
            value={name}
            onChange={(text) => setFields({ name: text }, { replace: true })}
          />
        </div>
        {isAdmin && (
          <Button kind="danger" icon={Trash2} onPress={() => setPurge({ domain: wanted })}>
            {say(wanted === '' ? 'resolving.purge.all' : 'resolving.purge.name')}
          </Button>
        )}
      </Bar>
      <CacheEntries key={wanted} domain={wanted} onPurge={isAdmin ? setPurge : null} />
      {purge !== null && <PurgeDialog purge={purge} onClose={() => setPurge(null)} />}
    </Card>
  );
}

function CacheFigures({ maxBytes }: { readonly maxBytes: number }): ReactNode {
  const { say, format } = useText();
  const metrics = useAsk('GET /cache/metrics', {}, { everyMs: STATES_MS });
  return (
    <Answered of={metrics} lines={2}>
      {({ entries, bytes, hits, misses, hit_rate: rate, stale_hits: stale, evictions }) => (
        <Figures>
          <Figure
            label={say('overview.cache')}
            value={hits + misses === 0 ? '–' : format.percent(rate)}
            detail={say('resolving.cache.hits', {
              hits: format.briefCount(hits),
              all: format.briefCount(hits + misses),
            })}
          />
          <Figure
            label={say('resolving.cache.entries')}
            value={format.briefCount(entries)}
            detail={say('resolving.cache.evicted', { count: format.briefCount(evictions) })}
          />
          <Figure
            label={say('resolving.cache.memory')}
            value={format.bytes(bytes)}
            detail={maxBytes > 0 ? say('resolving.cache.of', { all: format.bytes(maxBytes) }) : undefined}
          />
          <Figure
            label={say('resolving.cache.stale')}
            value={format.briefCount(stale)}
            detail={say('resolving.cache.stale.help')}
          />
        </Figures>
      )}
    </Answered>
  );
}

interface CacheEntriesProps {
  readonly domain: string;
  readonly onPurge: ((purge: Purge) => void) | null;
}

function CacheEntries({ domain, onPurge }: CacheEntriesProps): ReactNode {
  const { say, format } = useText();
  const [offset, setOffset] = useState(0);
  const leftText = (left: CachedLeft): string => {
    if (left.state === 'expired') return say('resolving.cache.expired');
    const span = format.span(left.secs);
    return left.state === 'valid' ? span : say('resolving.cache.staleFor', { span });
  };
  const query = { limit: ROWS, offset, ...(domain !== '' && { domain }) };
  const entries = useAsk('GET /cache/entries', { query });
  return (
    <Answered of={entries} lines={5}>
      {({ data, total, limit }) =>
        data.length === 0 ? (
          <Empty
            icon={DatabaseZap}
            title={say(domain === '' ? 'resolving.cache.empty' : 'resolving.cache.notFound')}
          >
            {domain !== '' && <p>{say('resolving.cache.notFound.help')}</p>}
          </Empty>
        ) : (
          <>
            <DataTable
              label={say('settings.part.cache')}
              rows={data.map((row, place) => ({ ...row, place }))}
              keyOf={({ domain: name, type, place }) => `${name} ${type} ${place}`}
              columns={[
                {
                  id: 'name',
                  title: say('field.name'),
                  isName: true,
                  cell: ({ domain: name }) => <DomainName name={name} />,
                },
                { id: 'type', title: say('field.type'), cell: ({ type }) => type },
                { id: 'rcode', title: say('resolving.cache.answer'), cell: ({ rcode }) => rcode },
                {
                  id: 'dnssec',
                  title: say('resolving.dnssec'),
                  cell: ({ dnssec_status: status }) => say(`resolving.dnssec.${status}`),
                },
                {
                  id: 'left',
                  title: say('resolving.cache.left'),
                  isNumber: true,
                  cell: (entry) => leftText(cachedLeft(entry, Date.now())),
                },
                ...(onPurge === null
                  ? []
                  : [
                      {
                        id: 'actions',
                        title: say('resolving.purge.name'),
                        isActions: true,
                        cell: ({ domain: name, type }: { domain: string; type: string }) => (
                          <IconButton
                            icon={Trash2}
                            label={say('resolving.purge.one', { name, type })}
                            onPress={() => onPurge({ domain: name, type })}
                          />
                        ),
                      },
                    ]),
              ]}
            />
            <Pager total={total} limit={limit} offset={offset} onMove={setOffset} />
          </>
        )
      }
    </Answered>
  );
}

/** Names to clear from the cache; an empty domain means all names. */
interface Purge {
  readonly domain: string;
  readonly type?: string;
}

interface PurgeDialogProps {
  readonly purge: Purge;
  readonly onClose: () => void;
}

/** Asks for confirmation before clearing answers, and shows the number of these answers. */
function PurgeDialog({ purge: { domain, type }, onClose }: PurgeDialogProps): ReactNode {
  const { say, format } = useText();
  const drop = useChange('DELETE /cache/entries', { done: 'resolving.purge.done', onDone: onClose });
  const filter = { ...(domain !== '' && { domain }), ...(type !== undefined && { type }) };
  const found = useAsk('GET /cache/entries', { query: { ...filter, limit: 1 } });
  return (
    <Confirm
      title={say(domain === '' ? 'resolving.purge.all' : 'resolving.purge.title', {
        name: type === undefined ? domain : `${domain} ${type}`,
      })}
      action={say('resolving.purge.action')}
      isPending={drop.isPending}
      onConfirm={() => void drop.run({ query: filter })}
      onClose={onClose}
    >
      <Answered of={found.isPlaceholderData ? { ...found, data: undefined } : found} lines={1}>
        {({ total }) => <p>{say('resolving.purge.count', { count: total, shown: format.count(total) })}</p>}
      </Answered>
    </Confirm>
  );
}
