/** Adds a list or changes one: with what it would block, before it does. */
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { fieldProblem } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { GroupsField } from '../../ui/policy/groups.tsx';
import { SimulationView } from '../../ui/policy/simulation-view.tsx';
import { useSimulation } from '../../ui/policy/use-simulation.ts';
import { outcomeOfAdding } from './added-list.ts';
import { knownListsFor } from './known-lists.ts';
import { bodyOfList, bodyOfRules, fieldsOfList } from './list-form.ts';
import type { ListFields } from './list-form.ts';
import { operationsOf } from './list-rows.ts';
import type { Source } from './list-rows.ts';

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
  const [fields, setFields] = useState(() => fieldsOfList(source));
  const set = (changed: Partial<ListFields>): void => setFields({ ...fields, ...changed });
  const create = useChange(operations.create, {
    outcome: (added) => outcomeOfAdding(kind, added),
    onDone: onClose,
    quiet: true,
  });
  const change = useChange(operations.change, { done: 'lists.changed', onDone: onClose, quiet: true });
  const failure = source === null ? create.failure : change.failure;
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
        <ListInputs fields={fields} set={set} failure={failure} isCustom={isCustom} />
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

interface ListInputsProps {
  readonly fields: ListFields;
  readonly set: (changed: Partial<ListFields>) => void;
  readonly failure: Error | null;
  /** Without an address. */
  readonly isCustom: boolean;
}

function ListInputs({ fields, set, failure, isCustom }: ListInputsProps): ReactNode {
  const { say } = useText();
  return (
    <>
      {!isCustom && (
        <TextField
          label={say('field.address')}
          help={say('lists.url.help')}
          value={fields.url}
          onChange={(url) => set({ url })}
          error={fieldProblem(failure, 'url')}
          inputMode="url"
          isCode
        />
      )}
      <TextField
        label={say('field.name')}
        help={isCustom ? undefined : say('lists.name.help')}
        value={fields.name}
        onChange={(name) => set({ name })}
        error={fieldProblem(failure, 'name')}
      />
      <GroupsField
        label={say('field.for')}
        value={fields.groupIds}
        onChange={(groupIds) => set({ groupIds })}
        error={fields.groupIds?.length === 0 ? say('groups.chooseOne') : fieldProblem(failure, 'group_ids')}
      />
      <CheckboxField isSelected={fields.subdomains} onChange={(subdomains) => set({ subdomains })}>
        {say('lists.subdomains')}
      </CheckboxField>
      <TextField
        label={say('field.comment')}
        value={fields.comment}
        onChange={(comment) => set({ comment })}
        error={fieldProblem(failure, 'comment')}
      />
    </>
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
