/** Asks for the user's password before a change of the account. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../../ui/controls/button.tsx';
import type { ButtonKind } from '../../../ui/controls/button.tsx';
import { Bar, Stack } from '../../../ui/display/page.tsx';
import { SubmitForm } from '../../../ui/controls/submit-form.tsx';
import { ApiFailure } from '../../../../../../shared/api/client/typed-client.ts';
import { useText } from '../../../i18n/text.ts';
import { TextField } from '../../../ui/controls/fields.tsx';
import { FormFault } from '../../../ui/display/states.tsx';

interface PasswordStepProps {
  /** Explains why the password is needed and what happens next. */
  readonly text: string;
  readonly action: string;
  readonly kind?: ButtonKind;
  readonly failure: Error | null;
  readonly isPending: boolean;
  readonly onPassword: (password: string) => void;
}

export function PasswordStep(props: PasswordStepProps): ReactNode {
  const { text, action, kind = 'main', failure, isPending, onPassword } = props;
  const [password, setPassword] = useState('');
  return (
    <SubmitForm onSubmit={() => onPassword(password)}>
      <Stack>
        <p>{text}</p>
        <OwnPassword value={password} onChange={setPassword} failure={failure} autoFocus />
        <Bar>
          <Button kind={kind} type="submit" isPending={isPending}>
            {action}
          </Button>
        </Bar>
      </Stack>
    </SubmitForm>
  );
}

interface OwnPasswordProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /**
   * Error of the change. An error about a wrong password is shown at the field; all other errors are shown above the
   * field.
   */
  readonly failure: Error | null;
  readonly autoFocus?: boolean;
}

export function OwnPassword({ value, onChange, failure, autoFocus = false }: OwnPasswordProps): ReactNode {
  const { say } = useText();
  const isWrong = failure instanceof ApiFailure && failure.problem?.error === 'unauthorized';
  return (
    <>
      {!isWrong && <FormFault failure={failure} />}
      <TextField
        label={say('account.password.current')}
        error={isWrong ? say('account.password.wrong') : null}
        value={value}
        onChange={onChange}
        type="password"
        autoComplete="current-password"
        autoFocus={autoFocus}
        isRequired
      />
    </>
  );
}
