/**
 * Login dialog for a session that ended while the page was open. Requests of the page wait until the user has logged
 * in.
 */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { LoginForm } from './login-form.tsx';

interface LoginAgainProps {
  /** The user whose session has ended. */
  readonly username: string | null;
  readonly onLogin: () => void;
}

/** The dialog cannot be closed, because nothing works without a session. */
export default function LoginAgain({ username, onLogin }: LoginAgainProps): ReactNode {
  const { say } = useText();
  return (
    <Dialog title={say('login.again')} isOpen onClose={() => undefined} isKept>
      <LoginForm username={username ?? undefined} onLogin={onLogin} />
    </Dialog>
  );
}
