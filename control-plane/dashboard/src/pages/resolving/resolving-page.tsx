/** Fast and genuine? Upstream servers and how they do, DNSSEC, and the cache with a way to empty it. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Page } from '../../ui/display/page.tsx';
import { Answered, Callout } from '../../ui/display/states.tsx';
import { CacheCard } from './cache-card.tsx';
import { DnssecCard } from './dnssec-card.tsx';
import { PoolCard } from './pool-card.tsx';
import { PoolDialog } from './pool-dialog.tsx';
import { poolsOf, standingOf, standingText } from './pools.ts';
import type { Pool } from './pools.ts';

const STATES_MS = 10_000;

/** The page. */
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
          const { tone, text, filling } = standingText(standingOf(states));
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
