/** The first page of a fresh server. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { FrontDoor } from './front-door.tsx';
import { SetupForm } from './setup-form.tsx';

/** The page. */
export default function SetupDoor({ onDone }: { readonly onDone: () => void }): ReactNode {
  const { say } = useText();
  return (
    <FrontDoor title={say('setup.title')} lead={say('setup.lead')}>
      <SetupForm onDone={onDone} />
    </FrontDoor>
  );
}
