/** Dialogs for one condition and for a period. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { SelectField, TextField } from '../../../ui/controls/fields.tsx';
import type { Suggestion } from '../../../ui/controls/fields.tsx';
import { Segments } from '../../../ui/controls/segments.tsx';
import { deviceText, valueText } from './condition-text.ts';
import type { Groups } from './condition-text.ts';
import { choicesOf, conditionFault, CONDITIONS, USUAL } from './log-filters.ts';
import type { Chip, ConditionName } from './log-filters.ts';
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx';
import { localMoment, utcMoment } from './moments.ts';

interface ConditionDialogProps {
  /** The condition to change; null to add one. */
  readonly chip: Chip | null;
  readonly groups: Groups;
  readonly onClose: () => void;
  readonly onSet: (condition: Omit<Chip, 'key'>) => void;
}

/** Dialog for the field, "is" or "is not", and the value. */
export function ConditionDialog({ chip, groups, onClose, onSet }: ConditionDialogProps): ReactNode {
  const { say } = useText();
  const [name, setName] = useState<ConditionName>(chip?.name ?? 'client_id');
  const [isExcluded, setExcluded] = useState(chip?.isExcluded ?? false);
  const [value, setValue] = useState(chip?.value ?? '');
  const [isFaultShown, setFaultShown] = useState(false);
  const clients = useClients(name === 'client' || name === 'client_id');
  const devices = clients.map((client) => ({ id: String(client.id), text: deviceText(client) }));
  const known = addressesOf(clients);
  const names = name === 'group_id' ? groups.map(({ id }) => String(id)) : choicesOf(name);
  const suggestions: readonly Suggestion[] =
    name === 'client' ? known : (USUAL[name] ?? []).map((text) => ({ text }));
  const choices =
    name === 'client_id' ? devices : names?.map((id) => ({ id, text: valueText(name, id, groups, say) }));
  const chosen =
    name !== 'client'
      ? value.trim()
      : (known.find(({ meaning }) => meaning === value.trim())?.text ?? value.trim());
  const fault = conditionFault(name, chosen);
  const set = (): void => {
    if (fault === null) onSet({ name, isExcluded, value: chosen });
    else setFaultShown(true);
  };
  return (
    <FormDialog
      title={say(chip === null ? 'queries.filter.new' : 'queries.filter.change')}
      saveText={say('action.apply')}
      onSave={set}
      onClose={onClose}
    >
      <SelectField
        label={say('queries.facts')}
        value={name}
        onChange={(chosenName) => {
          setName(chosenName);
          setValue('');
          setFaultShown(false);
        }}
        choices={CONDITIONS.map((id) => ({ id, text: say(`queries.condition.${id}`) }))}
      />
      <Segments
        label={say('queries.filter.how')}
        value={isExcluded ? 'not' : 'is'}
        onChange={(how) => setExcluded(how === 'not')}
        choices={[
          { id: 'is', text: say('queries.filter.is') },
          { id: 'not', text: say('queries.filter.not') },
        ]}
      />
      {choices === undefined ? (
        <TextField
          key={name}
          label={say(`queries.condition.${name}`)}
          help={name === 'client' ? say('queries.filter.clientHelp') : undefined}
          error={isFaultShown && fault !== null ? say(fault) : null}
          value={value}
          onChange={setValue}
          suggestions={suggestions}
          isCode
          autoFocus
        />
      ) : (
        <SelectField
          key={name}
          label={say(`queries.condition.${name}`)}
          error={isFaultShown && fault !== null ? say(fault) : null}
          value={value}
          onChange={setValue}
          choices={choices}
        />
      )}
    </FormDialog>
  );
}

/** Addresses of known clients, with their names. */
function addressesOf(clients: AnswerOf<'GET /clients'>['data']): readonly Suggestion[] {
  return clients.flatMap(({ ip_address: text, name, hostname }) =>
    text === null ? [] : [{ text, meaning: name ?? hostname ?? undefined }],
  );
}

/** Known clients. */
function useClients(enabled: boolean): AnswerOf<'GET /clients'>['data'] {
  return useAsk('GET /clients', { query: { limit: 200 } }, { enabled }).data?.data ?? [];
}

interface PeriodDialogProps {
  readonly from: string;
  readonly to: string;
  readonly onClose: () => void;
  readonly onSet: (from: string, to: string) => void;
}

/** Dialog for a period; either end can be empty. */
export function PeriodDialog({ from, to, onClose, onSet }: PeriodDialogProps): ReactNode {
  const { say } = useText();
  const [start, setStart] = useState(localMoment(from));
  const [end, setEnd] = useState(localMoment(to));
  const isTurned = start !== '' && end !== '' && start >= end;
  return (
    <FormDialog
      title={say('queries.period.between')}
      saveText={say('action.apply')}
      isReady={!isTurned && (start !== '' || end !== '')}
      onSave={() => onSet(utcMoment(start), utcMoment(end))}
      onClose={onClose}
    >
      <TextField
        label={say('field.from')}
        type="datetime-local"
        value={start}
        onChange={setStart}
        autoFocus
      />
      <TextField
        label={say('field.to')}
        help={say('queries.period.open')}
        error={isTurned ? say('queries.period.turned') : null}
        type="datetime-local"
        value={end}
        onChange={setEnd}
      />
    </FormDialog>
  );
}
