/** Button that temporarily allows a blocked service on a device. */
import { CirclePlay } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { ServiceDialog } from '../../ui/grants/service-dialog.tsx';
import { nameOf } from '../../ui/policy/client-name.ts';
import type { Client } from './client-words.ts';

export function UnblockService({ client }: { readonly client: Client }): ReactNode {
  const { say } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon={CirclePlay} onPress={() => setOpen(true)}>
        {say('grants.allowService')}
      </Button>
      {isOpen && <ServiceDialog clientId={client.id} name={nameOf(client)} onClose={() => setOpen(false)} />}
    </>
  );
}
