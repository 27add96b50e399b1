/** Table of lists. */
import { RefreshCw, TextCursorInput } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Moment } from '../../ui/display/values.tsx';
import { GroupNames } from '../../ui/policy/groups.tsx';
import { ListBadge } from './list-badge.tsx';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import type { ListRow } from './list-rows.ts';
import { RowMenu } from '../../ui/overlays/menu.tsx';
import styles from './lists-page.module.css';

interface ListTableProps {
  readonly kind: SourceKind;
  readonly rows: readonly ListRow[];
  readonly onOpen: (row: ListRow) => void;
  readonly onEdit: (row: ListRow) => void;
  readonly onDelete: (row: ListRow) => void;
  readonly onWrite: (row: ListRow) => void;
}

export function ListTable(props: ListTableProps): ReactNode {
  const { kind, rows, onOpen } = props;
  const { say, format } = useText();
  const columns: readonly Column<ListRow>[] = [
    {
      id: 'name',
      title: say('field.name'),
      isName: true,
      cell: (row) => (
        <button type="button" className={styles['opener']} onClick={() => onOpen(row)}>
          <bdi>{row.name}</bdi>
        </button>
      ),
    },
    { id: 'state', title: say('field.state'), cell: (row) => <ListBadge source={row} /> },
    { id: 'rules', title: say('page.rules'), isNumber: true, cell: ({ rules }) => format.count(rules) },
    {
      id: 'unique',
      title: say('lists.unique'),
      isNumber: true,
      cell: ({ worth }) => (worth === null ? '–' : format.count(worth.unique_rules)),
    },
    ...(kind === 'block'
      ? [
          {
            id: 'hits',
            title: say('lists.hits7d'),
            isNumber: true,
            cell: ({ worth }: ListRow) => (worth === null ? '–' : format.count(worth.hits ?? 0)),
          },
        ]
      : []),
    {
      id: 'changed',
      title: say('field.changedAt'),
      isMinor: true,
      cell: ({ last_changed_at: at }) => (at === null ? say('word.never') : <Moment at={at} />),
    },
    {
      id: 'groups',
      title: say('field.for'),
      isMinor: true,
      cell: ({ group_ids: ids }) => <GroupNames ids={ids} />,
    },
    {
      id: 'actions',
      title: say('field.actions'),
      isActions: true,
      isForAdmins: true,
      cell: (row) => <Actions {...props} row={row} />,
    },
  ];
  return <DataTable label={say(`lists.kind.${kind}`)} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

function Actions({
  kind,
  row,
  onOpen,
  onEdit,
  onDelete,
  onWrite,
}: ListTableProps & { readonly row: ListRow }): ReactNode {
  const { say } = useText();
  const operations = operationsOf(kind);
  const turn = useChange(operations.change, { done: row.enabled ? 'lists.off' : 'lists.on' });
  const refresh = useChange(operations.refresh, { done: 'lists.refreshing' });
  const params = { id: row.id };
  return (
    <RowMenu
      name={row.name}
      more={[
        { id: 'open', text: say('action.details'), run: () => onOpen(row) },
        row.has_text
          ? { id: 'write', text: say('lists.custom.write'), icon: TextCursorInput, run: () => onWrite(row) }
          : {
              id: 'refresh',
              text: say('lists.refresh'),
              icon: RefreshCw,
              isDisabled: row.status === 'updating',
              run: () => void refresh.run({ params }),
            },
      ]}
      onEdit={() => onEdit(row)}
      onDelete={() => onDelete(row)}
    >
      <SwitchField
        aria-label={say('field.isOnOf', { name: row.name })}
        isSelected={row.enabled}
        isDisabled={turn.isPending}
        onChange={(enabled) => void turn.run({ params, body: { enabled } })}
      >
        {null}
      </SwitchField>
    </RowMenu>
  );
}
