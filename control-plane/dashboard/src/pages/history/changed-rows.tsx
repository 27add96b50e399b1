/**
 * Describes changed rows: the object, the kind of change, and each value before and after; a raw view shows all
 * columns.
 */
import { Pencil, Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Disclosure } from '../../ui/display/disclosure.tsx';
import { Badge } from '../../ui/display/values.tsx';
import { fieldsOf, kindOf, nameOf, namesWith } from './row-changes.ts';
import type { FieldChange, Names, RowChange } from './row-changes.ts';
import { fieldWord, valueWord } from './row-words.ts';
import { wordFor } from '../../i18n/say.ts';
import styles from './history-page.module.css';

const KINDS = {
  created: { icon: Plus, tone: 'good', text: 'history.kind.created' },
  changed: { icon: Pencil, tone: 'plain', text: 'history.kind.changed' },
  deleted: { icon: Trash2, tone: 'warning', text: 'history.kind.deleted' },
} as const;

interface ChangedRowsProps {
  readonly changes: readonly RowChange[];
  /** Number of changed rows that the server's response omits. */
  readonly leftOut: number;
}

export function ChangedRows({ changes, leftOut }: ChangedRowsProps): ReactNode {
  const { say } = useText();
  const names = namesWith(useNames(), changes);
  return (
    <>
      <ul className="rows-3">
        {changes.map((change) => (
          <ChangedRow key={`${change.table} ${change.key}`} change={change} names={names} />
        ))}
      </ul>
      {leftOut > 0 && <p className={styles['quiet']}>{say('history.leftOut', { count: leftOut })}</p>}
      {changes.length > 0 && (
        <Disclosure title={say('history.raw')}>
          <pre className={styles['raw']} tabIndex={0}>
            {JSON.stringify(changes, null, 2)}
          </pre>
        </Disclosure>
      )}
    </>
  );
}

function useNames(): Names {
  const groups = useAsk('GET /groups', {}).data ?? [];
  const blocklists = useAsk('GET /blocklist-sources', {}).data ?? [];
  const allowlists = useAsk('GET /allowlist-sources', {}).data ?? [];
  const schedules = useAsk('GET /schedule-profiles', {}).data ?? [];
  const byId = (rows: readonly { id: number; name: string }[]): ReadonlyMap<number, string> =>
    new Map(rows.map(({ id, name }) => [id, name]));
  return { groups: byId(groups), lists: byId([...blocklists, ...allowlists]), schedules: byId(schedules) };
}

function ChangedRow({ change, names }: { readonly change: RowChange; readonly names: Names }): ReactNode {
  const { say } = useText();
  const kind = kindOf(change);
  const { icon, tone, text } = KINDS[kind];
  const fields = fieldsOf(change);
  return (
    <li className={styles['row']}>
      <p className={styles['rowTitle']}>
        {change.table !== '' && (
          <>
            <span className={styles['quiet']}>{wordFor('history.table', change.table)}</span>{' '}
            <bdi className={styles['rowName']}>{nameOf(change, names)}</bdi>
          </>
        )}
        <Badge tone={tone} icon={icon}>
          {say(text)}
        </Badge>
      </p>
      {fields.length > 0 && (
        <dl className={styles['fields']}>
          {fields.map((field) => (
            <div key={field.field}>
              <dt>{fieldWord(field.field)}</dt>
              <dd>
                <BeforeAfter table={change.table} field={field} names={names} isChange={kind === 'changed'} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

interface BeforeAfterProps {
  readonly table: string;
  readonly field: FieldChange;
  readonly names: Names;
  readonly isChange: boolean;
}

function BeforeAfter({
  table,
  field: { field, before, after },
  names,
  isChange,
}: BeforeAfterProps): ReactNode {
  const { say } = useText();
  if ((field === 'content_key' || field === 'held_key') && isChange) return say('history.word.otherContent');
  const word = (value: unknown): ReactNode => <bdi>{valueWord({ table, field, value }, names, say)}</bdi>;
  if (!isChange) return word(after ?? before);
  return (
    <>
      <del>{word(before)}</del> <span aria-hidden>→</span> <ins>{word(after)}</ins>
    </>
  );
}
