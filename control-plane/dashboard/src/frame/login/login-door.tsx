/** Login page. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { FrontDoor } from './front-door.tsx';
import { LoginForm } from './login-form.tsx';

export default function LoginDoor({ onLogin }: { readonly onLogin: () => void }): ReactNode {
  const { say } = useText();
  return (
    <FrontDoor title={say('login.action')}>
      <LoginForm onLogin={onLogin} />
    </FrontDoor>
  );
}
