/** Page of a group: its members and all its settings. */
import { ArrowLeft, CalendarClock, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card, Cards, Page } from '../../ui/display/page.tsx';
import { Answered, Callout } from '../../ui/display/states.tsx';
import { TimedPermissions } from '../../ui/policy/timed-permissions.tsx';
import { DeleteGroup } from './delete-group.tsx';
import { groupComment } from './group-comment.ts';
import { GroupForm } from './group-form.tsx';
import { GroupLists } from './group-lists.tsx';
import { GroupMembers } from './group-members.tsx';
import { GroupRules } from './group-rules.tsx';
import { GroupSafeSearch } from './group-safe-search.tsx';
import { GroupSchedule } from './group-schedule.tsx';
import { GroupServices } from './group-services.tsx';
import { PauseGroup } from './pause-group.tsx';
import { PlanDialog } from './plan/plan-form.tsx';
import styles from './groups.module.css';

export function GroupView({ id }: { readonly id: number }): ReactNode {
  const { say } = useText();
  const [, setLocation] = useLocation();
  const group = useAsk('GET /groups/{id}', { params: { id } });
  const [doing, setDoing] = useState<'edit' | 'delete' | 'plan' | null>(null);
  const enable = useChange('PUT /groups/{id}', { done: 'groups.changed' });
  const stop = (): void => setDoing(null);
  return (
    <Page
      title={group.data?.name ?? say('field.group')}
      lead={group.data === undefined ? '' : groupComment(group.data, say)}
      actions={
        group.data !== undefined && (
          <ForAdmins>
            {!group.data.is_default && (
              <>
                <PauseGroup group={group.data} />
                <Button icon={CalendarClock} onPress={() => setDoing('plan')}>
                  {say('plan.edit')}
                </Button>
              </>
            )}
            <Button icon={Pencil} onPress={() => setDoing('edit')}>
              {say('action.edit')}
            </Button>
            {!group.data.is_default && (
              <Button kind="danger" icon={Trash2} onPress={() => setDoing('delete')}>
                {say('action.delete')}
              </Button>
            )}
          </ForAdmins>
        )
      }
    >
      <Link to="/groups" className={styles['back']}>
        <ArrowLeft size={18} aria-hidden /> {say('groups.all')}
      </Link>
      <Answered of={group} lines={8}>
        {(one) => (
          <>
            {!one.enabled && (
              <Callout
                tone="warning"
                actions={
                  <ForAdmins>
                    <Button
                      isPending={enable.isPending}
                      onPress={() => void enable.run({ params: { id }, body: { enabled: true } })}
                    >
                      {say('action.enable')}
                    </Button>
                  </ForAdmins>
                }
              >
                {say('groups.off.text')}
              </Callout>
            )}
            <Cards isPacked>
              <GroupMembers group={one} />
              <Card title={say('timed.title')}>
                <TimedPermissions of={{ group_id: id }} />
              </Card>
              <GroupServices groupId={id} />
              <GroupSchedule groupId={id} />
              <GroupLists groupId={id} />
              <GroupRules groupId={id} />
              <GroupSafeSearch groupId={id} />
            </Cards>
            {doing === 'edit' && <GroupForm group={one} onClose={stop} />}
            {doing === 'plan' && <PlanDialog groupId={id} onClose={stop} />}
            {doing === 'delete' && (
              <DeleteGroup group={one} onClose={stop} onDeleted={() => setLocation('/groups')} />
            )}
          </>
        )}
      </Answered>
    </Page>
  );
}
