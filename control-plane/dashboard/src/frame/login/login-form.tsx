/** Login form, for the login page and for the dialog after a session has ended. */
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { ask } from '../../api/ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, TextField } from '../../ui/controls/fields.tsx';
import { Disclosure } from '../../ui/display/disclosure.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { SubmitForm } from '../../ui/controls/submit-form.tsx';
import { Callout, FormFault } from '../../ui/display/states.tsx';

interface LoginFormProps {
  /** User name of a session that has ended. */
  readonly username?: string | undefined;
  readonly onLogin: () => void;
}

/** User name, password, and the second factor code if the server requires one. */
export function LoginForm({ username: known, onLogin }: LoginFormProps): ReactNode {
  const { say, format } = useText();
  const [username, setUsername] = useState(known ?? 'admin');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [remember, setRemember] = useState(false);
  const [isCodeAsked, setCodeAsked] = useState(false);
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [secsLocked, lockFor] = useCountdown();

  async function logIn(): Promise<void> {
    setPending(true);
    setFailure(null);
    try {
      const second = isCodeAsked ? secondFactor(code) : {};
      await ask('POST /auth/login', { body: { username, password, remember_me: remember, ...second } });
      onLogin();
    } catch (error) {
      const waitSecs = error instanceof ApiFailure && error.status === 429 ? error.retryAfterSecs : null;
      if (isSecondFactorAsked(error)) setCodeAsked(true);
      else if (waitSecs !== null) lockFor(waitSecs);
      else setFailure(error);
    }
    setPending(false);
  }

  return (
    <SubmitForm onSubmit={() => void logIn()}>
      <Stack>
        {secsLocked > 0 ? (
          <Callout tone="warning" isAlert>
            {say('login.locked', { span: format.span(secsLocked) })}
          </Callout>
        ) : (
          <FormFault failure={failure} />
        )}
        <TextField
          label={say('login.username')}
          value={username}
          onChange={setUsername}
          name="username"
          autoComplete="username"
          isCode
          isRequired
        />
        <TextField
          label={say('field.password')}
          value={password}
          onChange={setPassword}
          type="password"
          name="password"
          autoComplete="current-password"
          autoFocus
          isRequired
        />
        {isCodeAsked && <CodeField value={code} onChange={setCode} />}
        <CheckboxField isSelected={remember} onChange={setRemember}>
          {say('login.remember')}
        </CheckboxField>
        <Button kind="main" type="submit" isPending={isPending} isDisabled={secsLocked > 0}>
          {say('login.action')}
        </Button>
        <ForgotPassword />
      </Stack>
    </SubmitForm>
  );
}

/** Explains who can set a new password, and how. Weir sends no email. */
function ForgotPassword(): ReactNode {
  const { say } = useText();
  return (
    <Disclosure title={say('login.forgot')}>
      <Stack>
        <p>{say('login.forgot.admin')}</p>
        <pre className="code" tabIndex={0} aria-label={say('login.forgot.command')}>
          sudo weir set-password
        </pre>
        <p>{say('login.forgot.others')}</p>
      </Stack>
    </Disclosure>
  );
}

interface CodeFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/**
 * Field for a code of an authenticator app, with a numeric keyboard on phones, or for a recovery code, which has
 * letters.
 */
function CodeField({ value, onChange }: CodeFieldProps): ReactNode {
  const { say } = useText();
  const [isRecovery, setRecovery] = useState(false);
  return (
    <>
      <TextField
        key={String(isRecovery)}
        label={say('login.code')}
        help={say(isRecovery ? 'login.code.recoveryHelp' : 'login.code.help')}
        value={value}
        onChange={onChange}
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        autoFocus
        isCode
        isRequired
      />
      <div>
        <Button kind="quiet" onPress={() => setRecovery(!isRecovery)}>
          {say(isRecovery ? 'login.code.app' : 'login.code.recovery')}
        </Button>
      </div>
    </>
  );
}

function isSecondFactorAsked(error: unknown): boolean {
  return error instanceof ApiFailure && error.problem?.error === 'second_factor_required';
}

/** Six digits are a code of an authenticator app; any other text is a recovery code. */
function secondFactor(text: string): { totp_code: string } | { recovery_code: string } {
  return /^\s*\d{3} ?\d{3}\s*$/.test(text) ? { totp_code: text.trim() } : { recovery_code: text.trim() };
}

/** Seconds left, and a function that starts the countdown. */
function useCountdown(): [secs: number, start: (secs: number) => void] {
  const [secs, setSecs] = useState(0);
  const isRunning = secs > 0;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setSecs((left) => Math.max(0, left - 1)), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return [secs, setSecs];
}
