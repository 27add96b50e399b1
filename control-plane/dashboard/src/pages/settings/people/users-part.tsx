/** Users: their roles, and whether they have a second factor. */
import { EllipsisVertical, ShieldOff, Trash2, UserPen } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../../api/use-ask.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { IconButton } from '../../../ui/controls/button.tsx';
import { DataTable } from '../../../ui/display/data-table.tsx';
import { Card } from '../../../ui/display/page.tsx';
import { Answered } from '../../../ui/display/states.tsx';
import { Badge } from '../../../ui/display/values.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { Menu } from '../../../ui/overlays/menu.tsx';
import { UserDialog } from './user-dialog.tsx';
import { AddWith } from '../../../ui/controls/add-button.tsx';
import type { User } from './user-dialog.tsx';

/** A user and the dialog that is open for it. */
interface OpenDialog {
  readonly user: User;
  readonly what: 'delete' | 'factor';
}

export default function UsersPart(): ReactNode {
  const { say } = useText();
  const users = useAsk('GET /users', {});
  const [edited, setEdited] = useState<User | null>(null);
  const [asked, setAsked] = useState<OpenDialog | null>(null);
  const close = (): void => setAsked(null);
  const remove = useChange('DELETE /users/{id}', { done: 'settings.user.deleted', onDone: close });
  const reset = useChange('DELETE /users/{id}/second-factor', {
    done: 'settings.user.factorGone',
    onDone: close,
  });
  return (
    <Card
      title={say('settings.part.users')}
      actions={
        <AddWith
          text={say('settings.user.create')}
          form={(close) => <UserDialog user={null} onClose={close} />}
        />
      }
    >
      <Answered of={users}>
        {(rows) => (
          <DataTable
            label={say('settings.part.users')}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                id: 'name',
                title: say('field.name'),
                isName: true,
                cell: ({ username, display_name: shown }) => (
                  <bdi>{shown === '' ? username : `${shown} (${username})`}</bdi>
                ),
              },
              { id: 'role', title: say('settings.role'), cell: ({ role }) => say(`settings.role.${role}`) },
              {
                id: 'state',
                title: say('field.state'),
                cell: ({ enabled, second_factor: hasFactor }) => (
                  <>
                    <Badge tone={enabled ? 'good' : 'warning'}>
                      {say(enabled ? 'settings.user.enabled' : 'settings.user.disabled')}
                    </Badge>{' '}
                    {hasFactor && <Badge tone="plain">{say('settings.user.hasFactor')}</Badge>}
                  </>
                ),
              },
              {
                id: 'actions',
                title: say('field.actions'),
                isActions: true,
                cell: (user) => (
                  <Menu
                    label={say('field.actionsOf', { name: user.username })}
                    button={
                      <IconButton
                        icon={EllipsisVertical}
                        label={say('field.actionsOf', { name: user.username })}
                      />
                    }
                    actions={[
                      { id: 'edit', text: say('action.edit'), icon: UserPen, run: () => setEdited(user) },
                      {
                        id: 'factor',
                        text: say('settings.user.factor'),
                        icon: ShieldOff,
                        isDisabled: !user.second_factor,
                        run: () => setAsked({ user, what: 'factor' }),
                      },
                      {
                        id: 'delete',
                        text: say('action.delete'),
                        icon: Trash2,
                        isDanger: true,
                        isDisabled: user.source === 'config',
                        run: () => setAsked({ user, what: 'delete' }),
                      },
                    ]}
                  />
                ),
              },
            ]}
          />
        )}
      </Answered>
      {edited !== null && <UserDialog user={edited} onClose={() => setEdited(null)} />}
      {asked !== null && (
        <Confirm
          title={say(`settings.user.${asked.what}.title`, { name: asked.user.username })}
          action={say(asked.what === 'delete' ? 'action.delete' : 'settings.user.factor')}
          isPending={remove.isPending || reset.isPending}
          onConfirm={() =>
            void (asked.what === 'delete' ? remove : reset).run({ params: { id: asked.user.id } })
          }
          onClose={close}
        >
          <p>{say(`settings.user.${asked.what}.text`)}</p>
        </Confirm>
      )}
    </Card>
  );
}
