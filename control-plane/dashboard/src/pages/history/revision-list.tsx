/** Policy changes, newest first, each with its details and an action to undo it. */
import { EllipsisVertical, History, RotateCcw, Undo2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton, TextButton } from '../../ui/controls/button.tsx';
import { SearchField } from '../../ui/controls/fields.tsx';
import { Pager } from '../../ui/controls/pager.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Answered, Callout, Empty } from '../../ui/display/states.tsx';
import { Facts, Moment } from '../../ui/display/values.tsx';
import { Menu } from '../../ui/overlays/menu.tsx';
import type { MenuAction } from '../../ui/overlays/menu.tsx';
import type { Revision } from './undo-plan.ts';
import styles from './history-page.module.css';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { ChangedRows } from './changed-rows.tsx';
import { ChangeLine } from './changes/change-line.tsx';
import { revisionParts } from './changes/change-texts.ts';
import { useChangeTexts } from './changes/use-change-texts.ts';
import { joined } from '../../../../../shared/policy/changes/change-codes.ts';
import type { ChangeTexts } from '../../../../../shared/policy/changes/change-codes.ts';
import { rowOf } from './row-changes.ts';

const DEFAULTS = { search: '', revision: '' };
const ROWS = 50;

interface RevisionListProps {
  readonly onUndo: (id: number) => void;
  readonly onGoTo: (id: number) => void;
}

/** List with a search over descriptions and authors. */
export function RevisionList({ onUndo, onGoTo }: RevisionListProps): ReactNode {
  const { say } = useText();
  const texts = useChangeTexts();
  const [{ search, revision }, setFields] = useUrlState(DEFAULTS);
  const [offset, setOffset] = useState(0);
  const revisions = useAsk('GET /revisions', {});
  return (
    <Card>
      <SearchField
        label={say('history.search')}
        value={search}
        onChange={(text) => {
          setOffset(0);
          setFields({ search: text }, { replace: true });
        }}
      />
      <Answered of={revisions} lines={8}>
        {(all) => {
          const found = all.filter((row) => isFound(row, search, texts));
          if (found.length === 0)
            return (
              <Empty icon={History} title={say(all.length === 0 ? 'history.none' : 'history.notFound')}>
                {all.length === 0 && <p>{say('history.none.help')}</p>}
              </Empty>
            );
          return (
            <>
              <RevisionTable
                rows={found.slice(offset, offset + ROWS)}
                newest={all.find(({ is_own: isOwn }) => !isOwn)?.id ?? 0}
                onOpen={(id) => setFields({ revision: String(id) })}
                onUndo={onUndo}
                onGoTo={onGoTo}
              />
              <Pager total={found.length} limit={ROWS} offset={offset} onMove={setOffset} />
            </>
          );
        }}
      </Answered>
      <RevisionDrawer
        revision={revision}
        onClose={() => setFields({ revision: '' })}
        onUndo={(id) => {
          setFields({ revision: '' }, { replace: true });
          onUndo(id);
        }}
      />
    </Card>
  );
}

function isFound(revision: Revision, search: string, texts: ChangeTexts): boolean {
  const wanted = search.trim().toLowerCase();
  return `${revision.id} ${revision.author} ${joined(revisionParts(revision, texts))}`
    .toLowerCase()
    .includes(wanted);
}

interface RevisionTableProps extends RevisionListProps {
  readonly rows: readonly Revision[];
  /** Id of the newest change by a user. */
  readonly newest: number;
  readonly onOpen: (id: number) => void;
}

function RevisionTable({ rows, newest, onOpen, onUndo, onGoTo }: RevisionTableProps): ReactNode {
  const { say } = useText();
  const texts = useChangeTexts();
  const labelOf = (row: Revision): string =>
    say('history.actionsOf', { summary: joined(revisionParts(row, texts)) });
  const actionsOf = ({ id, is_own: isOwn, can_rollback: canGoTo }: Revision): MenuAction[] => [
    ...(isOwn ? [] : [{ id: 'undo', text: say('undo.action'), icon: Undo2, run: () => onUndo(id) }]),
    {
      id: 'to',
      text: say(id >= newest ? 'history.isNow' : canGoTo ? 'history.goTo' : 'history.tooOld'),
      icon: RotateCcw,
      isDisabled: id >= newest || !canGoTo,
      run: () => onGoTo(id),
    },
  ];
  return (
    <DataTable
      label={say('history.view.changes')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          id: 'summary',
          title: say('field.change'),
          isName: true,
          cell: (row) => (
            <TextButton onPress={() => onOpen(row.id)}>
              <span className={styles['summary']}>
                <ChangeLine parts={revisionParts(row, texts)} />
              </span>
            </TextButton>
          ),
        },
        {
          id: 'by',
          title: say('history.by'),
          cell: ({ author, created_at: at }) => (
            <span className={styles['by']}>
              <bdi>{author}</bdi> <Moment at={at} />
            </span>
          ),
        },
        {
          id: 'actions',
          title: say('field.actions'),
          isActions: true,
          isForAdmins: true,
          cell: (row) => (
            <Menu
              label={labelOf(row)}
              button={<IconButton icon={EllipsisVertical} label={labelOf(row)} />}
              actions={actionsOf(row)}
            />
          ),
        },
      ]}
    />
  );
}

interface RevisionDrawerProps {
  /** Id of the open revision as in the page's URL; empty if none is open. */
  readonly revision: string;
  readonly onClose: () => void;
  readonly onUndo: (id: number) => void;
}

/** Drawer of a policy change: its author and address, its effects, and a button to undo it. */
function RevisionDrawer({ revision, onClose, onUndo }: RevisionDrawerProps): ReactNode {
  const { say } = useText();
  const texts = useChangeTexts();
  const { isAdmin } = useMe();
  const isOpen = /^\d{1,9}$/.test(revision);
  const detail = useAsk('GET /revisions/{id}', { params: { id: revision } }, { enabled: isOpen });
  // While a new response is loading, `useAsk` returns the previous one, which belongs to another revision.
  const shown = detail.isPlaceholderData ? { ...detail, data: undefined } : detail;
  return (
    <Drawer
      title={say('history.revisionTitle', { id: revision })}
      isOpen={isOpen}
      onClose={onClose}
      actions={
        shown.data?.is_own === false && (
          <ForAdmins>
            <Button icon={Undo2} onPress={() => onUndo(Number(revision))}>
              {say('undo.action')}
            </Button>
          </ForAdmins>
        )
      }
    >
      <Answered of={shown} lines={6}>
        {({ summary, codes, author, ip_address: address, created_at: at, changes, left_out: leftOut }) => (
          <>
            <Facts
              facts={[
                [
                  say('field.change'),
                  <ChangeLine key="summary" parts={revisionParts({ codes, summary }, texts)} />,
                ],
                [say('field.who'), <bdi key="author">{author}</bdi>],
                // The server hides the address from viewers.
                ...(isAdmin
                  ? [
                      [
                        say('history.address'),
                        <bdi key="address">{address ?? say('history.address.none')}</bdi>,
                      ] as const,
                    ]
                  : []),
                [say('history.at'), <Moment key="at" at={at} />],
              ]}
            />
            {changes === null ? (
              <Callout tone="info">{say('history.forgotten')}</Callout>
            ) : (
              <ChangedRows
                leftOut={leftOut}
                changes={changes.map(({ table, key, before, after }) => ({
                  table,
                  key,
                  before: rowOf(before),
                  after: rowOf(after),
                }))}
              />
            )}
          </>
        )}
      </Answered>
    </Drawer>
  );
}
