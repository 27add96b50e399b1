/** First page of a new installation. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { LoginLayout } from './login-layout.tsx';
import { SetupForm } from './setup-form.tsx';

interface SetupPageProps {
  /** File on the server with the setup code; null if no code is needed. */
  readonly codeFile: string | null;
  readonly onDone: () => void;
}

export default function SetupPage({ codeFile, onDone }: SetupPageProps): ReactNode {
  const { say } = useText();
  return (
    <LoginLayout title={say('setup.title')} lead={say('setup.lead')}>
      <SetupForm codeFile={codeFile} onDone={onDone} />
    </LoginLayout>
  );
}
