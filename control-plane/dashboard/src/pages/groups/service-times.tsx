/** When a service is blocked for a group: at all times, or at the times of a schedule. */
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { READY_IDS, READY_TIMES } from '../../ui/choices/ready-times.ts';
import { SelectField } from '../../ui/controls/fields.tsx';

const NEW = 'new';

interface ServiceTimesProps {
  readonly name: string;
  /** The blocked service and its group. */
  readonly of: { readonly service_id: string; readonly group_id: number };
  /** Id of the schedule; null = the service is blocked at all times. */
  readonly profileId: number | null;
}

/** Choice of an existing schedule, a predefined time or a new schedule. A predefined time creates a schedule. */
export function ServiceTimes({ name, of, profileId }: ServiceTimesProps): ReactNode {
  const { say } = useText();
  const [, go] = useLocation();
  const { data: profiles = [] } = useAsk('GET /schedule-profiles', {});
  const setTimes = useChange('PUT /services/{service_id}/groups/{group_id}', { done: 'services.timed' });
  const create = useChange('POST /schedule-profiles', { onDone: ({ id }) => choose(`${id}`) });
  const choose = (id: string): void =>
    void setTimes.run({ params: of, body: { profile_id: id === '' ? null : Number(id) } });
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  const hasNamed = (text: string): boolean =>
    profiles.some((profile) => profile.name.toLowerCase() === text.toLowerCase());
  const ready = READY_IDS.filter((id) => !hasNamed(say(`plan.ready.${id}`)));
  function pick(chosen: string): void {
    const made = ready.find((id) => id === chosen);
    if (chosen === NEW) return go('/schedules');
    if (made === undefined) return choose(chosen);
    const slots = [{ ...READY_TIMES[made], action: 'block_all' as const }];
    void create.run({ body: { name: say(`plan.ready.${made}`), timezone, comment: '', slots } });
  }
  return (
    <SelectField
      label={say('services.when', { name })}
      isLabelHidden
      value={profileId === null ? '' : `${profileId}`}
      onChange={pick}
      choices={[
        { id: '', text: say('services.always') },
        ...profiles.map((profile) => ({ id: `${profile.id}`, text: profile.name })),
        ...ready.map((id) => ({ id, text: say(`plan.ready.${id}`), help: say(`plan.ready.${id}.when`) })),
        { id: NEW, text: say('services.newSchedule') },
      ]}
    />
  );
}
