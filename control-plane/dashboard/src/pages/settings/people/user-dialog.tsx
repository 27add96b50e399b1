/** Adds or edits a user. */
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { useText } from '../../../i18n/text.ts';
import { SelectField, SwitchField, TextField } from '../../../ui/controls/fields.tsx';
import { FormFault } from '../../../ui/display/states.tsx';
import { useChanges } from '../../../api/use-change.ts';
import { useFields } from '../../../api/use-fields.ts';
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx';
import { DevicesField } from './devices-field.tsx';

/** A user account. */
export type User = AnswerOf<'GET /users'>[number];

interface UserDialogProps {
  /** The user to edit; null to add a new one. */
  readonly user: User | null;
  readonly onClose: () => void;
}

const FIELDS = ['username', 'display_name', 'password', 'role', 'client_ids', 'enabled'];

/** Roles in ascending order of their rights. */
const ROLES = ['family', 'viewer', 'admin'] as const;
type Role = (typeof ROLES)[number];
/** Roles that a token can have. */
export const TOKEN_ROLES = ['viewer', 'admin'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export function UserDialog({ user, onClose }: UserDialogProps): ReactNode {
  const { say } = useText();
  const { run, failure, isPending } = useChanges({
    done: user === null ? 'settings.user.created' : 'settings.saved',
    quiet: true,
    onDone: onClose,
  });
  const start = {
    username: user?.username ?? '',
    displayName: user?.display_name ?? '',
    password: '',
    role: user?.role ?? ('viewer' as const),
    clientIds: (user?.client_ids ?? []) as readonly number[],
    enabled: user?.enabled ?? true,
  };
  const { fields, bind, bindToggle } = useFields(start, failure);
  const { username, displayName, password, role, clientIds, enabled } = fields;
  const save = (): void => {
    const devices = { client_ids: role === 'family' ? [...clientIds] : [] };
    const body = { display_name: displayName.trim(), role, ...devices, enabled };
    if (user === null) void run('POST /users', { body: { ...body, username: username.trim(), password } });
    else
      void run('PATCH /users/{id}', {
        params: { id: user.id },
        body: { ...body, ...(password !== '' && { password }) },
      });
  };
  return (
    <FormDialog
      title={say(user === null ? 'settings.user.create' : 'settings.user.edit')}
      {...(user === null && { saveText: say('settings.create') })}
      isPending={isPending}
      onSave={save}
      onClose={onClose}
    >
      <FormFault failure={failure} fields={FIELDS} />
      {user === null && (
        <TextField label={say('login.username')} {...bind('username')} autoComplete="off" isCode autoFocus />
      )}
      <TextField label={say('settings.user.shown')} {...bind('displayName', 'display_name')} />
      <TextField
        label={say(user === null ? 'field.password' : 'settings.user.newPassword')}
        help={say(user === null ? 'setup.short' : 'settings.user.newPassword.help')}
        type="password"
        autoComplete="new-password"
        {...bind('password')}
      />
      <RoleField roles={ROLES} {...bind('role')} />
      {role === 'family' && <DevicesField {...bind('clientIds', 'client_ids')} />}
      <SwitchField {...bindToggle('enabled')}>{say('settings.user.mayLogIn')}</SwitchField>
    </FormDialog>
  );
}

interface RoleFieldProps<One extends Role> {
  readonly roles: readonly One[];
  readonly value: One;
  readonly onChange: (role: One) => void;
  readonly error?: string | null;
}

/** Choice of a role. */
export function RoleField<One extends Role>({ roles, ...props }: RoleFieldProps<One>): ReactNode {
  const { say } = useText();
  return (
    <SelectField
      label={say('settings.role')}
      choices={roles.map((id) => ({
        id,
        text: say(`settings.role.${id}`),
        help: say(`settings.role.${id}.help`),
      }))}
      {...props}
    />
  );
}
