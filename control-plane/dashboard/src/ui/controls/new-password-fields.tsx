/** Fields for a new password, which the user enters twice because its text is hidden. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { TextField } from './fields.tsx';
import { passwordFaults } from './new-password.ts';
import type { TypedPassword } from './new-password.ts';

interface NewPasswordFieldsProps {
  readonly label: string;
  readonly help: string;
  readonly value: TypedPassword;
  readonly onChange: (value: TypedPassword) => void;
  readonly autoFocus?: boolean;
}

export function NewPasswordFields({
  label,
  help,
  value,
  onChange,
  autoFocus = false,
}: NewPasswordFieldsProps): ReactNode {
  const { say } = useText();
  const { isShort, differs } = passwordFaults(value);
  return (
    <>
      <TextField
        label={label}
        help={help}
        error={isShort ? say('setup.short') : null}
        value={value.password}
        onChange={(password) => onChange({ ...value, password })}
        type="password"
        autoComplete="new-password"
        autoFocus={autoFocus}
        isRequired
      />
      <TextField
        label={say('setup.repeat')}
        error={differs ? say('setup.differs') : null}
        value={value.repeated}
        onChange={(repeated) => onChange({ ...value, repeated })}
        type="password"
        autoComplete="new-password"
        isRequired
      />
    </>
  );
}
