/** Charts below the figures of the overview. Their code is loaded shortly before the charts scroll into view. */
import { Inbox } from 'lucide-react';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { StackedChart } from '../../ui/charts/stacked-chart.tsx';
import type { NamedPart } from '../../ui/charts/stacked-chart.tsx';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { BarList } from '../../ui/display/bar-list.tsx';
import type { BarRow } from '../../ui/display/bar-list.tsx';
import { Card, Cards } from '../../ui/display/page.tsx';
import { Answered, Empty } from '../../ui/display/states.tsx';
import type { Answer } from '../../ui/display/states.tsx';
import { activityParts, mostCommon } from './chart-rows.ts';
import { figuresOf, logPathOf, ofNode } from './overview-questions.ts';

const CHARTS_MS = 300_000;
/** Maximum number of bars in a card. */
const MAX_BARS = 10;

interface ChartsProps {
  readonly period: string;
  /** Name of the selected node; empty for all nodes. */
  readonly node: string;
  readonly types: Readonly<Record<string, number>>;
}

/** The charts. */
export default function OverviewCharts({ period, node, types }: ChartsProps): ReactNode {
  const { say } = useText();
  const which = { period, ...ofNode(node) };
  const breakdown = useAsk('GET /stats/breakdown', { query: which }, { everyMs: CHARTS_MS });
  const upstreams = useAsk('GET /upstream/health/detail', {}, { everyMs: CHARTS_MS });
  const blocked = useAsk(
    'GET /stats/top_clients',
    { query: { ...which, by: 'blocked', limit: MAX_BARS } },
    { everyMs: CHARTS_MS },
  );
  return (
    <>
      <Activity period={period} node={node} />
      <Cards>
        <BarCard
          title={say('overview.blockedClients')}
          of={blocked}
          tone="blocked"
          rowsOf={(clients) => clientRows(clients, period, node)}
        />
        <BarCard
          title={say('overview.byList')}
          of={breakdown}
          tone="blocked"
          rowsOf={(answer) => listRows(answer.blocked_by_list.slice(0, MAX_BARS))}
        />
        <BarCard
          title={say('overview.byService')}
          of={breakdown}
          tone="blocked"
          rowsOf={(answer) =>
            answer.blocked_by_service.slice(0, MAX_BARS).map(({ service, count }) => ({
              key: service,
              name: (
                <OpenLink to={logPathOf({ status: 'BLOCKED_SERVICE', block_source: service, period }, node)}>
                  <bdi>{service}</bdi>
                </OpenLink>
              ),
              count,
            }))
          }
        />
        <BarCard
          title={say('overview.upstreams')}
          of={breakdown}
          rowsOf={(answer) => upstreamRows(answer, upstreams.data ?? [], period, node)}
        />
        <BarCard
          title={say('overview.types')}
          of={{ data: types, error: null, refetch: () => undefined }}
          rowsOf={(counts) => typeRows(counts, period, node)}
        />
      </Cards>
    </>
  );
}

interface BarCardProps<Data> {
  readonly title: string;
  readonly of: Answer<Data>;
  readonly rowsOf: (data: Data) => readonly BarRow[];
  readonly tone?: 'allowed' | 'blocked';
}

function BarCard<Data>({ title, of, rowsOf, tone = 'allowed' }: BarCardProps<Data>): ReactNode {
  const { say } = useText();
  return (
    <Card title={title}>
      <Answered of={of}>
        {(data) => {
          const rows = rowsOf(data);
          return rows.length === 0 ? (
            <Empty icon={Inbox} title={say('overview.nothing')} />
          ) : (
            <BarList rows={rows} tone={tone} />
          );
        }}
      </Answered>
    </Card>
  );
}

function clientRows(clients: AnswerOf<'GET /stats/top_clients'>, period: string, node: string): BarRow[] {
  return clients.map(({ ip_address: address, hostname, client_id: id, blocked }) => ({
    key: `${address} ${id}`,
    name: (
      <OpenLink to={logPathOf({ client: address, status: 'BLOCKED', period }, node)}>
        <bdi title={address}>{hostname ?? address}</bdi>
      </OpenLink>
    ),
    count: blocked,
  }));
}

type Breakdown = AnswerOf<'GET /stats/breakdown'>;

