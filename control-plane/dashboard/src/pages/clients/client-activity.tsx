/** What one client asked lately. */
import type { ReactNode } from 'react';
import { useState } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { TimelineChart } from '../../ui/charts/timeline-chart.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { BarList } from '../../ui/display/bar-list.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { DomainName } from '../../ui/display/values.tsx';
import styles from './clients.module.css';

const PERIODS = ['1h', '24h', '7d'] as const;
const ROWS = 8;

/** Its queries by time, and its most asked and most blocked names. */
export function ClientActivity({ address }: { readonly address: string }): ReactNode {
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
        <Answered of={blocked}>{(rows) => <Names rows={rows} tone="blocked" />}</Answered>
      </section>
      <section className={styles['section']}>
        <h3>{say('overview.topNames')}</h3>
        <Answered of={asked}>{(rows) => <Names rows={rows} tone="allowed" />}</Answered>
      </section>
    </>
  );
}

interface NamesProps {
  readonly rows: readonly { readonly domain: string; readonly count: number }[];
  readonly tone: 'allowed' | 'blocked';
}

function Names({ rows, tone }: NamesProps): ReactNode {
  const { say } = useText();
  if (rows.length === 0) return <p className="quiet">{say('clients.nothing')}</p>;
  return (
    <BarList
      tone={tone}
      rows={rows.map(({ domain, count }) => ({ key: domain, name: <DomainName name={domain} />, count }))}
    />
  );
}
