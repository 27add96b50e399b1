/** Page of all schedules, or of one schedule. */
import { CalendarClock } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { Card, Cards, Page } from '../../ui/display/page.tsx';
import { Answered, Empty } from '../../ui/display/states.tsx';
import { ScheduleStatus } from '../../ui/policy/schedule-status.tsx';
import { ProfileForm } from './profile-form.tsx';
import { ProfileView } from './profile-view.tsx';
import { WeekGrid } from './week-grid.tsx';
import { useServiceBlocks } from '../../ui/policy/service-blocks.ts';
import { AddWith } from '../../ui/controls/add-button.tsx';

const DEFAULTS = { open: '' };

type Profile = AnswerOf<'GET /schedule-profiles'>[number];

export default function SchedulesPage(): ReactNode {
  const { say } = useText();
  const [{ open }] = useUrlState(DEFAULTS);
  const profiles = useAsk('GET /schedule-profiles', {});
  if (/^[1-9]\d{0,9}$/.test(open)) return <ProfileView key={open} id={Number(open)} />;
  const add = (
    <AddWith text={say('schedules.add')} form={(close) => <ProfileForm profile={null} onClose={close} />} />
  );
  return (
    <Page title={say('page.schedules')} lead={say('schedules.lead')} actions={add}>
      <Answered of={profiles}>
        {(rows) =>
          rows.length === 0 ? (
            <Card>
              <Empty icon={CalendarClock} title={say('schedules.none')}>
                <p>{say('schedules.none.help')}</p>
              </Empty>
            </Card>
          ) : (
            <Cards>
              {rows.map((profile) => (
                <ProfileCard key={profile.id} profile={profile} isFresh={!profiles.isFetching} />
              ))}
            </Cards>
          )
        }
      </Answered>
    </Page>
  );
}

interface ProfileCardProps {
  readonly profile: Profile;
  /** Whether the list is up to date, so that it no longer contains a schedule that was just deleted. */
  readonly isFresh: boolean;
}

function ProfileCard({ profile, isFresh }: ProfileCardProps): ReactNode {
  const { say, format } = useText();
  const { id, name, timezone, group_ids: groupIds } = profile;
  const full = useAsk('GET /schedule-profiles/{id}', { params: { id } }, { enabled: isFresh });
  const { data: groups = [] } = useAsk('GET /groups', {});
  const blocks = useServiceBlocks();
  const timed = blocks.timedBy(id).length;
  const isForServices = blocks.isOnlyFor(profile);
  const users = groups.filter((group) => groupIds.includes(group.id)).map((group) => group.name);
  return (
    <Card>
      <h2>
        <OpenLink to={`/schedules?open=${id}`} detail={timezone}>
          <bdi>{name}</bdi>
        </OpenLink>
      </h2>
      {(users.length > 0 || timed === 0) && (
        <p className="quiet">
          {users.length === 0
            ? say('schedules.unused')
            : say('schedules.usedBy', { groups: format.list(users) })}
        </p>
      )}
      {timed > 0 && <p className="quiet">{say('schedules.services', { count: timed })}</p>}
      <Answered of={full}>
        {({ slots, days_off: daysOff }) => (
          <>
            <ScheduleStatus {...{ slots, daysOff, isForServices }} timeZone={timezone} />
            <WeekGrid slots={slots} isForServices={isForServices} />
          </>
        )}
      </Answered>
    </Card>
  );
}
