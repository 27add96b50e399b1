/** Page of a schedule: its current state, its week as a grid and as a list, and the groups that use it. */
import { ArrowLeft, CirclePlay, CircleSlash, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { Card, Cards, Page } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { ScheduleStatus } from '../../ui/policy/schedule-status.tsx';
import { ProfileForm } from './profile-form.tsx';
import { SlotForm } from './slot-form.tsx';
import { WeekGrid } from './week-grid.tsx';
import { useServiceBlocks } from '../../ui/policy/service-blocks.ts';
import { EditAndDelete } from '../../ui/overlays/edit-and-delete.tsx';
import styles from './schedules.module.css';
import { Badge } from '../../ui/display/values.tsx';
import { isOverMidnight } from '../../ui/policy/week.ts';
import { daysText } from '../../ui/choices/day-presets.ts';

/** A schedule with its slots. */
export type Profile = AnswerOf<'GET /schedule-profiles/{id}'>;
type Slot = Profile['slots'][number];

/** The slot that the form edits, or the start of a new slot. */
type Editing =
  { readonly slot: Slot } | { readonly from?: { readonly day: number; readonly minute: number } };

export function ProfileView({ id }: { readonly id: number }): ReactNode {
  const { say } = useText();
  const [, setLocation] = useLocation();
  const profile = useAsk('GET /schedule-profiles/{id}', { params: { id } });
  const remove = useChange('DELETE /schedule-profiles/{id}', {
    done: 'schedules.deleted',
    onDone: () => setLocation('/schedules'),
  });
  const timed = useServiceBlocks().timedBy(id).length;
  return (
    <Page
      title={profile.data?.name ?? say('page.schedule')}
      lead={profile.data?.comment ?? ''}
      actions={
        profile.data !== undefined && (
          <EditAndDelete
            name={profile.data.name}
            form={(close) => <ProfileForm profile={profile.data} onClose={close} />}
            onDelete={() => remove.run({ params: { id } })}
            isPending={remove.isPending}
          >
            <p>{say('schedules.delete.text', { count: profile.data.group_ids.length })}</p>
            {timed > 0 && <p>{say('schedules.delete.services', { count: timed })}</p>}
          </EditAndDelete>
        )
      }
    >
      <Link to="/schedules" className={styles['back']}>
        <ArrowLeft size={18} aria-hidden /> {say('schedules.back')}
      </Link>
      <Answered of={profile} lines={8}>
        {(one) => <Week profile={one} />}
      </Answered>
    </Page>
  );
}

function Week({ profile }: { readonly profile: Profile }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const [editing, setEditing] = useState<Editing | null>(null);
  const { slots, timezone, days_off: daysOff } = profile;
  const isForServices = useServiceBlocks().isOnlyFor(profile);
  return (
    <>
      <Card>
        <ScheduleStatus {...{ slots, daysOff, isForServices }} timeZone={timezone} />
        <p className="quiet">{say('schedules.zoneIs', { zone: timezone })}</p>
      </Card>
      <Card
        title={say('schedules.week')}
        actions={
          <ForAdmins>
            <Button kind="main" icon={Plus} onPress={() => setEditing({})}>
              {say('schedules.slot.add')}
            </Button>
          </ForAdmins>
        }
      >
        <div className={styles['big']}>
          {isAdmin ? (
            <WeekGrid
              slots={slots}
              isForServices={isForServices}
              onOpen={(slot) => setEditing({ slot })}
              onAdd={(day, minute) => setEditing({ from: { day, minute } })}
            />
          ) : (
            <WeekGrid slots={slots} isForServices={isForServices} />
          )}
        </div>
        {isAdmin && <p className="quiet">{say('schedules.week.help')}</p>}
      </Card>
      <Cards>
        <Card title={say('schedules.slots')}>
          <SlotList
            profileId={profile.id}
            slots={slots}
            isForServices={isForServices}
            onEdit={(slot) => setEditing({ slot })}
          />
        </Card>
        <Users profile={profile} />
      </Cards>
      {editing !== null && (
        <SlotForm
          profileId={profile.id}
          slot={'slot' in editing ? editing.slot : null}
          from={'slot' in editing ? undefined : editing.from}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  );
}

function Users({ profile }: { readonly profile: Profile }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const groups = useAsk('GET /groups', {});
  const profiles = useAsk('GET /schedule-profiles', {});
  const assign = useChange('PUT /groups/{id}/schedule', { done: 'schedules.assigned' });
  const remove = useChange('DELETE /groups/{id}/schedule', {
    done: 'schedules.unassigned',
    already: 404,
  });
  const otherOf = (groupId: number): string | undefined =>
    profiles.data?.find((one) => one.id !== profile.id && one.group_ids.includes(groupId))?.name;
  return (
    <Card title={say('schedules.groups')}>
      <Answered of={groups}>
        {(rows) => (
          <ul className={styles['slots']}>
            {rows.map(({ id, name }) => {
              const other = otherOf(id);
              return (
                <li key={id}>
                  <SwitchField
                    isSelected={profile.group_ids.includes(id)}
                    isDisabled={!isAdmin || assign.isPending || remove.isPending}
                    onChange={(isUsed) =>
                      void (isUsed
                        ? assign.run({ params: { id }, body: { profile_id: profile.id } })
                        : remove.run({ params: { id } }))
                    }
                  >
                    <bdi>{name}</bdi>
                    {other !== undefined && (
                      <span className="quiet"> {say('schedules.hasOther', { name: other })}</span>
                    )}
                  </SwitchField>
                </li>
              );
            })}
          </ul>
        )}
      </Answered>
    </Card>
  );
}

interface SlotListProps {
  readonly profileId: number;
  readonly slots: readonly Slot[];
  readonly isForServices: boolean;
  readonly onEdit: (slot: Slot) => void;
}

function SlotList({ profileId, slots, isForServices, onEdit }: SlotListProps): ReactNode {
  const { say, format } = useText();
  const remove = useChange('DELETE /schedule-profiles/{id}/slots/{slot_id}', {
    done: 'schedules.slot.deleted',
  });
  if (slots.length === 0) return <p>{say('schedules.slots.none')}</p>;
  return (
    <>
      <ul className={styles['slots']}>
        {slots.map((slot) => {
          const days = daysText(slot.days, say, format.weekday);
          const times = `${slot.start_time}–${slot.end_time}`;
          return (
            <li key={slot.id} className={styles['slot']}>
              <span className={styles['slotText']}>
                <strong>{days}</strong>
                <span>
                  {times} {isOverMidnight(slot) && say('schedules.overMidnight')}
                  {slot.skips_days_off && ` ${say('schedules.notOnHolidays')}`}
                </span>
              </span>
              {slot.action === 'block_all' ? (
                <Badge tone="blocked" icon={CircleSlash}>
                  {say(isForServices ? 'schedules.blocksServices' : 'schedules.blocks')}
                </Badge>
              ) : (
                <Badge tone="allowed" icon={CirclePlay}>
                  {say('schedules.allows')}
                </Badge>
              )}
              <ForAdmins>
                <span>
                  <IconButton
                    icon={Pencil}
                    label={say('action.editOf', { name: `${days} ${times}` })}
                    onPress={() => onEdit(slot)}
                  />
                  <IconButton
                    icon={Trash2}
                    label={say('schedules.slot.deleteOf', { slot: `${days} ${times}` })}
                    onPress={() => void remove.run({ params: { id: profileId, slot_id: slot.id } })}
                  />
                </span>
              </ForAdmins>
            </li>
          );
        })}
      </ul>
      <p className="quiet">{say('schedules.slots.order')}</p>
    </>
  );
}
