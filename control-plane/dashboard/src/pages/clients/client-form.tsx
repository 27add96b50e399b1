/** A new client, or the whole of one that is there. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fieldProblem } from '../../api/problem-text.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { changedFields, draftOf, nameOf } from './client-words.ts';
import type { Client } from './client-words.ts';

interface ClientFormProps {
  /** Null = a new one. */
  readonly client: Client | null;
  readonly onClose: () => void;
}

const FIELDS = ['name', 'ip_address', 'mac_address', 'client_key'] as const;

/** The form in a window. */
export function ClientForm({ client, onClose }: ClientFormProps): ReactNode {
  const { say } = useText();
  const [before] = useState(() => draftOf(client));
  const [draft, setDraft] = useState(before);
  const { data: groups = [] } = useAsk('GET /groups', {});
  const create = useChange('POST /clients', { done: 'clients.created', quiet: true });
  const update = useChange('PATCH /clients/{id}', { done: 'clients.changed', quiet: true });
  const failure = create.failure ?? update.failure;

  async function save(): Promise<void> {
    const fields = changedFields(before, draft);
    const isDone =
      client === null
        ? await create.run({ body: fields })
        : Object.keys(fields).length === 0 || (await update.run({ params: { id: client.id }, body: fields }));
    if (isDone) onClose();
  }

  return (
    <FormDialog
      title={client === null ? say('clients.add') : say('action.editOf', { name: nameOf(client) })}
      saveText={say(client === null ? 'clients.add' : 'action.save')}
      isPending={create.isPending || update.isPending}
      onSave={() => void save()}
      onClose={onClose}
    >
      {client === null && <p>{say('clients.add.help')}</p>}
      <FormFault failure={failure} fields={[...FIELDS, 'group_id']} />
      {FIELDS.map((field) => (
        <TextField
          key={field}
          label={say(`clients.field.${field}`)}
          help={say(`clients.field.${field}.help`)}
          error={fieldProblem(failure, field)}
          value={draft[field]}
          onChange={(text) => setDraft((now) => ({ ...now, [field]: text }))}
          isCode={field !== 'name'}
          autoComplete="off"
          autoFocus={field === 'name'}
        />
      ))}
      <SelectField
        label={say('field.group')}
        error={fieldProblem(failure, 'group_id')}
        value={draft.group_id}
        onChange={(chosen) => setDraft((now) => ({ ...now, group_id: chosen }))}
        choices={[
          { id: '', text: say('clients.group.auto') },
          ...groups.map(({ id, name }) => ({ id: `${id}`, text: name })),
        ]}
      />
    </FormDialog>
  );
}
