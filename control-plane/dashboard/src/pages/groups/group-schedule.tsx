/** The schedule of a group and its current state. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../../ui/controls/fields.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { NowOf } from './group-list.tsx';
import styles from './groups.module.css';

export function GroupSchedule({ groupId }: { readonly groupId: number }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const profiles = useAsk('GET /schedule-profiles', {});
  const assign = useChange('PUT /groups/{id}/schedule', { done: 'groups.schedule.set' });
  const remove = useChange('DELETE /groups/{id}/schedule', {
    done: 'schedules.unassigned',
    already: 404,
  });
  const params = { id: groupId };
  return (
    <Card title={say('page.schedule')}>
      <Answered of={profiles}>
        {(rows) => {
          const own = rows.find(({ group_ids: ids }) => ids.includes(groupId));
          return (
            <>
              {own !== undefined && <NowOf profileId={own.id} />}
              {isAdmin ? (
                <SelectField
                  label={say('groups.schedule.choose')}
                  value={own === undefined ? '' : `${own.id}`}
                  onChange={(id) =>
                    void (id === ''
                      ? remove.run({ params })
                      : assign.run({ params, body: { profile_id: Number(id) } }))
                  }
                  choices={[
                    { id: '', text: say('groups.schedule.none') },
                    ...rows.map(({ id, name }) => ({ id: `${id}`, text: name })),
                  ]}
                />
              ) : (
                <p>{own === undefined ? say('groups.schedule.none') : <bdi>{own.name}</bdi>}</p>
              )}
              {(own !== undefined || isAdmin) && (
                <Link
                  to={own === undefined ? '/schedules' : `/schedules?open=${own.id}`}
                  className={styles['more']}
                >
                  {say(own === undefined ? 'schedules.add' : 'groups.schedule.look')}
                </Link>
              )}
            </>
          );
        }}
      </Answered>
    </Card>
  );
}
