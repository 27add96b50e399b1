/** Services that are blocked for a group, and a field to find and block another one. */
import { LayoutGrid, X } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useText } from '../../i18n/text.ts';
import { IconButton } from '../../ui/controls/button.tsx';
import { SearchField, SwitchField } from '../../ui/controls/fields.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { matching } from '../../ui/policy/matching-services.ts';
import { useServiceBlocks, useServices } from '../../ui/policy/service-blocks.ts';
import type { Service } from '../../ui/policy/service-blocks.ts';
import { ServiceTimes } from './service-times.tsx';
import styles from './groups.module.css';

const FOUND = 8;

export function GroupServices({ groupId }: { readonly groupId: number }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const [search, setSearch] = useState('');
  const services = useServices();
  const blocks = useServiceBlocks();
  const blocked = blocks.blockedIn(groupId);
  if (services === undefined)
    return (
      <Card title={say('groups.services')}>
        <Skeleton />
      </Card>
    );
  const nameOf = (id: string): string => services.find((service) => service.id === id)?.name ?? id;
  return (
    <Card
      title={say('groups.services')}
      actions={
        <Link to={`/services?group=${groupId}`} className={styles['more']}>
          <LayoutGrid size={18} aria-hidden /> {say('groups.services.all')}
        </Link>
      }
    >
      {blocked.length === 0 && <p className={styles['quiet']}>{say('groups.services.none')}</p>}
      <ul className={styles['rows']}>
        {blocked.map(({ service_id: id, profile_id: profileId }) => (
          <li key={id} className={styles['row']}>
            <bdi>{nameOf(id)}</bdi>
            {isAdmin ? (
              <span className={styles['fields']}>
                <ServiceTimes
                  name={nameOf(id)}
                  of={{ service_id: id, group_id: groupId }}
                  profileId={profileId}
                />
                <IconButton
                  icon={X}
                  label={say('groups.services.unblock', { name: nameOf(id) })}
                  onPress={() => blocks.set(id, groupId, false)}
                />
              </span>
            ) : (
              profileId !== null && <span className={styles['quiet']}>{say('services.atTimes')}</span>
            )}
          </li>
        ))}
      </ul>
      <ForAdmins>
        <SearchField label={say('groups.services.search')} value={search} onChange={setSearch} />
        {search.trim() !== '' && (
          <Found
            services={matching(services, search).slice(0, FOUND)}
            isBlocked={(id) => blocks.isBlocked(id, groupId)}
            onChange={(id, isBlocked) => blocks.set(id, groupId, isBlocked)}
          />
        )}
        <p className={styles['quiet']}>{say('groups.services.times')}</p>
      </ForAdmins>
    </Card>
  );
}

interface FoundProps {
  readonly services: readonly Service[];
  readonly isBlocked: (id: string) => boolean;
  readonly onChange: (id: string, isBlocked: boolean) => void;
}

function Found({ services, isBlocked, onChange }: FoundProps): ReactNode {
  const { say } = useText();
  if (services.length === 0) return <p className={styles['quiet']}>{say('groups.services.noneFound')}</p>;
  return (
    <ul className={styles['rows']}>
      {services.map(({ id, name }) => (
        <li key={id}>
          <SwitchField isSelected={isBlocked(id)} onChange={(on) => onChange(id, on)}>
            {say('groups.services.block', { name })}
          </SwitchField>
        </li>
      ))}
    </ul>
  );
}
