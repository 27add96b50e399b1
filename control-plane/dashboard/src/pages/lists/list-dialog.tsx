/** Adds or edits a list, with a preview of what it would block. */
import { Eye, FlaskConical, TextCursorInput } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { useChange } from '../../api/use-change.ts';
import { useQuestion } from '../../api/use-question.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, TextField } from '../../ui/controls/fields.tsx';
import { Disclosure } from '../../ui/display/disclosure.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { ChangedElsewhere, isSame, pairsOf } from '../../ui/overlays/changed-elsewhere.tsx';
import { GroupsField, useGroups } from '../../ui/policy/groups.tsx';
import { ListCatalog } from '../../ui/policy/list-catalog.tsx';
import { SimulationView } from '../../ui/policy/simulation-view.tsx';
import { useSimulation } from '../../ui/policy/use-simulation.ts';
import { bodyOfList, bodyOfRules, fieldsOfList } from './list-form.ts';
import { ListPreviewView } from './list-preview-view.tsx';
import { isBusy } from './list-rows.ts';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import { useFields } from '../../api/use-fields.ts';
import { useGuard } from '../../api/use-guard.ts';
import type { ListFields } from './list-form.ts';
import type { Source } from './list-rows.ts';
import { ask } from '../../api/ask.ts';
import type { Notice } from '../../api/notices.ts';
import { messageText } from '../../api/faults/message-text.ts';
import { say } from '../../i18n/say.ts';
import styles from './lists-page.module.css';

const FIELDS = ['name', 'url', 'comment', 'group_ids'];
const PERIOD = '7d';

interface ListDialogProps {
  readonly kind: SourceKind;
  /** The list to edit; null to add a new one. */
  readonly source: Source | null;
  /** Existing list sources. */
  readonly sources: readonly Source[];
  /** Address and name of a new list that the user chose in the catalogue. */
  readonly known?: { readonly url: string; readonly name: string };
  readonly onClose: () => void;
  /** Opens the editor for custom rules instead of adding a list. */
  readonly onWrite?: () => void;
}

/** The React key discards the draft when another list is edited. */
export function ListDialog({ kind, source, sources, known, onClose, onWrite }: ListDialogProps): ReactNode {
  const { say } = useText();
  const operations = operationsOf(kind);
  const create = useChange(operations.create, {
    outcome: (added) => outcomeOfAdding(kind, added),
    onDone: onClose,
    quiet: true,
  });
  const change = useChange(operations.change, { done: 'lists.changed', onDone: onClose, quiet: true });
  const failure = source === null ? create.failure : change.failure;
  const { fields, set, bind, bindToggle } = useFields(() => ({ ...fieldsOfList(source), ...known }), failure);
  const guard = useGuard({
    read: operations.one,
    id: source?.id ?? null,
    isAsBegun: (now) => isSame(fieldsOfList(now), fieldsOfList(source)),
    failure,
  });
  const preview = useQuestion(operations.preview);
  const simulation = useSimulation();
  const groupless = fields.groupIds?.length === 0;
  const isCustom = source?.has_text === true;
  const isReady = (isCustom ? fields.name : fields.url).trim() !== '' && !groupless;
  const body = bodyOfList(fields);
  const save = (enabled: boolean): void =>
    void (source === null
      ? create.run({ body: { ...body, enabled } })
      : change.run({
          params: { id: source.id },
          body: isCustom ? bodyOfRules(fields) : body,
          ...guard.headers(),
        }));
  return (
    <Drawer
      title={say(source !== null ? 'lists.edit' : kind === 'block' ? 'lists.add.block' : 'lists.add.allow')}
      isOpen
      onClose={onClose}
      actions={
        source === null ? (
          <>
            <Button onPress={() => save(false)} isDisabled={!isReady} isPending={create.isPending}>
              {say('lists.addOff')}
            </Button>
            <Button kind="main" onPress={() => save(true)} isDisabled={!isReady} isPending={create.isPending}>
              {say('lists.addOn')}
            </Button>
          </>
        ) : (
          <>
            <Button onPress={onClose}>{say('action.cancel')}</Button>
            <Button kind="main" onPress={() => save(true)} isDisabled={!isReady} isPending={change.isPending}>
              {say('action.save')}
            </Button>
          </>
        )
      }
    >
      <Stack>
        {source === null && (
          <>
            <Disclosure title={say('lists.known')} isOpen={known === undefined}>
              <ListCatalog
                kind={kind}
                urls={sources.flatMap((one) => one.url ?? [])}
                chosen={fields.url}
                onChoose={(list) => {
                  set({ name: list.name, url: list.url });
                  preview.cancel();
                }}
              />
            </Disclosure>
            {onWrite !== undefined && (
              <Button kind="quiet" icon={TextCursorInput} onPress={onWrite}>
                {say('lists.custom.instead')}
              </Button>
            )}
          </>
        )}
        {!isCustom && (
          <TextField
            label={say('field.address')}
            help={say('lists.url.help')}
            {...bind('url')}
            onChange={(text) => {
              set({ url: text });
              preview.cancel();
            }}
            inputMode="url"
            isCode
          />
        )}
        <TextField
          label={say('field.name')}
          help={isCustom ? undefined : say('lists.name.help')}
          {...bind('name')}
        />
        <GroupsField
          label={say('field.for')}
          {...bind('groupIds', 'group_ids')}
          {...(groupless && { error: say('groups.chooseOne') })}
        />
        <CheckboxField {...bindToggle('subdomains')}>{say('lists.subdomains')}</CheckboxField>
        <TextField label={say('field.comment')} {...bind('comment')} />
        <FormFault failure={guard.failure} fields={FIELDS} />
        {guard.newer !== null && (
          <ChangedList
            mine={fields}
            now={fieldsOfList(guard.newer)}
            isPending={change.isPending}
            onUse={(now) => {
              set(now);
              guard.accept();
            }}
            onKeep={() => {
              guard.accept();
              save(true);
            }}
          />
        )}
        {source === null && (
          <>
            <div className={styles['buttons']}>
              <Button
                icon={Eye}
                isDisabled={!isReady}
                isPending={preview.state === 'running'}
                onPress={() => preview.run({ body: { url: body.url ?? '', subdomains: fields.subdomains } })}
              >
                {say('action.preview')}
              </Button>
              <Button
                icon={FlaskConical}
                isDisabled={!isReady}
                isPending={simulation.state === 'running'}
                onPress={() => {
                  const { name, url: address = '', subdomains, group_ids: groupIds } = body;
                  const list = { name, url: address, subdomains, group_ids: groupIds ?? [], kind };
                  simulation.run({ period: PERIOD, lists: { add: [list] } });
                }}
              >
                {say('lists.whatif')}
              </Button>
            </div>
            <ListPreviewView of={preview} />
            <SimulationView of={simulation} period={say('period.7d')} />
          </>
        )}
      </Stack>
    </Drawer>
  );
}

