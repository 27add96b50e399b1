/** Checkboxes for devices: first the devices of the plan, then the most recently seen devices. */
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { CheckboxField, SearchField } from '../../../ui/controls/fields.tsx';
import { nameOf } from '../../../ui/policy/client-name.ts';
import { useGroups } from '../../../ui/policy/groups.tsx';
import { FormPart } from '../../../ui/choices/form-part.tsx';
import styles from './plan.module.css';

type Client = AnswerOf<'GET /clients'>['data'][number];

interface PlanDevicesProps {
  /** Id of the group; null for a new group. */
  readonly groupId: number | null;
  readonly clients: readonly Client[];
  readonly chosen: readonly number[];
  readonly onChange: (ids: readonly number[]) => void;
}

/** Number of devices shown without a search. */
const SHOWN = 6;

export function PlanDevices({ groupId, clients, chosen, onChange }: PlanDevicesProps): ReactNode {
  const { say, format } = useText();
  const groups = useGroups();
  const [search, setSearch] = useState('');
  const [isWhole, setWhole] = useState(false);
  const [first] = useState(chosen);
  const ordered = useMemo(() => {
    const rankOf = ({ id }: Client): number => (first.includes(id) ? 0 : 1);
    const seenOf = ({ last_seen: seen }: Client): string => seen ?? '';
    return clients.toSorted(
      (one, other) => rankOf(one) - rankOf(other) || seenOf(other).localeCompare(seenOf(one)),
    );
  }, [clients, first]);
  const wanted = search.trim().toLowerCase();
  const found = ordered.filter((client) => nameOf(client).toLowerCase().includes(wanted));
  const shown = isWhole || wanted !== '' ? found : found.slice(0, Math.max(SHOWN, first.length));
  const otherGroup = (id: number): string | undefined =>
    id === groupId ? undefined : groups.find((group) => group.id === id && !group.is_default)?.name;
  const leftGroups = new Set(
    clients
      .filter(({ id }) => chosen.includes(id))
      .map((client) => otherGroup(client.group_id))
      .filter((name) => name !== undefined),
  );
  return (
    <FormPart title={say('field.devices')}>
      {clients.length === 0 && <p className="quiet">{say('plan.devices.none')}</p>}
      {clients.length > SHOWN && (
        <SearchField label={say('plan.devices.search')} value={search} onChange={setSearch} />
      )}
      <ul className={styles['devices']}>
        {shown.map((client) => {
          const other = otherGroup(client.group_id);
          return (
            <li key={client.id}>
              <CheckboxField
                isSelected={chosen.includes(client.id)}
                onChange={(isChosen) =>
                  onChange(isChosen ? [...chosen, client.id] : chosen.filter((id) => id !== client.id))
                }
              >
                <bdi>{nameOf(client)}</bdi>
                {other !== undefined && (
                  <span className="quiet"> {say('plan.devices.now', { group: other })}</span>
                )}
              </CheckboxField>
            </li>
          );
        })}
      </ul>
      {shown.length < found.length && (
        <div>
          <Button kind="quiet" onPress={() => setWhole(true)}>
            {say('plan.devices.more', { count: found.length })}
          </Button>
        </div>
      )}
      {leftGroups.size > 0 && (
        <p className="quiet" role="status">
          {say('plan.devices.leave', { groups: format.list([...leftGroups]) })}
        </p>
      )}
    </FormPart>
  );
}
