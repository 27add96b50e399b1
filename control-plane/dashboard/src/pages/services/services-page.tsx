/** Blocked apps: the catalog of services by group, and custom services. */
import type { ReactNode } from 'react';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Bar, Page } from '../../ui/display/page.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { useServiceBlocks, useServices } from '../../ui/policy/service-blocks.ts';
import { CustomServiceForm } from './custom-service-form.tsx';
import { DEFAULTS, ServiceGrid } from './service-grid.tsx';
import { AddWith } from '../../ui/controls/add-button.tsx';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { DomainName } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import type { Service } from '../../ui/policy/service-blocks.ts';
import { EditAndDelete } from '../../ui/overlays/edit-and-delete.tsx';
import styles from './services.module.css';

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

interface ServiceDrawerProps {
  readonly service: Service;
  readonly onClose: () => void;
}

/** Drawer of a service: its domains, and the groups for which it is blocked. */
function ServiceDrawer({ service, onClose }: ServiceDrawerProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const { data: groups = [] } = useAsk('GET /groups', {});
  const blocks = useServiceBlocks();
  return (
    <Drawer title={<bdi>{service.name}</bdi>} isOpen onClose={onClose}>
      {service.isCustom && <OwnActions service={service} onDeleted={onClose} />}
      <section>
        <h3>{say('services.blockedIn')}</h3>
        <ul className={styles['rows']}>
          {groups.map(({ id, name }) => (
            <li key={id}>
              <SwitchField
                isSelected={blocks.isBlocked(service.id, id)}
                isDisabled={!isAdmin || blocks.isPending}
                onChange={(isBlocked) => blocks.set(service.id, id, isBlocked)}
              >
                <bdi>{name}</bdi>
              </SwitchField>
            </li>
          ))}
        </ul>
      </section>
      <h3>{say('services.domains', { count: service.domains.length })}</h3>
      <ul className={styles['domains']} tabIndex={0} aria-label={say('services.domains.label')}>
        {service.domains.map((domain) => (
          <li key={domain}>
            <DomainName name={domain} />
          </li>
        ))}
      </ul>
    </Drawer>
  );
}

function OwnActions({
  service,
  onDeleted,
}: {
  readonly service: Service;
  readonly onDeleted: () => void;
}): ReactNode {
  const { say } = useText();
  const { data: groups = [] } = useAsk('GET /groups', {});
  const blocks = useServiceBlocks();
  const blockedIn = groups.filter(({ id }) => blocks.isBlocked(service.id, id)).map(({ name }) => name);
  const remove = useChange('DELETE /custom-services/{service_id}', {
    done: 'services.deleted',
    onDone: onDeleted,
  });
  return (
    <Bar>
      <EditAndDelete
        name={service.name}
        form={(close) => <CustomServiceForm service={service} onClose={close} />}
        onDelete={() => remove.run({ params: { service_id: service.id }, query: { force: true } })}
        isPending={remove.isPending}
      >
        {blockedIn.length === 0
          ? say('services.delete.unused')
          : say('services.delete.used', { groups: blockedIn.join(', ') })}
      </EditAndDelete>
    </Bar>
  );
}
