/** First page of a new installation. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { FrontDoor } from './front-door.tsx';
import { SetupForm } from './setup-form.tsx';

interface SetupDoorProps {
  /** File on the server with the setup code; null if none is needed. */
  readonly codeFile: string | null;
  readonly onDone: () => void;
}

export default function SetupDoor({ codeFile, onDone }: SetupDoorProps): ReactNode {
  const { say } = useText();
  return (
    <FrontDoor title={say('setup.title')} lead={say('setup.lead')}>
      <SetupForm codeFile={codeFile} onDone={onDone} />
    </FrontDoor>
  );
}
