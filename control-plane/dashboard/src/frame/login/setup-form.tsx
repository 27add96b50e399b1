/** Setup of a new installation: the administrator's password. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { ask } from '../../api/ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/controls/fields.tsx';
import { isSettable, NO_PASSWORD } from '../../ui/controls/new-password.ts';
import { NewPasswordFields } from '../../ui/controls/new-password-fields.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { SubmitForm } from '../../ui/controls/submit-form.tsx';

interface SetupFormProps {
  /** File on the server with the setup code; null if no code is needed. */
  readonly codeFile: string | null;
  readonly onDone: () => void;
}

/** Sets the password and logs in. */
export function SetupForm({ codeFile, onDone }: SetupFormProps): ReactNode {
  const { say } = useText();
  const [typed, setTyped] = useState(NO_PASSWORD);
  const [setupCode, setSetupCode] = useState('');
  const [isCodeAsked, setCodeAsked] = useState(codeFile !== null);
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const { password } = typed;

  async function setUp(): Promise<void> {
    setPending(true);
    setFailure(null);
    try {
      const code = isCodeAsked ? { setup_code: setupCode.trim() } : {};
      await ask('POST /auth/setup', { body: { password, ...code } });
      await ask('POST /auth/login', { body: { username: 'admin', password } });
      onDone();
    } catch (error) {
      setFailure(error);
      if (error instanceof ApiFailure && error.problem?.error === 'setup_code_required') setCodeAsked(true);
    }
    setPending(false);
  }

  return (
    <SubmitForm
      onSubmit={() => {
        if (isSettable(typed)) void setUp();
      }}
    >
      <Stack>
        <FormFault failure={failure} />
        <input type="hidden" name="username" autoComplete="username" value="admin" />
        <NewPasswordFields
          label={say('field.password')}
          help={say('setup.password.help')}
          value={typed}
          onChange={setTyped}
          autoFocus
        />
        {isCodeAsked && (
          <TextField
            label={say('setup.code')}
            help={codeFile === null ? say('setup.code.help') : say('setup.code.file', { file: codeFile })}
            value={setupCode}
            onChange={setSetupCode}
            isCode
            isRequired
          />
        )}
        <Button kind="main" type="submit" isPending={isPending}>
          {say('setup.action')}
        </Button>
      </Stack>
    </SubmitForm>
  );
}
