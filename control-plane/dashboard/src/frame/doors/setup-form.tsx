/** The first steps on a fresh server: the password of the administrator. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { ask } from '../../api/ask.ts';
import { problemText } from '../../api/problem-text.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/controls/fields.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Callout } from '../../ui/display/states.tsx';

/** Of the API: `NewPassword`. */
const LEAST_LENGTH = 8;

/** Sets the password, and logs in with it. */
export function SetupForm({ onDone }: { readonly onDone: () => void }): ReactNode {
  const { say } = useText();
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [setupCode, setSetupCode] = useState('');
  const [isCodeAsked, setCodeAsked] = useState(false);
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const isShort = password !== '' && password.length < LEAST_LENGTH;
  const differs = repeated !== '' && repeated !== password;

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
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isShort && repeated === password) void setUp();
      }}
    >
      <Stack>
        {failure !== null && (
          <Callout tone={isCodeAsked ? 'info' : 'fault'} isAlert>
            {problemText(failure)}
          </Callout>
        )}
        <input type="hidden" name="username" autoComplete="username" value="admin" />
        <TextField
          label={say('setup.password')}
          help={say('setup.password.help')}
          error={isShort ? say('setup.short') : null}
          value={password}
          onChange={setPassword}
          type="password"
          autoComplete="new-password"
          autoFocus
          isRequired
        />
        <TextField
          label={say('setup.repeat')}
          error={differs ? say('setup.differs') : null}
          value={repeated}
          onChange={setRepeated}
          type="password"
          autoComplete="new-password"
          isRequired
        />
        {isCodeAsked && (
          <TextField
            label={say('setup.code')}
            help={say('setup.code.help')}
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
    </Form>
  );
}
