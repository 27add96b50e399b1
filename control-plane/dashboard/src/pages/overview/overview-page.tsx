/** Overview: problems of the server, statistics and recently blocked queries. */
import { Inbox } from 'lucide-react';
import { lazy, Suspense, useEffect } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useNodeStatus } from '../../api/live/live-status.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { loadAllMessages, withAllMessages } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { TimelineChart } from '../../ui/charts/timeline-chart.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { BarList } from '../../ui/display/bar-list.tsx';
import type { BarRow } from '../../ui/display/bar-list.tsx';
import { Card, Cards, Page } from '../../ui/display/page.tsx';
import { Answered, Callout, Empty, Skeleton } from '../../ui/display/states.tsx';
import { WhenNear } from '../../ui/charts/when-near.tsx';
import { isGrant } from '../../ui/grants/is-grant.ts';
import { afterPaint } from '../../ui/screen/after-paint.ts';
import { TroubleList } from '../../ui/troubles/trouble-list.tsx';
import { UpdateNotice } from '../../ui/troubles/update-notice.tsx';
import { useTroubles } from '../../ui/troubles/use-troubles.ts';
import { Badge, DomainName, Figure, Figures, Moment } from '../../ui/display/values.tsx';
import { choosableNodes, FIRST_PERIOD, figuresOf, logPathOf, ofNode } from './overview-questions.ts';
import styles from './overview-page.module.css';

const PERIODS = ['1h', '24h', '7d', '30d'] as const;
const DEFAULTS = { period: FIRST_PERIOD, node: '' };
const FIGURES_MS = 20_000;
const STATES_MS = 90_000;
/** With this many devices or fewer, the router probably does not announce Weir. */
const FEW_DEVICES = 2;

const OverviewCharts = lazy(() => import('./overview-charts.tsx'));
const NodeChoice = lazy(() => withAllMessages(() => import('./node-choice.tsx')));

