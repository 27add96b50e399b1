/** Drawer of a list: its state, statistics, invalid lines and actions. */
import { FlaskConical, Pencil, RefreshCw, TextCursorInput, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { ForAdmins } from '../../api/session.tsx';
import { messageText } from '../../api/faults/message-text.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Callout, Answered } from '../../ui/display/states.tsx';
import { Facts, Moment } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { Menu } from '../../ui/overlays/menu.tsx';
import { GroupNames, useGroups } from '../../ui/policy/groups.tsx';
import { SimulationView } from '../../ui/policy/simulation-view.tsx';
import { useSimulation } from '../../ui/policy/use-simulation.ts';
import { HeldUpdate } from './held-update.tsx';
import { ListBadge } from './list-badge.tsx';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import type { ListRow } from './list-rows.ts';
import styles from './lists-page.module.css';
import { UnusedLines } from './unused-lines.tsx';

/** Maximum number of names in a warning. */
const MAX_SHOWN_NAMES = 5;

interface ListDrawerProps {
  readonly kind: SourceKind;
  readonly row: ListRow;
  readonly onClose: () => void;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
  /** Opens the editor for custom rules. */
  readonly onWrite: () => void;
}

export function ListDrawer({ kind, row, onClose, onEdit, onDelete, onWrite }: ListDrawerProps): ReactNode {
  const { say } = useText();
  const operations = operationsOf(kind);
  const refresh = useChange(operations.refresh, { done: 'lists.refreshing' });
  return (
    <Drawer
      title={<bdi>{row.name}</bdi>}
      isOpen
      onClose={onClose}
      actions={
        <ForAdmins>
          <Button kind="danger" icon={Trash2} onPress={onDelete}>
            {say('action.delete')}
          </Button>
          <Button icon={Pencil} onPress={onEdit}>
            {say('action.edit')}
          </Button>
          {row.has_text ? (
            <Button kind="main" icon={TextCursorInput} onPress={onWrite}>
              {say('lists.custom.write')}
            </Button>
          ) : (
            <Button
              icon={RefreshCw}
              isPending={refresh.isPending || row.status === 'updating'}
              onPress={() => void refresh.run({ params: { id: row.id } })}
            >
              {say('lists.refresh')}
            </Button>
          )}
        </ForAdmins>
      }
    >
      {row.last_error !== null && row.status === 'error' && (
        <Callout tone="fault">{messageText(row.last_error)}</Callout>
      )}
      <HeldUpdate kind={kind} source={row} />
      <SafeSearchWarning names={row.worth?.safe_search_exceptions ?? []} />
      <ForAdmins>
        <ListWhatIf kind={kind} row={row} />
      </ForAdmins>
      <ListFacts row={row} />
      {row.invalid_lines > 0 && <BadLines kind={kind} row={row} />}
    </Drawer>
  );
}

/** Names for which an exception of the list disables safe search. */
function SafeSearchWarning({ names }: { readonly names: readonly string[] }): ReactNode {
  const { say } = useText();
  if (names.length === 0) return null;
  const shown = names.slice(0, MAX_SHOWN_NAMES).join(', ');
  return <Callout tone="warning">{say('lists.safeSearch', { count: names.length, names: shown })}</Callout>;
}

function ListFacts({ row }: { readonly row: ListRow }): ReactNode {
  const { say, format } = useText();
  const { worth } = row;
  const unknown = '–';
  const moment = (at: string | null): ReactNode => (at === null ? say('word.never') : <Moment at={at} />);
  return (
    <Facts
      facts={[
        [say('field.state'), <ListBadge key="state" source={row} />],
        [say('field.address'), row.url === null ? say('lists.custom') : <bdi key="url">{row.url}</bdi>],
        ...(row.file_node === null ? [] : ([[say('lists.fileNode'), row.file_node]] as const)),
        [say('page.rules'), format.count(row.rules)],
        [
          say('lists.unique'),
          worth === null
            ? unknown
            : say('lists.share', {
                count: worth.unique_rules,
                share: format.percent(worth.rules === 0 ? 0 : (100 * worth.unique_rules) / worth.rules),
              }),
        ],
        ...(worth?.hits === null
          ? []
          : ([
              [say('lists.hits7d'), worth === null ? unknown : format.count(worth.hits)],
              [say('lists.soleHits'), worth === null ? unknown : format.count(worth.sole_hits ?? 0)],
            ] as const)),
        [say('field.for'), <GroupNames key="groups" ids={row.group_ids} />],
        [say('field.changedAt'), moment(row.last_changed_at)],
        [say('lists.checkedAt'), moment(row.last_checked_at)],
        [say('lists.size'), format.bytes(row.bytes)],
        [say('lists.format'), row.format ?? unknown],
        [say('lists.names'), say(row.subdomains ? 'lists.names.below' : 'lists.names.exact')],
        [say('lists.badLines'), format.count(row.invalid_lines)],
        ...(row.comment === '' ? [] : ([[say('field.comment'), row.comment]] as const)),
      ]}
    />
  );
}

/** Preview of the effects of enabling or disabling the list. */
function ListWhatIf({ kind, row }: Pick<ListDrawerProps, 'kind' | 'row'>): ReactNode {
  const { say } = useText();
  const simulation = useSimulation();
  const groups = useGroups();
  const change = useChange(operationsOf(kind).change, { done: row.enabled ? 'lists.off' : 'lists.on' });
  const turn = (body: { enabled: boolean; group_ids?: number[] }): void =>
    void change.run({ params: { id: row.id }, body }).then(simulation.cancel);
  const hasCopy = row.bytes > 0 || row.rules > 0;
  const draft = row.enabled
    ? { add: [], drop: [row.id] }
    : {
        add: [
          hasCopy || row.url === null
            ? { source_id: row.id }
            : { url: row.url, name: row.name, kind, subdomains: row.subdomains, group_ids: row.group_ids },
        ],
        drop: [],
      };
  return (
    <section className={styles['part']}>
      <div className={styles['buttons']}>
        <Button
          icon={FlaskConical}
          isPending={simulation.state === 'running'}
          onPress={() => simulation.run({ period: '7d', lists: draft })}
        >
          {say(row.enabled ? 'lists.whatif.off' : 'lists.whatif.on')}
        </Button>
        {row.enabled ? (
          <Button isPending={change.isPending} onPress={() => turn({ enabled: false })}>
            {say('lists.turnOff')}
          </Button>
        ) : (
          <Menu
            label={say('action.enable')}
            button={
              <Button kind="main" isPending={change.isPending}>
                {say('action.enable')}
              </Button>
            }
            actions={[
              { id: 'all', text: say('rules.everyGroup'), run: () => turn({ enabled: true, group_ids: [] }) },
              ...groups.map(({ id, name }) => ({
                id: `${id}`,
                text: say('lists.turnOn.group', { name }),
                run: () => turn({ enabled: true, group_ids: [id] }),
              })),
            ]}
          />
        )}
      </div>
      <SimulationView of={simulation} period={say('period.7d')} />
    </section>
  );
}

function BadLines({ kind, row }: Pick<ListDrawerProps, 'kind' | 'row'>): ReactNode {
  const { say } = useText();
  const lines = useAsk(operationsOf(kind).badLines, { params: { id: row.id } });
  // The lines of custom rules are marked in the editor.
  if (lines.data?.length === 0) return null;
  return (
    <section className={styles['part']}>
      <h3>{say('lists.badLines')}</h3>
      <Answered of={lines}>{(bad) => <UnusedLines label={say('lists.badLines')} lines={bad} />}</Answered>
    </section>
  );
}
