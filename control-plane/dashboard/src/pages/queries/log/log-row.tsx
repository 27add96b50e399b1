/**
 * A row of the log: columns on a large screen, a card with two lines on a phone. Uses plain elements because many rows
 * are rendered often.
 */
import { memo } from 'react';
import type { ReactNode } from 'react';
import type { Formats } from '../../../i18n/formats.ts';
import type { Say } from '../../../i18n/say.ts';
import { shownName } from '../../../i18n/shown-name.ts';
import { isGrant } from '../../../ui/grants/is-grant.ts';
import { grantText } from '../../../ui/grants/logged-grant.ts';
import type { LogRow } from './log-rows.ts';
import { lookOf } from './status-look.ts';
import styles from './log-window.module.css';

interface LogRowViewProps {
  readonly row: LogRow;
  /** Index of the row; 0 is the newest. */
  readonly index: number;
  /** Whether the Tab key focuses this row. */
  readonly isCurrent: boolean;
  readonly say: Say;
  readonly format: Formats;
}

/** Elements with `data-filter` contain a value to filter by. */
export const LogRowView = memo(function LogRowView(props: LogRowViewProps): ReactNode {
  const { row, index, isCurrent, say, format } = props;
  const { icon: Icon, tone } = lookOf(row.status);
  const status = say(`queries.status.${row.status}`);
  const client = row.client_hostname ?? row.client;
  const time = format.time(row.timestamp);
  const isToday = new Date(row.timestamp).toDateString() === new Date().toDateString();
  const { unicode } = shownName(row.domain);
  const reason = reasonOf(row, say);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-label={say('queries.row.label', { name: row.domain, type: row.type, client, status, time })}
      tabIndex={isCurrent ? 0 : -1}
      data-index={index}
      className={styles['row']}
    >
      <div role="gridcell" className={styles['time']}>
        <time dateTime={row.timestamp} title={format.moment(row.timestamp)}>
          {time}
        </time>
        {!isToday && <span className={styles['day']}>{format.day(row.timestamp)}</span>}
      </div>
      <div role="gridcell" className={styles['client']}>
        <bdi data-filter="client" className={styles['value']} title={client}>
          {client}
        </bdi>
        {row.client_hostname !== null && <bdi className={styles['second']}>{row.client}</bdi>}
      </div>
      <div role="gridcell" className={styles['name']}>
        <bdi data-filter="domain" className={styles['value']} title={row.domain}>
          {row.domain}
          {unicode !== null && <span className={styles['quiet']}> ({unicode})</span>}
        </bdi>
        {reason !== null && (
          <bdi className={styles['second']} title={reason}>
            {reason}
          </bdi>
        )}
      </div>
      <div role="gridcell" className={styles['type']}>
        <span data-filter="type" className={styles['value']}>
          {row.type}
        </span>
      </div>
      <div role="gridcell" className={styles['status']}>
        <span data-filter="status" className={`${styles['state']} ${styles[tone]}`}>
          <Icon size={14} aria-hidden />
          {status}
        </span>
        {row.repeats > 0 && (
          <span className={styles['second']}>
            {say('queries.row.repeats', { count: row.repeats, shown: format.count(row.repeats) })}
          </span>
        )}
      </div>
      <div role="gridcell" className={styles['answer']}>
        <span>{format.duration(row.response_time_us)}</span>
        <Source row={row} say={say} />
      </div>
      <div role="gridcell" className={styles['dnssec']}>
        {row.dnssec_status !== 'unchecked' && (
          <span
            data-filter="dnssec"
            className={`${styles['value']} ${styles[`is_${row.dnssec_status}`] ?? ''}`}
          >
            {say(`queries.dnssec.${row.dnssec_status}`)}
          </span>
        )}
      </div>
    </div>
  );
});

function Source({ row, say }: { readonly row: LogRow; readonly say: Say }): ReactNode {
  if (row.cached) return <span className={styles['second']}>{say('queries.row.cached')}</span>;
  if (row.upstream === null) return null;
  return (
    <bdi data-filter="upstream" className={styles['second']} title={row.upstream}>
      {row.upstream.replace(/^\w+:\/\//, '')}
    </bdi>
  );
}

/** Rule or list that blocked the query; if there is none, the response code unless it is NOERROR. */
function reasonOf(row: LogRow, say: Say): string | null {
  if (row.block_source === null && row.block_rule === null) return row.rcode === 'NOERROR' ? null : row.rcode;
  if (isGrant(row.block_source) && row.block_rule !== null)
    return `${say('queries.origin.grant')} · ${grantText(row.block_rule, say)}`;
  return [row.block_source, row.block_rule === row.domain ? null : row.block_rule, row.block_alias]
    .filter((part) => part !== null)
    .join(' · ');
}
