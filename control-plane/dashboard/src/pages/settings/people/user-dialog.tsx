/** Makes or changes a person who may log in. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { fieldProblem, problemText } from '../../../api/problem-text.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { SelectField, SwitchField, TextField } from '../../../ui/controls/fields.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { Dialog } from '../../../ui/overlays/dialog.tsx';
import { ROLES } from './roles.ts';
import type { Role } from './roles.ts';

/** A person who may log in. */
export type User = AnswerOf<'GET /users'>[number];

interface UserDialogProps {
  /** Null for a new one. */
  readonly user: User | null;
  readonly onClose: () => void;
}

const FIELDS = ['username', 'display_name', 'password', 'role', 'enabled'] as const;

/** The dialog. */
export function UserDialog({ user, onClose }: UserDialogProps): ReactNode {
  const { say } = useText();
  const [username, setUsername] = useState(user?.username ?? '');
  const [displayName, setDisplayName] = useState(user?.display_name ?? '');
  const [password, setPassword] = useState('');
  const [role, setRole] = useState<Role>(user?.role ?? 'viewer');
  const [isEnabled, setEnabled] = useState(user?.enabled ?? true);
  const make = useChange('POST /users', { done: 'settings.user.created', quiet: true, onDone: onClose });
  const change = useChange('PATCH /users/{id}', { done: 'settings.saved', quiet: true, onDone: onClose });
  const failure = make.failure ?? change.failure;
  const isAtField = FIELDS.some((field) => fieldProblem(failure, field) !== null);
  const save = (): void => {
    const body = { display_name: displayName.trim(), role, enabled: isEnabled };
    if (user === null) void make.run({ body: { ...body, username: username.trim(), password } });
    else
      void change.run({
        params: { id: user.id },
        body: { ...body, ...(password !== '' && { password }) },
      });
  };
  return (
    <Dialog
      title={say(user === null ? 'settings.user.create' : 'settings.user.edit')}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="main" isPending={make.isPending || change.isPending} onPress={save}>
          {say(user === null ? 'settings.create' : 'action.save')}
        </Button>
      }
    >
      {failure !== null && !isAtField && (
        <Callout tone="fault" isAlert>
          {problemText(failure)}
        </Callout>
      )}
      {user === null && (
        <TextField
          label={say('login.username')}
          value={username}
          onChange={setUsername}
          error={fieldProblem(failure, 'username')}
          autoComplete="off"
          isCode
          autoFocus
        />
      )}
      <TextField
        label={say('settings.user.shown')}
        value={displayName}
        onChange={setDisplayName}
        error={fieldProblem(failure, 'display_name')}
      />
      <TextField
        label={say(user === null ? 'field.password' : 'settings.user.newPassword')}
        help={say(user === null ? 'setup.short' : 'settings.user.newPassword.help')}
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        error={fieldProblem(failure, 'password')}
      />
      <SelectField
        label={say('settings.role')}
        value={role}
        onChange={setRole}
        error={fieldProblem(failure, 'role')}
        choices={ROLES.map((id) => ({
          id,
          text: say(`settings.role.${id}`),
          help: say(`settings.role.${id}.help`),
        }))}
      />
      <SwitchField isSelected={isEnabled} onChange={setEnabled}>
        {say('settings.user.mayLogIn')}
      </SwitchField>
    </Dialog>
  );
}
