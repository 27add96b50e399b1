/** Names for the devices that have none, in one window. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { notify } from '../../api/notices.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { TextField } from '../../ui/controls/fields.tsx';
import { nameOf } from '../../ui/policy/client-name.ts';
import type { Client } from './client-words.ts';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';

interface NameThemProps {
  readonly clients: readonly Client[];
  readonly onClose: () => void;
}

const MOST = 20;

/** A field for each device; those that stay empty keep their address as name. */
export function NameThem({ clients, onClose }: NameThemProps): ReactNode {
  const { say, format } = useText();
  const [shown] = useState(() => clients.slice(0, MOST));
  const [names, setNames] = useState<Readonly<Record<number, string>>>({});
  const [isSaving, setSaving] = useState(false);
  const change = useChange('PATCH /clients/{id}', { quiet: true });

  async function save(): Promise<void> {
    setSaving(true);
    let named = 0;
    for (const { id } of shown) {
      const name = names[id]?.trim() ?? '';
      if (name === '') continue;
      if (!(await change.run({ params: { id }, body: { name } }))) {
        setSaving(false);
        return;
      }
      setNames((before) => ({ ...before, [id]: '' }));
      named++;
    }
    setSaving(false);
    if (named > 0) notify({ tone: 'good', text: say('clients.named', { count: named }) });
    onClose();
  }

  return (
    <FormDialog
      title={say('clients.nameThem')}
      isPending={isSaving}
      onSave={() => void save()}
      onClose={onClose}
    >
      <p className="quiet">{say('clients.nameThem.help')}</p>
      <FormFault failure={change.failure} fields={[]} />
      {shown.map((client) => (
        <TextField
          key={client.id}
          label={nameOf(client)}
          help={[
            client.mac_address,
            client.last_seen === null ? null : say('clients.seenAgo', { ago: format.ago(client.last_seen) }),
            say('clients.queriesEver', { count: client.query_count }),
          ]
            .filter((part) => part !== null)
            .join(' · ')}
          value={names[client.id] ?? ''}
          onChange={(name) => setNames((before) => ({ ...before, [client.id]: name }))}
          autoComplete="off"
        />
      ))}
    </FormDialog>
  );
}
