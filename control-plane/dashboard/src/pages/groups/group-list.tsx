/** A card for each group with its clients and settings. */
import { CalendarClock, Users } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { Bar, Card, Cards } from '../../ui/display/page.tsx';
import { Badge, Facts } from '../../ui/display/values.tsx';
import { ScheduleStatus } from '../../ui/policy/schedule-status.tsx';
import { groupComment } from './group-comment.ts';
import { PausedBadge, PauseGroup } from './pause-group.tsx';
import { PlanDialog } from './plan/plan-form.tsx';
import { servesGroup } from './served-groups.ts';
import styles from './groups.module.css';

export type Group = AnswerOf<'GET /groups'>[number];

export function GroupList({ groups }: { readonly groups: readonly Group[] }): ReactNode {
  const [planned, setPlanned] = useState<number | null>(null);
  const ordered = groups.toSorted((one, other) => Number(other.is_default) - Number(one.is_default));
  return (
    <>
      <Cards>
        {ordered.map((group) => (
          <GroupCard key={group.id} group={group} onPlan={() => setPlanned(group.id)} />
        ))}
      </Cards>
      {planned !== null && <PlanDialog groupId={planned} onClose={() => setPlanned(null)} />}
    </>
  );
}

interface GroupCardProps {
  readonly group: Group;
  readonly onPlan: () => void;
}

function GroupCard({ group, onPlan }: GroupCardProps): ReactNode {
  const { say, format } = useText();
  const sources = useAsk('GET /blocklist-sources', {});
  const services = useAsk('GET /services', { query: {} });
  const engines = useAsk('GET /safe-search/configs', {});
  const profiles = useAsk('GET /schedule-profiles', {});
  const profile = profiles.data?.find(({ group_ids: ids }) => ids.includes(group.id));
  const count = (rows: readonly unknown[] | undefined): string =>
    rows === undefined ? '…' : format.count(rows.length);
  const safe = engines.data?.filter(({ group_id: id, enabled }) => id === group.id && enabled);
  return (
    <Card>
      <div className={styles['cardTitle']}>
        <h2>
          <OpenLink to={`/groups?open=${group.id}`}>
            <bdi>{group.name}</bdi>
          </OpenLink>
        </h2>
        <Badge tone="plain" icon={Users}>
          {say('groups.members.count', { count: group.client_count })}
        </Badge>
        {!group.enabled && <Badge tone="warning">{say('groups.off')}</Badge>}
        <PausedBadge groupId={group.id} />
      </div>
      {group.comment !== '' && <p className={styles['quiet']}>{groupComment(group, say)}</p>}
      <Facts
        facts={[
          [
            say('page.lists'),
            count(
              sources.data?.filter((source) => source.enabled && servesGroup(source.group_ids, group.id)),
            ),
          ],
          [say('groups.services'), count(services.data?.filter(({ group_id: id }) => id === group.id))],
          [say('groups.safeSearch'), count(safe)],
          [
            say('page.schedule'),
            profile === undefined ? say('groups.schedule.none') : <bdi>{profile.name}</bdi>,
          ],
        ]}
      />
      {profile !== undefined && <NowOf profileId={profile.id} />}
      {!group.is_default && (
        <ForAdmins>
          <Bar>
            <PauseGroup group={group} />
            <Button
              icon={CalendarClock}
              aria-label={say('plan.titleOf', { name: group.name })}
              onPress={onPlan}
            >
              {say('plan.edit')}
            </Button>
          </Bar>
        </ForAdmins>
      )}
    </Card>
  );
}

/** The current state of a schedule. */
export function NowOf({ profileId }: { readonly profileId: number }): ReactNode {
  const profile = useAsk('GET /schedule-profiles/{id}', { params: { id: profileId } });
  if (profile.data === undefined) return null;
  const { slots, timezone, days_off: daysOff } = profile.data;
  return <ScheduleStatus {...{ slots, daysOff }} timeZone={timezone} isForServices={false} />;
}
