/** The login above the page, whose work waits for it. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { LoginForm } from './login-form.tsx';

interface LoginAgainProps {
  /** The user whose session has ended. */
  readonly username: string | null;
  readonly onLogin: () => void;
}

/** Cannot be closed: nothing works without a session. */
export default function LoginAgain({ username, onLogin }: LoginAgainProps): ReactNode {
  const { say } = useText();
  return (
    <Dialog title={say('login.again')} isOpen onClose={() => undefined} isKept>
      <LoginForm username={username ?? undefined} onLogin={onLogin} />
    </Dialog>
  );
}
