/** The password that somebody has now, asked for before their account changes. */
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../../shared/api/client/typed-client.ts';
import { useText } from '../../../i18n/text.ts';
import { TextField } from '../../../ui/controls/fields.tsx';
import { FormFault } from '../../../ui/display/states.tsx';

interface OwnPasswordProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Of the change: a wrong password is said by the field, the rest above it. */
  readonly failure: Error | null;
  readonly autoFocus?: boolean;
}

/** The field. */
export function OwnPassword({ value, onChange, failure, autoFocus = false }: OwnPasswordProps): ReactNode {
  const { say } = useText();
  const isWrong = failure instanceof ApiFailure && failure.problem?.error === 'unauthorized';
  return (
    <>
      {!isWrong && <FormFault failure={failure} fields={[]} />}
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
