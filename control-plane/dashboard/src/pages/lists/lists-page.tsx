/** Page of lists: their state and how much they block. */
import { ListChecks, RefreshCw, TextCursorInput } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField } from '../../ui/controls/fields.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { Bar, Card, Page } from '../../ui/display/page.tsx';
import { Progress } from '../../ui/display/progress.tsx';
import { Answered, Callout, Empty } from '../../ui/display/states.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { AddRulesDrawer, RulesDrawer } from './custom-rules.tsx';
import { ListDialog } from './list-dialog.tsx';
import { ListDrawer } from './list-drawer.tsx';
import { isBusy, LIST_STATES, listRows, SORTS } from './list-rows.ts';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import type { Source } from './list-rows.ts';
import { afterPaint } from '../../ui/screen/after-paint.ts';
import { AddButton } from '../../ui/controls/add-button.tsx';
import { Filters } from '../../ui/display/filters.tsx';
import { ListTable } from './list-table.tsx';

const DEFAULTS = { kind: 'block', search: '', state: '', sort: 'name', open: '', add: '', name: '' };
/** Values of `add` in the URL; any other value is the address of the list to add. */
const ADD = { list: 'list', rules: 'rules' } as const;
const CALM_MS = 60_000;
const BUSY_MS = 1_500;
const KINDS = ['block', 'allow'] as const;

export default function ListsPage(): ReactNode {
  const { say } = useText();
  const [{ kind: chosenKind, add, name }, setFields] = useUrlState(DEFAULTS);
  const kind: SourceKind = chosenKind === 'allow' ? 'allow' : 'block';
  const operations = operationsOf(kind);
  const everyMs = (last: readonly Source[] = []): number => (isBusy(last) ? BUSY_MS : CALM_MS);
  const sources = useAsk(operations.list, {}, { everyMs });
  const busy = isBusy(sources.data ?? []);
  const setAdding = (wanted: string): void => setFields({ add: wanted, name: '' }, { replace: true });
  const [written, setWritten] = useState<Source | null>(null);
  const refresh = useChange(operations.refreshAll, { done: 'lists.refreshingAll' });
  return (
    <Page
      title={say('page.lists')}
      lead={say('lists.lead')}
      actions={
        <ForAdmins>
          <Button icon={RefreshCw} isPending={refresh.isPending || busy} onPress={() => void refresh.run({})}>
            {say('lists.refreshAll')}
          </Button>
          <Button icon={TextCursorInput} onPress={() => setAdding(ADD.rules)}>
            {say('lists.custom.add')}
          </Button>
          <AddButton text={say('lists.add')} onPress={() => setAdding(ADD.list)} />
        </ForAdmins>
      }
    >
      <Bar>
        <Segments
          label={say('field.kind')}
          value={kind}
          onChange={(chosen) => setFields({ ...DEFAULTS, kind: chosen })}
          choices={KINDS.map((id) => ({ id, text: say(`lists.kind.${id}`) }))}
        />
      </Bar>
      <Answered of={sources} lines={6}>
        {(all) => (
          <Lists
            key={kind}
            kind={kind}
            sources={all}
            onAdd={() => setAdding(ADD.list)}
            onAddRules={() => setAdding(ADD.rules)}
            onWrite={setWritten}
          />
        )}
      </Answered>
      <ForAdmins>
        {add !== '' && add !== ADD.rules && sources.data !== undefined && (
          <ListDialog
            kind={kind}
            source={null}
            sources={sources.data}
            {...(add !== ADD.list && { known: { url: add, name } })}
            onClose={() => setAdding('')}
            onWrite={() => setAdding(ADD.rules)}
          />
        )}
        {add === ADD.rules && (
          <AddRulesDrawer
            kind={kind}
            onClose={() => setAdding('')}
            onAdded={(source) => {
              setAdding('');
              setWritten(source);
            }}
          />
        )}
      </ForAdmins>
      {written !== null && (
        <RulesDrawer key={written.id} kind={kind} source={written} onClose={() => setWritten(null)} />
      )}
    </Page>
  );
}

interface ListsProps {
  readonly kind: SourceKind;
  readonly sources: readonly Source[];
  readonly onAdd: () => void;
  readonly onAddRules: () => void;
  /** Opens the editor for custom rules. */
  readonly onWrite: (source: Source) => void;
}

