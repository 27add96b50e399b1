/** Form that adds a client or edits all fields of an existing one. */
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
import { useGuard } from '../../api/use-guard.ts';
import { ChangedElsewhere, isSame, pairsOf } from '../../ui/overlays/changed-elsewhere.tsx';
import type { Client, ClientDraft } from './client-words.ts';

interface ClientFormProps {
  /** The client to edit; null to add a new one. */
  readonly client: Client | null;
  readonly onClose: () => void;
}

const FIELDS = ['name', 'ip_address', 'mac_address', 'client_key'] as const;

/**
 * Current values in the form of a draft. Weir updates the address of a client with a MAC address or key, so a changed
 * address does not count as a change by another user.
 */
function shownOf(now: Client, begun: ClientDraft): ClientDraft {
  const draft = draftOf(now);
  const isKnownOtherwise = draft.mac_address !== '' || draft.client_key !== '';
  return isKnownOtherwise ? { ...draft, ip_address: begun.ip_address } : draft;
}

export function ClientForm({ client, onClose }: ClientFormProps): ReactNode {
  const { say } = useText();
  const [before, setBefore] = useState(() => draftOf(client));
  const { data: groups = [] } = useAsk('GET /groups', {});
  const { run, failure, isPending } = useChanges({
    done: client === null ? 'clients.created' : 'clients.changed',
    quiet: true,
    onDone: onClose,
  });
  const { fields, set, bind, bindToggle } = useFields(before, failure);
  const guard = useGuard({
    read: 'GET /clients/{id}',
    id: client?.id ?? null,
    isAsBegun: (now) => isSame(shownOf(now, before), before),
    failure,
  });
  const save = (): void => {
    const body = changedFields(before, fields);
    if (client === null) void run('POST /clients', { body });
    else if (Object.keys(body).length === 0) onClose();
    else void run('PATCH /clients/{id}', { params: { id: client.id }, body, ...guard.headers() });
  };
  const labels = [
    ...FIELDS.map((field) => say(`clients.field.${field}`)),
    say('field.group'),
    ...EXCLUSIONS.map((field) => say(`clients.field.${field}`)),
  ];
  const words = (draft: ClientDraft): string[] => [
    ...FIELDS.map((field) => draft[field].trim()),
    groups.find(({ id }) => `${id}` === draft.group_id)?.name ?? say('clients.group.auto'),
    ...EXCLUSIONS.map((field) => say(draft[field] ? 'field.yes' : 'field.no')),
  ];
  return (
    <FormDialog
      title={client === null ? say('clients.add') : say('action.editOf', { name: nameOf(client) })}
      saveText={say(client === null ? 'clients.add' : 'action.save')}
      isPending={isPending}
      onSave={save}
      onClose={onClose}
    >
      {client === null && <p>{say('clients.add.help')}</p>}
      <FormFault failure={guard.failure} fields={[...FIELDS, 'group_id']} />
      {guard.newer !== null && (
        <ChangedElsewhere
          fields={pairsOf(labels, words(fields), words(shownOf(guard.newer, before)))}
          isPending={isPending}
          onUse={() => {
            const now = draftOf(guard.newer);
            setBefore(now);
            set(now);
            guard.accept();
          }}
          onKeep={() => {
            guard.accept();
            save();
          }}
        />
      )}
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
