/** The clients, and the networks that assign groups to them. */
import type { ReactNode } from 'react';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Segments } from '../../ui/controls/segments.tsx';
import { Page } from '../../ui/display/page.tsx';
import { AccessPart } from './access-part.tsx';
import { BypassSigns } from './bypass-signs.tsx';
import { ClientDrawer } from './client-drawer.tsx';
import { ClientForm } from './client-form.tsx';
import { ClientList, DEFAULTS } from './client-list.tsx';
import { AddWith } from '../../ui/controls/add-button.tsx';
import { Subnets } from './subnets.tsx';

const TABS = ['clients', 'access', 'bypass', 'subnets'] as const;

export default function ClientsPage(): ReactNode {
  const { say } = useText();
  const [{ tab, open }, setFields] = useUrlState(DEFAULTS);
  const shown = TABS.find((one) => one === tab) ?? 'clients';
  const isOpen = /^[1-9]\d{0,9}$/.test(open);
  return (
    <Page
      title={say('page.clients')}
      lead={say('clients.lead')}
      actions={
        <>
          <Segments
            label={say('field.view')}
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
            <AddWith
              text={say('clients.add')}
              form={(close) => <ClientForm client={null} onClose={close} />}
            />
          )}
        </>
      }
    >
      {shown === 'clients' && <ClientList />}
      {shown === 'access' && <AccessPart />}
      {shown === 'bypass' && <BypassSigns />}
      {shown === 'subnets' && <Subnets />}
      {isOpen && <ClientDrawer key={open} id={Number(open)} onClose={() => setFields({ open: '' })} />}
    </Page>
  );
}