function Lists({ kind, sources, onAdd, onAddRules, onWrite }: ListsProps): ReactNode {
  const { say } = useText();
  const [{ open, search, state, sort }, setFields] = useUrlState(DEFAULTS);
  const [edited, setEdited] = useState<Source | null>(null);
  const [deleted, setDeleted] = useState<Source | null>(null);
  const operations = operationsOf(kind);
  const { data: stats } = useAsk(operations.stats, { query: { period: '7d' } }, { everyMs: CALM_MS });
  const remove = useChange(operations.remove, {
    done: 'lists.deleted',
    onDone: () => {
      setDeleted(null);
      setFields({ open: '' });
    },
  });
  const rows = listRows(sources, stats, { search, state, sort });
  const opened = listRows(sources, stats, { search: '', state: '', sort: '' }).find(
    ({ id }) => `${id}` === open,
  );
  if (sources.length === 0)
    return (
      <Card>
        <Empty icon={ListChecks} title={say(`lists.empty.${kind}`)}>
          <p>{say(`lists.empty.${kind}Text`)}</p>
          <AddButton text={say('lists.add')} onPress={onAdd} />
          <ForAdmins>
            <Button icon={TextCursorInput} onPress={onAddRules}>
              {say('lists.custom.add')}
            </Button>
          </ForAdmins>
        </Empty>
      </Card>
    );
  const updating = sources.filter(({ status }) => status === 'updating').length;
  const held = sources.filter(({ status }) => status === 'held');
  return (
    <>
      {updating > 0 && (
        <Progress done={sources.length - updating} of={sources.length}>
          {say('lists.updating', { count: updating })}
        </Progress>
      )}
      {held.map(({ id, name }) => (
        <Callout
          key={id}
          tone="warning"
          actions={<Button onPress={() => setFields({ open: `${id}` })}>{say('action.look')}</Button>}
        >
          {say('lists.held.of', { name })}
        </Callout>
      ))}
      <Card>
        <Filters
          label={say('lists.search')}
          search={search}
          onSearch={(text) => setFields({ search: text }, { replace: true })}
        >
          <SelectField
            label={say('field.state')}
            isLabelHidden
            value={state}
            onChange={(chosen) => setFields({ state: chosen })}
            choices={[
              { id: '', text: say('lists.state.any') },
              ...Object.entries(LIST_STATES).map(([id, { text }]) => ({ id, text: say(text) })),
            ]}
          />
          <SelectField
            label={say('lists.sort')}
            isLabelHidden
            value={sort}
            onChange={(chosen) => setFields({ sort: chosen })}
            choices={SORTS.map((id) => ({ id, text: say(`lists.sort.${id}`) }))}
          />
        </Filters>
        {rows.length === 0 ? (
          <Empty icon={ListChecks} title={say('lists.none')}>
            <Button onPress={() => setFields({ search: '', state: '' })}>{say('action.clearFilter')}</Button>
          </Empty>
        ) : (
          <ListTable
            kind={kind}
            rows={rows}
            onOpen={({ id }) => afterPaint(() => setFields({ open: `${id}` }))}
            onEdit={setEdited}
            onDelete={setDeleted}
            onWrite={onWrite}
          />
        )}
      </Card>
      {opened !== undefined && (
        <ListDrawer
          key={`view ${opened.id}`}
          kind={kind}
          row={opened}
          onClose={() => setFields({ open: '' })}
          onEdit={() => setEdited(opened)}
          onDelete={() => setDeleted(opened)}
          onWrite={() => {
            setFields({ open: '' });
            onWrite(opened);
          }}
        />
      )}
      {edited !== null && (
        <ListDialog
          key={`edit ${edited.id}`}
          kind={kind}
          source={edited}
          sources={sources}
          onClose={() => setEdited(null)}
        />
      )}
      {deleted !== null && (
        <Confirm
          title={say('action.deleteOf', { name: deleted.name })}
          isPending={remove.isPending}
          onClose={() => setDeleted(null)}
          onConfirm={() => void remove.run({ params: { id: deleted.id } })}
        >
          <p>{say('lists.deleteText', { rules: deleted.rules })}</p>
        </Confirm>
      )}
    </>
  );
}
