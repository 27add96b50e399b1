/** Chart of all and blocked queries over time, with a sentence and a table that contain the same information. */
import { lazy, Suspense, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { summaryOf } from './timeline-summary.ts';
import type { TimelineBucket } from './timeline-summary.ts';
import type { Layer } from './bar-plot.tsx';
import styles from './timeline-chart.module.css';

/** Loaded after the page, so that the chart library is not part of the first view. */
const Plot = lazy(() => import('./bar-plot.tsx'));

interface TimelineChartProps {
  readonly buckets: readonly TimelineBucket[];
  readonly granularity: 'minute' | '15min' | 'hour' | 'day';
}

export function TimelineChart({ buckets, granularity }: TimelineChartProps): ReactNode {
  const { say, format } = useText();
  const [asTable, setAsTable] = useState(false);
  const { total, blocked, busiest } = summaryOf(buckets);
  const { timestamps, layers } = useMemo(() => drawingOf(buckets), [buckets]);
  const when = (at: string): string =>
    granularity === 'day' ? format.day(at) : `${format.day(at)}, ${format.shortTime(at)}`;
  const summary =
    busiest === null
      ? say('timeline.empty')
      : say('timeline.summary', {
          total: format.count(total),
          blocked: format.count(blocked),
          busiest: when(busiest.timestamp),
          most: format.count(busiest.total),
        });
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['caption']}>
        <span>{summary}</span>
        <Button kind="quiet" onPress={() => setAsTable(!asTable)}>
          {say(asTable ? 'timeline.asChart' : 'timeline.asTable')}
        </Button>
      </figcaption>
      {asTable ? (
        <TimelineTable buckets={buckets} when={when} />
      ) : (
        <div className={styles['plot']} aria-hidden>
          <Suspense fallback={null}>
            <Plot timestamps={timestamps} layers={layers} />
          </Suspense>
        </div>
      )}
      {!asTable && <Legend />}
    </figure>
  );
}

/** Layers of the chart: blocked queries are drawn in front of all queries. */
function drawingOf(buckets: readonly TimelineBucket[]): { timestamps: string[]; layers: Layer[] } {
  return {
    timestamps: buckets.map(({ timestamp }) => timestamp),
    layers: [
      { counts: buckets.map(({ total }) => total), fill: 'allowed-ground', edge: 'allowed' },
      { counts: buckets.map(({ blocked }) => blocked), fill: 'blocked', edge: 'blocked' },
    ],
  };
}

function Legend(): ReactNode {
  const { say } = useText();
  return (
    <ul className={styles['legend']} aria-hidden>
      <li className={styles['total']}>{say('timeline.total')}</li>
      <li className={styles['blocked']}>{say('field.blocked')}</li>
    </ul>
  );
}

interface TimelineTableProps {
  readonly buckets: readonly TimelineBucket[];
  readonly when: (moment: string) => string;
}

function TimelineTable({ buckets, when }: TimelineTableProps): ReactNode {
  const { say, format } = useText();
  return (
    <div className={styles['tableFrame']} tabIndex={0} role="region" aria-label={say('timeline.table')}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{say('timeline.start')}</th>
            <th scope="col">{say('timeline.total')}</th>
            <th scope="col">{say('field.blocked')}</th>
          </tr>
        </thead>
        <tbody>
          {buckets.map(({ timestamp, total, blocked }) => (
            <tr key={timestamp}>
              <th scope="row">{when(timestamp)}</th>
              <td>{format.count(total)}</td>
              <td>{format.count(blocked)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
