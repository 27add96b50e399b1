/** One service: what it is made of, and for which groups it is blocked. */
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { Bar } from '../../ui/display/page.tsx';
import { DomainName } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { useServiceBlocks } from '../../ui/policy/service-blocks.ts';
import type { Service } from '../../ui/policy/service-blocks.ts';
import { CustomServiceForm } from './custom-service-form.tsx';
import styles from './services.module.css';

interface ServiceDrawerProps {
  readonly service: Service;
  readonly onClose: () => void;
}

/** The drawer. */
export function ServiceDrawer({ service, onClose }: ServiceDrawerProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const { data: groups = [] } = useAsk('GET /groups', {});
  const blocks = useServiceBlocks();
  return (
    <Drawer title={<bdi>{service.name}</bdi>} isOpen onClose={onClose}>
      {service.isCustom && (
        <ForAdmins>
          <OwnActions service={service} onDeleted={onClose} />
        </ForAdmins>
      )}
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
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null);
  const { data: groups = [] } = useAsk('GET /groups', {});
  const blocks = useServiceBlocks();
  const blockedIn = groups.filter(({ id }) => blocks.isBlocked(service.id, id)).map(({ name }) => name);
  const remove = useChange('DELETE /custom-services/{service_id}', {
    done: 'services.deleted',
    onDone: onDeleted,
  });
  const stop = (): void => setDoing(null);
  return (
    <Bar>
      <Button icon={Pencil} onPress={() => setDoing('edit')}>
        {say('action.edit')}
      </Button>
      <Button kind="danger" icon={Trash2} onPress={() => setDoing('delete')}>
        {say('action.delete')}
      </Button>
      {doing === 'edit' && <CustomServiceForm service={service} onClose={stop} />}
      <Confirm
        title={say('action.deleteOf', { name: service.name })}
        action={say('action.delete')}
        isOpen={doing === 'delete'}
        isPending={remove.isPending}
        onClose={stop}
        onConfirm={() =>
          void remove.run({ params: { service_id: service.id }, query: { force: true } }).then(stop)
        }
      >
        {blockedIn.length === 0
          ? say('services.delete.unused')
          : say('services.delete.used', { groups: blockedIn.join(', ') })}
      </Confirm>
    </Bar>
  );
}
