/** A new client, or the whole of one that is there. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { CheckboxField, SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { changedFields, draftOf, EXCLUSIONS } from './client-words.ts';
import { nameOf } from '../../ui/policy/client-name.ts';
import { useChanges } from '../../api/use-change.ts';
import { useFields } from '../../api/use-fields.ts';
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
  const { data: groups = [] } = useAsk('GET /groups', {});
  const { run, failure, isPending } = useChanges({
    done: client === null ? 'clients.created' : 'clients.changed',
    quiet: true,
    onDone: onClose,
  });
  const { fields, bind, bindToggle } = useFields(before, failure);
  const save = (): void => {
    const body = changedFields(before, fields);
    if (client === null) void run('POST /clients', { body });
    else if (Object.keys(body).length === 0) onClose();
    else void run('PATCH /clients/{id}', { params: { id: client.id }, body });
  };
  return (
    <FormDialog
      title={client === null ? say('clients.add') : say('action.editOf', { name: nameOf(client) })}
      saveText={say(client === null ? 'clients.add' : 'action.save')}
      isPending={isPending}
      onSave={save}
      onClose={onClose}
    >
      {client === null && <p>{say('clients.add.help')}</p>}
      <FormFault failure={failure} fields={[...FIELDS, 'group_id']} />
      {FIELDS.map((field) => (
        <TextField
          key={field}
          label={say(`clients.field.${field}`)}
          help={say(`clients.field.${field}.help`)}
          {...bind(field)}
          isCode={field !== 'name'}
          autoComplete="off"
          autoFocus={field === 'name'}
        />
      ))}
      <SelectField
        label={say('field.group')}
        {...bind('group_id')}
        choices={[
          { id: '', text: say('clients.group.auto') },
          ...groups.map(({ id, name }) => ({ id: `${id}`, text: name })),
        ]}
      />
      {EXCLUSIONS.map((field) => (
        <CheckboxField key={field} {...bindToggle(field)}>
          {say(`clients.field.${field}`)}
        </CheckboxField>
      ))}
    </FormDialog>
  );
}
