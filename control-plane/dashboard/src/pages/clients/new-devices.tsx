/** Devices that were first seen in the last day. Administrators can acknowledge or name them. */
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Callout } from '../../ui/display/states.tsx';
import type { Client } from './client-words.ts';

/** Number of new devices in the list, and the button that acknowledges all of them. */
export function NewDevices({ rows }: { readonly rows: readonly Client[] }): ReactNode {
  const { say } = useText();
  const acknowledge = useChange('POST /clients/acknowledge', { done: 'clients.acknowledged' });
  const ids = rows.filter((client) => client.is_new).map(({ id }) => id);
  if (ids.length === 0) return null;
  return (
    <ForAdmins>
      <Callout
        tone="warning"
        more={say('clients.newHere.more')}
        actions={
          <Button
            isPending={acknowledge.isPending}
            onPress={() => void acknowledge.run({ body: { client_ids: ids } })}
          >
            {say('clients.acknowledge', { count: ids.length })}
          </Button>
        }
      >
        {say('clients.newHere', { count: ids.length })}
      </Callout>
    </ForAdmins>
  );
}

/** Button that acknowledges one new device. */
export function AcknowledgeButton({ client }: { readonly client: Client }): ReactNode {
  const { say } = useText();
  const acknowledge = useChange('POST /clients/acknowledge', { done: 'clients.acknowledged' });
  if (!client.is_new) return null;
  return (
    <ForAdmins>
      <Button
        icon={Check}
        isPending={acknowledge.isPending}
        onPress={() => void acknowledge.run({ body: { client_ids: [client.id] } })}
      >
        {say('clients.acknowledge', { count: 1 })}
      </Button>
    </ForAdmins>
  );
}
