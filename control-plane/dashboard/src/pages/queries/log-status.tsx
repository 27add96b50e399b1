/** State of the log: its size, whether it is live, missing parts, and advice if there are no rows. */
import { Inbox, SearchX } from 'lucide-react';
import { memo } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { PAGE_BASE } from '../../api/place.ts';
import { problemText } from '../../api/problem-text.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Callout, Empty } from '../../ui/display/states.tsx';
import { useLogView } from './log/use-log.ts';
import type { ShownLog } from './log/use-log.ts';
import styles from './queries-page.module.css';

interface LogStatusProps {
  readonly log: ShownLog;
  readonly isLive: boolean;
}

/** Line with figures, and callouts for problems. */
export const LogStatus = memo(function LogStatus({ log, isLive }: LogStatusProps): ReactNode {
  const { say, format } = useText();
  const { reader, tail } = log;
  const { totals, skipped, failure, damagedBlocks, isOwnNodeOnly } = useLogView(log);
  return (
    <>
      <p className={styles['standing']}>
        <span>
          {totals === null ? (
            failure === null && say('state.loading')
          ) : (
            <>
              {say('queries.total', { count: totals.rows, shown: format.count(totals.rows) })}
              {totals.queries !== totals.rows &&
                ` ${say('queries.totalQueries', { shown: format.count(totals.queries) })}`}
            </>
          )}
        </span>
        {isLive ? (
          <span className={`${styles['tail']} ${tail === 'open' ? styles['open'] : styles['away']}`}>
            {say(tail === 'off' ? 'queries.tail.off' : `queries.tail.${tail}`)}
            {skipped > 0 && ` · ${say('queries.tail.skipped', { shown: format.count(skipped) })}`}
            {isOwnNodeOnly && ` · ${say('queries.tail.own')}`}
          </span>
        ) : (
          <Button kind="quiet" onPress={() => void reader.reload()}>
            {say('queries.reload')}
          </Button>
        )}
      </p>
      {damagedBlocks > 0 && (
        <Callout tone="warning">{say('queries.damaged', { count: damagedBlocks })}</Callout>
      )}
      {failure !== null && (
        <Callout
          tone="fault"
          actions={<Button onPress={() => reader.retry()}>{say('action.retry')}</Button>}
          isAlert
        >
          {problemText(failure)}
          {totals !== null && ` ${say('state.old')}`}
        </Callout>
      )}
    </>
  );
});

interface NoRowsProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** Message for an empty log: no row matches, or there are no queries yet. */
export function NoRows({ isFiltered, onClear }: NoRowsProps): ReactNode {
  const { say } = useText();
  if (isFiltered)
    return (
      <Empty icon={SearchX} title={say('queries.none')}>
        <Button onPress={onClear}>{say('action.clearFilters')}</Button>
      </Empty>
    );
  return (
    <Empty icon={Inbox} title={say('queries.noneYet')}>
      <p className={styles['hint']}>{say('queries.pointHere')}</p>
      <Link to="/setup" className="button-link">
        {say('queries.pointHere.look')}
      </Link>
      <a href={`${PAGE_BASE}/check`}>{say('queries.check')}</a>
    </Empty>
  );
}
