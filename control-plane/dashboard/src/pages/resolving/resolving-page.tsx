/** Page of upstream servers and their state, DNSSEC, and the cache. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card, Page } from '../../ui/display/page.tsx';
import { Answered, Callout } from '../../ui/display/states.tsx';
import { CacheCard } from './cache-card.tsx';
import { PoolCard } from './pool-card.tsx';
import { PoolDialog } from './pool-dialog.tsx';
import { countServers, countsText, poolsOf } from './pools.ts';
import type { Pool } from './pools.ts';
import { Link } from 'wouter';
import { useChange } from '../../api/use-change.ts';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { DomainName, Moment } from '../../ui/display/values.tsx';
import styles from './resolving-page.module.css';

const STATES_MS = 10_000;

export default function ResolvingPage(): ReactNode {
  const { say } = useText();
  const servers = useAsk('GET /upstream/health/detail', {}, { everyMs: STATES_MS });
  const config = useAsk('GET /config', {});
  const [edited, setEdited] = useState<number | null>(null);
  const pools = (config.data?.dns['pools'] ?? []) as readonly Pool[];
  return (
    <Page
      title={say('page.resolving')}
      lead={say('resolving.lead')}
      actions={
        <ForAdmins>
          <Button kind="main" icon={Plus} onPress={() => setEdited(pools.length)} isDisabled={!config.data}>
            {say('resolving.pool.add')}
          </Button>
        </ForAdmins>
      }
    >
      <Answered of={servers} lines={6}>
        {(states) => {
          const { tone, text, filling } = countsText(countServers(states));
          return (
            <>
              <Callout tone={tone}>{say(text, filling)}</Callout>
              {poolsOf(states).map((pool) => {
                const place = pool.kind === 'pool' ? pools.findIndex(({ name }) => name === pool.name) : -1;
                return (
                  <PoolCard
                    key={`${pool.kind} ${pool.name}`}
                    pool={pool}
                    onEdit={place === -1 ? null : () => setEdited(place)}
                  />
                );
              })}
            </>
          );
        }}
      </Answered>
      <DnssecCard isOn={config.data?.dns['dnssec_enabled'] === true} />
      <CacheCard maxBytes={Number(config.data?.cache['max_bytes'] ?? 0)} />
      {edited !== null && <PoolDialog pools={pools} place={edited} onClose={() => setEdited(null)} />}
    </Page>
  );
}

const FEW = 5;

/** DNSSEC switch, and recent queries with bogus answers. */
function DnssecCard({ isOn }: { readonly isOn: boolean }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const change = useChange('PATCH /config', { done: 'action.saved' });
  return (
    <Card title={say('resolving.dnssec')}>
      <SwitchField
        isSelected={isOn}
        isDisabled={!isAdmin || change.isPending}
        onChange={(isWanted) => void change.run({ query: {}, body: { dns: { dnssec_enabled: isWanted } } })}
      >
        {say('resolving.dnssec.switch')}
      </SwitchField>
      {isOn ? <BogusNames /> : <p className={styles['strategy']}>{say('resolving.dnssec.off')}</p>}
    </Card>
  );
}

function BogusNames(): ReactNode {
  const { say, format } = useText();
  const query = { dnssec: 'bogus', period: '24h', limit: FEW } as const;
  const bogus = useAsk('GET /queries', { query });
  return (
    <Answered of={bogus} lines={1}>
      {({ data, total }) =>
        data.length === 0 ? (
          <p>{say('resolving.dnssec.allGood')}</p>
        ) : (
          <>
            <ul className="rows-1">
              {data.map(({ id, domain, timestamp }) => (
                <li key={id}>
                  <DomainName name={domain} /> · <Moment at={timestamp} />
                </li>
              ))}
            </ul>
            <Link to="/queries?dnssec=bogus">
              {say('resolving.dnssec.failed', { count: format.count(total) })}
            </Link>
          </>
        )
      }
    </Answered>
  );
}
