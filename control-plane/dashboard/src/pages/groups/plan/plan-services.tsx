/** Services of a plan: popular services as chips with icons; all other services by search. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { Chips } from '../../../ui/choices/chips.tsx';
import type { Chip } from '../../../ui/choices/chips.tsx';
import { ServiceIcon } from '../../../ui/choices/service-icon.tsx';
import { SearchField, SwitchField } from '../../../ui/controls/fields.tsx';
import { Disclosure } from '../../../ui/display/disclosure.tsx';
import { Skeleton } from '../../../ui/display/states.tsx';
import { matching } from '../../../ui/policy/matching-services.ts';
import { isPopular, kindOf, SERVICE_KINDS } from '../../../ui/policy/popular-services.ts';
import { useServices } from '../../../ui/policy/service-blocks.ts';
import type { Service } from '../../../ui/policy/service-blocks.ts';
import type { PlanDraft } from './plan-draft.ts';
import { FormPart } from '../../../ui/choices/form-part.tsx';
import styles from './plan.module.css';

interface PlanServicesProps {
  readonly services: PlanDraft['services'];
  /** Whether the plan has times at which its services are blocked. */
  readonly hasTimes: boolean;
  readonly onToggle: (id: string, isChosen: boolean) => void;
  readonly onChange: (services: PlanDraft['services']) => void;
}

const FOUND = 12;

/** Chips by kind, the search, and a choice of services that are blocked at all times. */
export function PlanServices({ services, hasTimes, onToggle, onChange }: PlanServicesProps): ReactNode {
  const { say } = useText();
  const [search, setSearch] = useState('');
  const known = useServices();
  if (known === undefined) return <Skeleton lines={4} />;
  const isChosen = (id: string): boolean => services.some(({ service_id: chosen }) => chosen === id);
  const props = { isChosen, onToggle };
  const popular = known.filter((service) => isPopular(service));
  const others = known.filter((service) => !isPopular(service) && isChosen(service.id));
  const found = search.trim() === '' ? [] : matching(known, search).slice(0, FOUND);
  const nameOfId = (wanted: string): string => known.find(({ id }) => id === wanted)?.name ?? wanted;
  return (
    <FormPart title={say('plan.services')}>
      {SERVICE_KINDS.map((kind) => (
        <div key={kind} className={styles['kind']}>
          <span className="quiet" aria-hidden>
            {say(`plan.kind.${kind}`)}
          </span>
          <Chips
            {...props}
            label={say(`plan.kind.${kind}`)}
            chips={popular.filter((service) => kindOf(service) === kind).map(chipOf)}
          />
        </div>
      ))}
      {others.length > 0 && (
        <Chips {...props} label={say('plan.services.others')} chips={others.map(chipOf)} />
      )}
      <SearchField label={say('plan.services.search')} value={search} onChange={setSearch} />
      {search.trim() !== '' &&
        (found.length === 0 ? (
          <p className="quiet">{say('groups.services.noneFound')}</p>
        ) : (
          <Chips {...props} label={say('plan.services.found')} chips={found.map(chipOf)} />
        ))}
      {hasTimes && services.length > 0 && (
        <Disclosure title={say('plan.services.always')}>
          <ul className={styles['devices']}>
            {services.map(({ service_id: id, always }) => (
              <li key={id}>
                <SwitchField
                  isSelected={always}
                  onChange={(isAlways) =>
                    onChange(
                      services.map((one) => (one.service_id === id ? { ...one, always: isAlways } : one)),
                    )
                  }
                >
                  <bdi>{nameOfId(id)}</bdi>
                </SwitchField>
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </FormPart>
  );
}

function chipOf(service: Service): Chip {
  return { id: service.id, text: service.name, icon: <ServiceIcon service={service} /> };
}