function listRows(lists: Breakdown['blocked_by_list']): BarRow[] {
  return lists.map(({ list_id: id, name, count }) => ({
    key: `${id}`,
    name: name === null ? <DeletedList id={id} /> : <OpenLink to={`/lists?open=${id}`}>{name}</OpenLink>,
    count,
  }));
}

function DeletedList({ id }: { readonly id: number }): ReactNode {
  const { say } = useText();
  return say('overview.byList.deleted', { id: String(id) });
}

function upstreamRows(
  { upstreams, queries_forwarded: forwarded }: Breakdown,
  known: AnswerOf<'GET /upstream/health/detail'>,
  period: string,
  node: string,
): BarRow[] {
  return upstreams.slice(0, MAX_BARS).map(({ upstream, count, avg_time_ms: average }) => {
    const median = known.find(({ address }) => address === upstream)?.latency_ms?.p50 ?? null;
    return {
      key: upstream,
      // The log that the link opens excludes cached answers, which also have a server's name, but did not wait for the
      // server.
      name: (
        <OpenLink
          to={logPathOf({ upstream, 'status!': 'CACHED', period }, node)}
          detail={<UpstreamTimes share={(count / forwarded) * 100} averageMs={average} medianMs={median} />}
        >
          <bdi>{upstream}</bdi>
        </OpenLink>
      ),
      count,
    };
  });
}

interface UpstreamTimesProps {
  /** Share of this server in all forwarded queries, percent. */
  readonly share: number;
  readonly averageMs: number;
  /** Median of the server's last response times on this node; null = unknown. */
  readonly medianMs: number | null;
}

function UpstreamTimes({ share, averageMs, medianMs }: UpstreamTimesProps): ReactNode {
  const { say, format } = useText();
  const average = format.duration(averageMs * 1_000);
  const parts = [format.percent(share), say('overview.upstreams.average', { time: average })];
  if (medianMs !== null)
    parts.push(say('overview.upstreams.median', { time: format.duration(medianMs * 1_000) }));
  return parts.join(' · ');
}

function typeRows(types: Readonly<Record<string, number>>, period: string, node: string): BarRow[] {
  const { shown, others } = mostCommon(types, MAX_BARS);
  const rows = shown.map(([type, count]) => ({
    key: type,
    name: <OpenLink to={logPathOf({ type, period }, node)}>{type}</OpenLink>,
    count,
  }));
  return others === 0 ? rows : [...rows, { key: 'others', name: <OtherTypes />, count: others }];
}

function OtherTypes(): ReactNode {
  const { say } = useText();
  return say('overview.types.others');
}

function Activity({ period, node }: Pick<ChartsProps, 'period' | 'node'>): ReactNode {
  const { say } = useText();
  const activity = useAsk('GET /stats/client_timeline', figuresOf(period, node), { everyMs: CHARTS_MS });
  return (
    <Card title={say('overview.activity')}>
      <Answered of={activity} lines={8}>
        {(answer) =>
          answer.clients.length === 0 ? (
            <Empty icon={Inbox} title={say('overview.nothing')} />
          ) : (
            <ActivityChart activity={answer} period={period} node={node} />
          )
        }
      </Answered>
    </Card>
  );
}

interface ActivityChartProps extends Pick<ChartsProps, 'period' | 'node'> {
  readonly activity: AnswerOf<'GET /stats/client_timeline'>;
}

function ActivityChart({ activity, period, node }: ActivityChartProps): ReactNode {
  const { say, format } = useText();
  const { granularity, buckets } = activity;
  const parts = useMemo(
    () =>
      activityParts(activity).map(({ client, ...part }): NamedPart => ({
        ...part,
        name:
          client === null ? (
            say('overview.activity.others')
          ) : (
            <OpenLink to={logPathOf({ client: client.ip_address, period }, node)}>
              <bdi title={client.ip_address}>{client.hostname ?? client.ip_address}</bdi>
            </OpenLink>
          ),
      })),
    [activity, period, node, say],
  );
  const timestamps = useMemo(() => buckets.map(({ timestamp }) => timestamp), [buckets]);
  return (
    <StackedChart
      timestamps={timestamps}
      parts={parts}
      caption={say('overview.activity.caption')}
      tableName={say('overview.activity.table')}
      when={(at) => (granularity === 'day' ? format.day(at) : `${format.day(at)}, ${format.shortTime(at)}`)}
    />
  );
}
