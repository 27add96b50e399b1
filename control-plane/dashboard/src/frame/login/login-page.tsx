/** Login page. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { LoginLayout } from './login-layout.tsx';
import { LoginForm } from './login-form.tsx';

export default function LoginPage({ onLogin }: { readonly onLogin: () => void }): ReactNode {
  const { say } = useText();
  return (
    <LoginLayout title={say('login.action')}>
      <LoginForm onLogin={onLogin} />
    </LoginLayout>
  );
}
