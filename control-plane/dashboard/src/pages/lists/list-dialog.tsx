/** Adds a list or changes one: with what it would block, before it does. */
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { GroupsField } from '../../ui/policy/groups.tsx';
import { SimulationView } from '../../ui/policy/simulation-view.tsx';
import { useSimulation } from '../../ui/policy/use-simulation.ts';
import { knownListsFor } from './known-lists.ts';
import { bodyOfList, bodyOfRules, fieldsOfList } from './list-form.ts';
import { isBusy } from './list-rows.ts';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import { useFields } from '../../api/use-fields.ts';
import type { Source } from './list-rows.ts';
import { ask } from '../../api/ask.ts';
import type { Notice } from '../../api/notices.ts';
import { messageText } from '../../api/problem-text.ts';
import { say } from '../../i18n/say.ts';

const FIELDS = ['name', 'url', 'comment', 'group_ids'];
const OWN = 'own';
const PERIOD = '7d';

interface ListDialogProps {
  readonly kind: SourceKind;
  /** Null = a new one. */
  readonly source: Source | null;
  /** Those that are there. */
  readonly sources: readonly Source[];
  readonly onClose: () => void;
}

/** The form; another one for each list, so that no draft is carried over. */
export function ListDialog({ kind, source, sources, onClose }: ListDialogProps): ReactNode {
  const { say } = useText();
  const operations = operationsOf(kind);
  const create = useChange(operations.create, {
    outcome: (added) => outcomeOfAdding(kind, added),
    onDone: onClose,
    quiet: true,
  });
  const change = useChange(operations.change, { done: 'lists.changed', onDone: onClose, quiet: true });
  const failure = source === null ? create.failure : change.failure;
  const { fields, set, bind, bindToggle } = useFields(() => fieldsOfList(source), failure);
  const simulation = useSimulation();
  const groupless = fields.groupIds?.length === 0;
  const isCustom = source?.has_text === true;
  const isReady = (isCustom ? fields.name : fields.url).trim() !== '' && !groupless;
  const body = bodyOfList(fields);
  const save = (enabled: boolean): void =>
    void (source === null
      ? create.run({ body: { ...body, enabled } })
      : change.run({ params: { id: source.id }, body: isCustom ? bodyOfRules(fields) : body }));
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
          <Button kind="main" onPress={() => save(true)} isDisabled={!isReady} isPending={change.isPending}>
            {say('action.save')}
          </Button>
        )
      }
    >
      <Stack>
        {source === null && (
          <KnownChoice
            kind={kind}
            urls={sources.flatMap(({ url }) => url ?? [])}
            onChoose={(name, url) => set({ name, url })}
          />
        )}
        {!isCustom && (
          <TextField
            label={say('field.address')}
            help={say('lists.url.help')}
            {...bind('url')}
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
        <FormFault failure={failure} fields={FIELDS} />
        {source === null && (
          <>
            <Button
              icon={FlaskConical}
              isDisabled={!isReady}
              isPending={simulation.state === 'running'}
              onPress={() => {
                const { name, url = '', subdomains, group_ids: groupIds } = body;
                const list = { name, url, subdomains, group_ids: groupIds ?? [], kind };
                simulation.run({ period: PERIOD, lists: { add: [list] } });
              }}
            >
              {say('lists.whatif')}
            </Button>
            <SimulationView of={simulation} period={say('period.7d')} />
          </>
        )}
      </Stack>
    </Drawer>
  );
}

interface KnownChoiceProps {
  readonly kind: SourceKind;
  readonly urls: readonly string[];
  readonly onChoose: (name: string, url: string) => void;
}

/** One of the lists that many use. */
function KnownChoice({ kind, urls, onChoose }: KnownChoiceProps): ReactNode {
  const { say } = useText();
  const [chosen, setChosen] = useState(OWN);
  const known = knownListsFor(kind, urls);
  return (
    <SelectField
      label={say('lists.known')}
      value={chosen}
      onChange={(url) => {
        setChosen(url);
        const list = known.find((one) => one.url === url);
        onChoose(list?.name ?? '', list?.url ?? '');
      }}
      choices={[
        { id: OWN, text: say('lists.known.own') },
        ...known.map(({ name, url, about }) => ({ id: url, text: `${name} · ${say(about)}` })),
      ]}
    />
  );
}

/** Longer than a fetch may take. */
const LONGEST_MS = 120_000;
const PAUSE_MS = 500;

/** The notice about a list that was just added; one that is switched off is not fetched. */
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
      // It may be deleted already, or Weir is away, which the page shows.
      return added;
    }
  }
  return source;
}