export default function OverviewPage(): ReactNode {
  const { say } = useText();
  const [{ period, node }, setFields] = useUrlState(DEFAULTS);
  const figures = useAsk('GET /dashboard', figuresOf(period, node), { everyMs: FIGURES_MS });
  const nodes = choosableNodes(useAsk('GET /nodes', {}).data ?? [], node);
  const isStatusKnown = useIsStatusKnown();
  return (
    <Page
      title={say('page.overview')}
      actions={
        <>
          {nodes.length > 0 && (
            <Suspense fallback={null}>
              <NodeChoice names={nodes} value={node} onChange={(chosen) => setFields({ node: chosen })} />
            </Suspense>
          )}
          <Segments
            label={say('field.period')}
            value={period}
            choices={PERIODS.map((id) => ({ id, text: say(`period.${id}`) }))}
            onChange={(chosen) => setFields({ period: chosen })}
          />
        </>
      }
    >
      {isStatusKnown ? (
        <>
          <CurrentStatus />
          <UpdateNotice />
          <Answered of={figures} lines={8}>
            {(dashboard) => <Happenings dashboard={dashboard} period={period} node={node} />}
          </Answered>
        </>
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

/** Whether all parts above the statistics have loaded or failed, so that these parts no longer shift the layout. */
function useIsStatusKnown(): boolean {
  const { health, blocking } = useNodeStatus();
  const answers = [
    health,
    blocking,
    useAsk('GET /blocklist-sources', {}),
    useAsk('GET /clients/refused', {}),
    useAsk('GET /system/reachability', {}),
  ];
  return answers.every(({ isPending, failureCount }) => !isPending || failureCount > 0);
}

function CurrentStatus(): ReactNode {
  const { say } = useText();
  const { health, blocking, isLost } = useNodeStatus();
  const troubles = useTroubles();
  if (troubles === null) return <Answered of={health}>{() => null}</Answered>;
  if (troubles.length > 0) return <TroubleList troubles={troubles} />;
  // Shows no success message while the connection is lost or blocking is disabled.
  if (isLost || blocking.data?.enabled !== true) return null;
  return <Callout tone="good">{say('health.good')}</Callout>;
}

/** Number of new devices with a link to them; `fallback` if there are none. */
function NewDevices({ fallback }: { readonly fallback: string }): ReactNode {
  const { say } = useText();
  const { data } = useAsk('GET /clients', { query: { is_new: true, limit: 1 } }, { everyMs: STATES_MS });
  if (data === undefined || data.total === 0) return fallback;
  return <Link to="/clients?seen=new">{say('overview.newDevices', { count: data.total })}</Link>;
}

type Dashboard = AnswerOf<'GET /dashboard'>;

interface HappeningsProps {
  readonly dashboard: Dashboard;
  readonly period: string;
  /** Name of the selected node; empty for all nodes. */
  readonly node: string;
}

function Happenings({ dashboard, period, node }: HappeningsProps): ReactNode {
  const { say, format } = useText();
  // The rate and the number of cache entries apply to the node that serves the page, not to the selected node.
  const ofAll = (text: string): string | undefined => (node === '' ? text : undefined);
  const { stats, rate, timeline } = dashboard;
  // The user will probably open another page. That page loads the messages again if this fails.
  useEffect(() => afterPaint(() => void loadAllMessages().catch(() => undefined)), []);
  // Without queries, the page shows no share and no time, because 0 would look like a measurement.
  const hasQueries = stats.queries_total > 0;
  const { top_blocked: topBlocked, top_domains: topDomains, top_clients: topClients } = dashboard;
  return (
    <>
      {node === '' && stats.clients <= FEW_DEVICES && (
        <Callout
          tone="info"
          actions={
            <Link to="/guides" className="button-link">
              {say('guides.title')}
            </Link>
          }
        >
          {say('overview.fewDevices', { count: stats.clients })}
        </Callout>
      )}
      <Figures>
        <Figure
          label={say('field.queries')}
          value={format.briefCount(stats.queries_total)}
          detail={ofAll(say('overview.rate', { rate: format.briefCount(rate.queries) }))}
        />
        <Figure
          label={say('field.blocked')}
          value={format.briefCount(stats.queries_blocked)}
          detail={hasQueries && format.percent(stats.block_rate)}
        />
        <Figure
          label={say('page.clients')}
          value={format.count(stats.clients)}
          detail={
            <NewDevices
              fallback={say('overview.names', { count: format.briefCount(stats.unique_domains) })}
            />
          }
        />
        <Figure
          label={say('overview.answerTime')}
          value={hasQueries ? format.duration(stats.p50_query_time_ms * 1_000) : '–'}
          detail={
            hasQueries && say('overview.p99', { time: format.duration(stats.p99_query_time_ms * 1_000) })
          }
        />
        <Figure
          label={say('overview.cache')}
          value={hasQueries ? format.percent(stats.cache_hit_rate) : '–'}
          detail={ofAll(say('overview.entries', { count: format.briefCount(dashboard.cache.total_entries) }))}
        />
      </Figures>
      {stats.log_cleared.length > 0 && <Cleared periods={stats.log_cleared} />}
      <Card title={say('overview.timeline')}>
        <TimelineChart buckets={timeline.buckets} granularity={timeline.granularity} />
      </Card>
      <Cards>
        <TopCard title={say('overview.topBlocked')} rows={namesOf(topBlocked, period, node)} tone="blocked" />
        <TopCard title={say('overview.topNames')} rows={namesOf(topDomains, period, node)} />
        <TopCard
          title={say('overview.topClients')}
          rows={topClients.map(({ ip_address: address, hostname, client_id: id, count }) => ({
            key: `${address} ${id}`,
            name: (
              <OpenLink to={logPathOf({ client: address, period }, node)}>
                <bdi title={address}>{hostname ?? address}</bdi>
              </OpenLink>
            ),
            count,
          }))}
        />
        <RecentlyBlocked node={node} />
      </Cards>
      <WhenNear>
        <Suspense fallback={<Skeleton lines={8} />}>
          <OverviewCharts period={period} node={node} types={stats.queries_by_type} />
        </Suspense>
      </WhenNear>
    </>
  );
}

/** Warning that the figures no longer match the log, parts of which were cleared. */
function Cleared({ periods }: { readonly periods: Dashboard['stats']['log_cleared'] }): ReactNode {
  const { say, format } = useText();
  const from = format.moment(periods[0]!.from);
  return (
    <p className="quiet">{say('overview.logCleared', { from, to: format.moment(periods.at(-1)!.to) })}</p>
  );
}

/** Bars for the most frequent names, with links to their queries in the log. */
function namesOf(top: Dashboard['top_domains'], period: string, node: string): BarRow[] {
  return top.map(({ domain, count }) => ({
    key: domain,
    name: (
      <OpenLink to={logPathOf({ domain, period }, node)}>
        <DomainName name={domain} />
      </OpenLink>
    ),
    count,
  }));
}

interface TopCardProps {
  readonly title: string;
  readonly rows: readonly BarRow[];
  readonly tone?: 'allowed' | 'blocked';
}

function TopCard({ title, rows, tone = 'allowed' }: TopCardProps): ReactNode {
  const { say } = useText();
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <Empty icon={Inbox} title={say('overview.nothing')} />
      ) : (
        <BarList rows={rows} tone={tone} />
      )}
    </Card>
  );
}

function RecentlyBlocked({ node }: Pick<HappeningsProps, 'node'>): ReactNode {
  const { say } = useText();
  const fields = { status: 'BLOCKED', period: '24h' } as const;
  const query = { ...fields, limit: 8, ...ofNode(node) };
  const blocked = useAsk('GET /queries', { query }, { everyMs: STATES_MS });
  return (
    <Card
      title={say('overview.recent')}
      actions={<OpenLink to={logPathOf(fields, node)}>{say('overview.recent.all')}</OpenLink>}
    >
      <Answered of={blocked}>
        {({ data: items }) =>
          items.length === 0 ? (
            <Empty icon={Inbox} title={say('overview.nothing')} />
          ) : (
            <ul className={styles['recent']}>
              {items.map((row) => (
                <li key={row.id}>
                  <OpenLink to={`/queries?open=${row.id}`}>
                    <DomainName name={row.domain} />
                  </OpenLink>
                  <span className={styles['recentDetail']}>
                    <bdi>{row.client_hostname ?? row.client}</bdi>
                    <Moment at={row.timestamp} />
                    <Badge tone="blocked">
                      {isGrant(row.block_source)
                        ? say('queries.origin.grant')
                        : (row.block_source ?? say('groups.rules.isBlocked'))}
                    </Badge>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Card>
  );
}