interface ChangedListProps {
  readonly mine: ListFields;
  readonly now: ListFields;
  readonly isPending: boolean;
  readonly onUse: (now: ListFields) => void;
  readonly onKeep: () => void;
}

function ChangedList({ mine, now, isPending, onUse, onKeep }: ChangedListProps): ReactNode {
  const { say, format } = useText();
  const groups = useGroups();
  const nameOf = (id: number): string => groups.find((group) => group.id === id)?.name ?? `${id}`;
  const words = ({ url, name, groupIds, subdomains, comment }: ListFields): string[] => [
    url.trim(),
    name.trim(),
    groupIds === null ? say('groups.all') : format.list(groupIds.map(nameOf)),
    say(subdomains ? 'field.yes' : 'field.no'),
    comment.trim(),
  ];
  const labels = [say('field.address'), say('field.name'), say('field.for'), say('lists.subdomains'), say('field.comment')]; // prettier-ignore
  return (
    <ChangedElsewhere
      fields={pairsOf(labels, words(mine), words(now))}
      isPending={isPending}
      onUse={() => onUse(now)}
      onKeep={onKeep}
    />
  );
}

/** Maximum wait for the first download; longer than any download takes. */
const LONGEST_MS = 120_000;
const PAUSE_MS = 500;

/** The notice after a list was added. A disabled list is not downloaded. */
async function outcomeOfAdding(kind: SourceKind, added: Source): Promise<Notice> {
  const source = await settled(kind, added);
  const { name } = source;
  const link = { text: say('action.look'), to: `/lists?kind=${kind}&open=${source.id}` };
  if (source.status === 'held') return { tone: 'warning', text: say('lists.addedHeld', { name }), link };
  if (source.status !== 'error') return { tone: 'good', text: say('lists.added') };
  const reason = messageText(source.last_error ?? '');
  return { tone: 'fault', text: say('lists.addedFaulty', { name, reason }), link };
}

async function settled(kind: SourceKind, added: Source): Promise<Source> {
  const { one } = operationsOf(kind);
  const end = Date.now() + LONGEST_MS;
  let source = added;
  while (isBusy([source]) && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    try {
      source = await ask(one, { params: { id: added.id } });
    } catch {
      // The list was already deleted, or Weir cannot be reached; the page shows both cases.
      return added;
    }
  }
  return source;
}
