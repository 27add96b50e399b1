/** Devices that a user with the role family may pause or unblock. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { CheckboxField, SearchField } from '../../../ui/controls/fields.tsx';
import { nameOf } from '../../../ui/policy/client-name.ts';
import styles from './devices-field.module.css';

interface DevicesFieldProps {
  readonly value: readonly number[];
  readonly onChange: (ids: readonly number[]) => void;
  readonly error: string | null;
}

/** Maximum number of devices that are shown without a search. */
const MAX_SHOWN = 30;

/** The field; lists selected devices first, then the most recently seen devices. */
export function DevicesField({ value, onChange, error }: DevicesFieldProps): ReactNode {
  const { say } = useText();
  const [search, setSearch] = useState('');
  // Selection when the form was opened. It determines the order of the devices, which does not change while the user
  // selects devices.
  const [first] = useState(() => new Set(value));
  const { data: clients } = useAsk('GET /clients', { query: { limit: 1000 } });
  const wanted = search.trim().toLowerCase();
  const found = (clients?.data ?? [])
    .filter((client) =>
      [nameOf(client), client.ip_address, client.mac_address].some(
        (text) => text?.toLowerCase().includes(wanted) === true,
      ),
    )
    .toSorted((one, other) => Number(first.has(other.id)) - Number(first.has(one.id)));
  const label = say('field.devices');
  return (
    <div role="group" aria-label={label} className={styles['field']}>
      <span className={styles['label']} aria-hidden>
        {label}
      </span>
      <SearchField label={say('settings.user.devices.search')} value={search} onChange={setSearch} />
      <div className={styles['devices']}>
        {found.slice(0, Math.max(MAX_SHOWN, first.size)).map((client) => (
          <CheckboxField
            key={client.id}
            isSelected={value.includes(client.id)}
            onChange={(chosen) =>
              onChange(chosen ? [...value, client.id] : value.filter((id) => id !== client.id))
            }
          >
            <bdi>{nameOf(client)}</bdi>
          </CheckboxField>
        ))}
      </div>
      {error !== null && (
        <span className={styles['error']} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}
