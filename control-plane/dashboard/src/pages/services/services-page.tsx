/** Which apps are blocked? The catalog of services by groups, and services of one's own. */
import type { ReactNode } from 'react';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Page } from '../../ui/display/page.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { useServices } from '../../ui/policy/service-blocks.ts';
import { CustomServiceForm } from './custom-service-form.tsx';
import { DEFAULTS, ServiceGrid } from './service-grid.tsx';
import { AddWith } from '../../ui/controls/add-button.tsx';
import { ServiceDrawer } from './service-drawer.tsx';

/** The page. */
export default function ServicesPage(): ReactNode {
  const { say } = useText();
  const [{ open }, setFields] = useUrlState(DEFAULTS);
  const services = useServices();
  const opened = services?.find(({ id }) => id === open);
  return (
    <Page
      title={say('page.services')}
      lead={say('services.lead')}
      actions={
        <AddWith
          text={say('services.add')}
          form={(close) => <CustomServiceForm service={null} onClose={close} />}
        />
      }
    >
      {services === undefined ? <Skeleton lines={8} /> : <ServiceGrid services={services} />}
      {opened !== undefined && (
        <ServiceDrawer key={open} service={opened} onClose={() => setFields({ open: '' })} />
      )}
    </Page>
  );
}
