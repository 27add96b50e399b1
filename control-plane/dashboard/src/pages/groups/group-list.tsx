/** Each group in a card: who is in it, and what holds for it. */
import { Users } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { Card, Cards } from '../../ui/display/page.tsx';
import { Badge, Facts } from '../../ui/display/values.tsx';
import { ScheduleStanding } from '../../ui/policy/schedule-status.tsx';
import { servesGroup } from './served-groups.ts';
import styles from './groups.module.css';

/** A group. */
export type Group = AnswerOf<'GET /groups'>[number];

/** The cards. */
export function GroupList({ groups }: { readonly groups: readonly Group[] }): ReactNode {
  const ordered = groups.toSorted((one, other) => Number(other.is_default) - Number(one.is_default));
  return (
    <Cards>
      {ordered.map((group) => (
        <GroupCard key={group.id} group={group} />
      ))}
    </Cards>
  );
}

function GroupCard({ group }: { readonly group: Group }): ReactNode {
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
      </div>
      {group.comment !== '' && <p className={styles['quiet']}>{group.comment}</p>}
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
    </Card>
  );
}

/** What the schedule means now. */
export function NowOf({ profileId }: { readonly profileId: number }): ReactNode {
  const profile = useAsk('GET /schedule-profiles/{id}', { params: { id: profileId } });
  if (profile.data === undefined) return null;
  return <ScheduleStanding slots={profile.data.slots} timeZone={profile.data.timezone} />;
}
