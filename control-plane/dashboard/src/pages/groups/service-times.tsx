/** When a service is blocked for a group: at all times, or at those of a schedule. */
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../../ui/controls/fields.tsx';

const NIGHTS = { days: 127, start_time: '21:00', end_time: '06:30', action: 'block_all' } as const;

interface ServiceTimesProps {
  readonly name: string;
  /** The service and the group. */
  readonly of: { readonly service_id: string; readonly group_id: number };
  /** Null = at all times. */
  readonly profileId: number | null;
}

/** The choice. Where there is no schedule yet, it offers to make one of the nights. */
export function ServiceTimes({ name, of, profileId }: ServiceTimesProps): ReactNode {
  const { say } = useText();
  const { data: profiles = [] } = useAsk('GET /schedule-profiles', {});
  const setTimes = useChange('PUT /services/{service_id}/groups/{group_id}', { done: 'services.timed' });
  const create = useChange('POST /schedule-profiles', {
    onDone: ({ id }) => void addSlot.run({ params: { id }, body: NIGHTS }),
  });
  const addSlot = useChange('POST /schedule-profiles/{id}/slots', {
    onDone: ({ profile_id: id }) => choose(`${id}`),
  });
  const choose = (id: string): void =>
    void setTimes.run({ params: of, body: { profile_id: id === '' ? null : Number(id) } });
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <SelectField
      label={say('services.when', { name })}
      isLabelHidden
      value={profileId === null ? '' : `${profileId}`}
      onChange={(id) =>
        id === 'nights'
          ? void create.run({ body: { name: say('services.nights'), timezone, comment: '' } })
          : choose(id)
      }
      choices={[
        { id: '', text: say('services.always') },
        ...profiles.map((profile) => ({ id: `${profile.id}`, text: profile.name })),
        ...(profiles.length === 0 ? [{ id: 'nights', text: say('services.everyNight') }] : []),
      ]}
    />
  );
}
