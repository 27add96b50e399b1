/** Chart of counts over time, divided into stacked parts, with a legend and a table of the same data. */
import { lazy, Suspense, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { stackedLayers } from './stacked-layers.ts';
import type { Part } from './stacked-layers.ts';
import styles from './timeline-chart.module.css';

const Plot = lazy(() => import('./bar-plot.tsx'));

/** A part with its name. */
export interface NamedPart extends Part {
  readonly key: string;
  readonly name: ReactNode;
}

interface StackedChartProps {
  readonly timestamps: readonly string[];
  /** Parts of each bar, from the bottom to the top. */
  readonly parts: readonly NamedPart[];
  /** Description of the chart. */
  readonly caption: string;
  /** Name of the table. */
  readonly tableName: string;
  readonly when: (moment: string) => string;
}

/** The chart; a button shows its table. */
export function StackedChart({ timestamps, parts, caption, tableName, when }: StackedChartProps): ReactNode {
  const { say } = useText();
  const [asTable, setAsTable] = useState(false);
  const layers = useMemo(() => stackedLayers(parts), [parts]);
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['caption']}>
        <span>{caption}</span>
        <Button kind="quiet" onPress={() => setAsTable(!asTable)}>
          {say(asTable ? 'timeline.asChart' : 'timeline.asTable')}
        </Button>
      </figcaption>
      {asTable ? (
        <PartsTable timestamps={timestamps} parts={parts} name={tableName} when={when} />
      ) : (
        <div className={styles['plot']} aria-hidden>
          <Suspense fallback={null}>
            <Plot timestamps={timestamps} layers={layers} />
          </Suspense>
        </div>
      )}
      <ul className={styles['legend']}>
        {parts.map(({ key, name, colour }) => (
          <li key={key} data-colour={colour}>
            {name}
          </li>
        ))}
      </ul>
    </figure>
  );
}

interface PartsTableProps extends Pick<StackedChartProps, 'timestamps' | 'parts' | 'when'> {
  readonly name: string;
}

function PartsTable({ timestamps, parts, name: tableName, when }: PartsTableProps): ReactNode {
  const { say, format } = useText();
  return (
    <div className={styles['tableFrame']} tabIndex={0} role="region" aria-label={tableName}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{say('timeline.start')}</th>
            {parts.map(({ key, name }) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {timestamps.map((timestamp, bar) => (
            <tr key={timestamp}>
              <th scope="row">{when(timestamp)}</th>
              {parts.map(({ key, counts }) => (
                <td key={key}>{format.count(counts[bar] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
