/** Who asks, under which rules? The clients, and the networks that give them groups. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { Page } from '../../ui/display/page.tsx';
import { AccessPart } from './access-part.tsx';
import { BypassSigns } from './bypass-signs.tsx';
import { ClientDrawer } from './client-drawer.tsx';
import { ClientForm } from './client-form.tsx';
import { ClientList, DEFAULTS } from './client-list.tsx';
import { Subnets } from './subnets.tsx';

const TABS = ['clients', 'access', 'bypass', 'subnets'] as const;

/** The page. */
export default function ClientsPage(): ReactNode {
  const { say } = useText();
  const [{ tab, open }, setFields] = useUrlState(DEFAULTS);
  const [isAdding, setAdding] = useState(false);
  const shown = TABS.find((one) => one === tab) ?? 'clients';
  const isOpen = /^[1-9]\d{0,9}$/.test(open);
  return (
    <Page
      title={say('page.clients')}
      lead={say('clients.lead')}
      actions={
        <>
          <Segments
            label={say('clients.view')}
            value={shown}
            choices={[
              { id: 'clients', text: say('field.devices') },
              { id: 'access', text: say('clients.tab.access') },
              { id: 'bypass', text: say('clients.tab.bypass') },
              { id: 'subnets', text: say('clients.tab.subnets') },
            ]}
            onChange={(chosen) => setFields({ tab: chosen })}
          />
          {shown === 'clients' && (
            <ForAdmins>
              <Button kind="main" icon={Plus} onPress={() => setAdding(true)}>
                {say('clients.add')}
              </Button>
            </ForAdmins>
          )}
        </>
      }
    >
      {shown === 'clients' && <ClientList />}
      {shown === 'access' && <AccessPart />}
      {shown === 'bypass' && <BypassSigns />}
      {shown === 'subnets' && <Subnets />}
      {isOpen && <ClientDrawer key={open} id={Number(open)} onClose={() => setFields({ open: '' })} />}
      {isAdding && <ClientForm client={null} onClose={() => setAdding(false)} />}
    </Page>
  );
}
