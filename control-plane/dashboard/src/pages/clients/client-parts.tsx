/** Merges other clients of the same device into this client, and separates merged clients again. */
import { Merge } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { makerOf } from './client-words.ts';
import type { Client } from './client-words.ts';
import styles from './clients.module.css';

const MergeDialog = lazy(() => import('./merge-dialog.tsx'));

/** Button that opens the dialog. */
export function MergeButton({ client }: { readonly client: Client }): ReactNode {
  const { say } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <ForAdmins>
      <Button icon={Merge} onPress={() => setOpen(true)}>
        {say('clients.merge')}
      </Button>
      {isOpen && (
        <Suspense>
          <MergeDialog client={client} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </ForAdmins>
  );
}

/** Clients that were merged into this one. */
export function ClientParts({ client }: { readonly client: Client }): ReactNode {
  const { say, format } = useText();
  const split = useChange('POST /clients/{id}/split', { done: 'clients.splitOff' });
  if (client.merged.length === 0) return null;
  return (
    <section className={styles['section']}>
      <h3>{say('clients.parts')}</h3>
      <ul className="rows-2">
        {client.merged.map((part) => {
          const name = part.mac_address ?? part.ip_address ?? part.client_key ?? '';
          const details = [
            part.hostname,
            makerOf(part, say),
            part.last_seen === null
              ? say('clients.neverSeen')
              : say('clients.seenAgo', { ago: format.ago(part.last_seen) }),
          ];
          return (
            <li key={part.id} className={styles['choice']}>
              <span className={styles['addresses']}>
                <bdi>{name}</bdi>
                <span className="quiet">{details.filter((detail) => detail !== null).join(' · ')}</span>
              </span>
              <ForAdmins>
                <Button
                  isPending={split.isPending}
                  onPress={() => void split.run({ params: { id: part.id } })}
                >
                  {say('clients.split')}
                  <span className="unseen"> {name}</span>
                </Button>
              </ForAdmins>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
