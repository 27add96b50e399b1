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
import { ENGINE_COUNT } from './group-safe-search.tsx';
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
  const count = (rows: readonly unknown[] | undefined): string =>
    rows === undefined ? '…' : format.count(rows.length);
  const blocked = services.data?.filter(({ group_id: id }) => id === group.id);
  const timed = (blocked ?? []).filter(({ profile_id: id }) => id !== null);
  const safe = engines.data?.filter(({ group_id: id, enabled }) => id === group.id && enabled);
  const ofGroup = profiles.data?.filter(({ group_ids: ids }) => ids.includes(group.id)) ?? [];
  const ofServices = profiles.data?.filter(({ id }) => timed.some((block) => block.profile_id === id)) ?? [];
  const names = [...new Set([...ofGroup, ...ofServices].map(({ name }) => name))];
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
          [
            say('groups.services'),
            timed.length === 0
              ? count(blocked)
              : say('groups.services.timed', { count: count(blocked), timed: count(timed) }),
          ],
          [say('groups.safeSearch'), safe === undefined ? '…' : <SafeSearch count={safe.length} />],
          [
            say('page.schedule'),
            names.length === 0 ? say('groups.schedule.none') : <bdi>{format.list(names)}</bdi>,
          ],
        ]}
      />
      {ofGroup.map(({ id }) => (
        <NowOf key={id} profileId={id} />
      ))}
      {ofServices.map(({ id }) => (
        <NowOf key={`services ${id}`} profileId={id} isForServices />
      ))}
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

/** How many search engines have safe search. */
function SafeSearch({ count }: { readonly count: number }): ReactNode {
  const { say, format } = useText();
  if (count === 0) return say('settings.off');
  if (count === ENGINE_COUNT) return say('groups.safeSearch.all');
  return say('groups.safeSearch.some', {
    count: format.count(count),
    all: format.count(ENGINE_COUNT),
  });
}

interface NowOfProps {
  readonly profileId: number;
  /** Whether the schedule blocks services instead of everything. */
  readonly isForServices?: boolean;
}

/** The current state of a schedule. */
export function NowOf({ profileId, isForServices = false }: NowOfProps): ReactNode {
  const profile = useAsk('GET /schedule-profiles/{id}', { params: { id: profileId } });
  if (profile.data === undefined) return null;
  const { slots, timezone, days_off: daysOff } = profile.data;
  return <ScheduleStatus {...{ slots, daysOff }} timeZone={timezone} isForServices={isForServices} />;
}
