/** Merges another device into this one. Shows the effects before anything is changed. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SearchField } from '../../ui/controls/fields.tsx';
import { Answered, FormFault } from '../../ui/display/states.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { nameOf } from '../../ui/policy/client-name.ts';
import { EXCLUSIONS, makerOf } from './client-words.ts';
import type { Client } from './client-words.ts';
import styles from './clients.module.css';

const FOUND = 30;

interface MergeDialogProps {
  readonly client: Client;
  readonly onClose: () => void;
}

export default function MergeDialog({ client, onClose }: MergeDialogProps): ReactNode {
  const [other, setOther] = useState<Client | null>(null);
  if (other !== null) return <MergePreview client={client} other={other} onClose={onClose} />;
  return <ChooseOther client={client} onChoose={setOther} onClose={onClose} />;
}

interface ChooseOtherProps extends MergeDialogProps {
  readonly onChoose: (other: Client) => void;
}

function ChooseOther({ client, onChoose, onClose }: ChooseOtherProps): ReactNode {
  const { say, format } = useText();
  const [search, setSearch] = useState('');
  const query = { limit: FOUND, ...(search.trim() !== '' && { search: search.trim().slice(0, 255) }) };
  const clients = useAsk('GET /clients', { query });
  return (
    <Dialog title={say('clients.merge.with', { name: nameOf(client) })} isOpen onClose={onClose}>
      <p className="quiet">{say('clients.merge.help')}</p>
      <SearchField label={say('clients.search')} value={search} onChange={setSearch} />
      <Answered of={clients}>
        {({ data: rows }) => {
          const others = rows.filter(({ id }) => id !== client.id);
          if (others.length === 0) return <p>{say('clients.noneFound')}</p>;
          return (
            <ul className="rows-2">
              {others.map((one) => (
                <li key={one.id} className={styles['choice']}>
                  <span className={styles['addresses']}>
                    <bdi>{nameOf(one)}</bdi>
                    <span className="quiet">
                      {[
                        one.mac_address ?? one.ip_address,
                        makerOf(one, say),
                        one.last_seen === null
                          ? null
                          : say('clients.seenAgo', { ago: format.ago(one.last_seen) }),
                      ]
                        .filter((part) => part !== null)
                        .join(' · ')}
                    </span>
                  </span>
                  <Button onPress={() => onChoose(one)}>
                    {say('clients.merge.choose')}
                    <span className="unseen"> {nameOf(one)}</span>
                  </Button>
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </Dialog>
  );
}

interface MergePreviewProps extends MergeDialogProps {
  readonly other: Client;
}

function MergePreview({ client, other, onClose }: MergePreviewProps): ReactNode {
  const { say } = useText();
  const { data: groups = [] } = useAsk('GET /groups', {});
  const { data: grants = [] } = useAsk('GET /grants', {});
  const merge = useChange('POST /clients/{id}/merge', {
    done: 'clients.merged',
    quiet: true,
    onDone: onClose,
  });
  const groupOf = ({ group_id: wanted }: Client): string =>
    groups.find(({ id }) => id === wanted)?.name ?? '…';
  const [name, otherName] = [nameOf(client), nameOf(other)];
  const rules = grants.filter(({ client_id: id }) => id === other.id).length;
  return (
    <FormDialog
      title={say('clients.merge.with', { name })}
      saveText={say('clients.merge')}
      isPending={merge.isPending}
      onSave={() => void merge.run({ params: { id: client.id }, body: { client_ids: [other.id] } })}
      onClose={onClose}
    >
      <FormFault failure={merge.failure} />
      <ul className="rows-2">
        <li>{say('clients.merge.keeps', { name, group: groupOf(client) })}</li>
        <li>{say('clients.merge.loses', { name: otherName, group: groupOf(other) })}</li>
        {EXCLUSIONS.some((field) => client[field] !== other[field]) && (
          <li>{say('clients.merge.exclusions', { name })}</li>
        )}
        {rules > 0 && <li>{say('clients.merge.rules', { count: rules, name: otherName })}</li>}
        <li>{say('clients.merge.log', { name })}</li>
      </ul>
    </FormDialog>
  );
}
