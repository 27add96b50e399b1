/** Table that shows each row as a card on phones. It suits a few hundred rows, not the log. */
import type { ReactNode } from 'react';
import { useMe } from '../../api/session.tsx';
import styles from './data-table.module.css';

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Whether values are numbers, which are aligned to the end. */
  readonly isNumber?: boolean;
  /**
   * Whether the column contains the row's name, which screen readers read with each cell, and which is the first line
   * of the card.
   */
  readonly isName?: boolean;
  /** Whether the column has buttons. The title of such a column is only for screen readers. */
  readonly isActions?: boolean;
  /** Whether only administrators see the column. */
  readonly isForAdmins?: boolean;
  /** Whether the cards on a phone show the value without the title of the column. */
  readonly isPlain?: boolean;
  /** Whether the value is omitted on phones and tablets, because the details of the row show it. */
  readonly isMinor?: boolean;
}

interface DataTableProps<Row> {
  /** Label of the table, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** Shown instead of an empty table. */
  readonly empty?: ReactNode;
}

function lookOf({ isNumber, isMinor }: Pick<Column<never>, 'isNumber' | 'isMinor'>): string {
  return `${isNumber === true ? styles['number'] : ''} ${isMinor === true ? styles['minor'] : ''}`;
}

export function DataTable<Row>({ label, columns: all, rows, keyOf, empty }: DataTableProps<Row>): ReactNode {
  const { isAdmin } = useMe();
  const columns = all.filter(({ isForAdmins }) => isAdmin || isForAdmins !== true);
  if (rows.length === 0 && empty !== undefined) return empty;
  return (
    <div className={styles['frame']}>
      <table className={styles['table']}>
        <caption className="unseen">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={lookOf(column)}>
                <span className={column.isActions === true ? 'unseen' : undefined}>{column.title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <Cell key={column.id} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }): ReactNode {
  const { title, cell, isName, isActions, isPlain } = column;
  if (isName === true)
    return (
      <th scope="row" className={styles['name']}>
        {cell(row)}
      </th>
    );
  if (isActions === true) return <td className={styles['actions']}>{cell(row)}</td>;
  return (
    <td className={lookOf(column)}>
      {isPlain !== true && (
        <span className={styles['term']} aria-hidden>
          {title}
        </span>
      )}
      {cell(row)}
    </td>
  );
}
