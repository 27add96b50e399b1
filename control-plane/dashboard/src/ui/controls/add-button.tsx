/** Button that adds something; only administrators see it. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { Button } from './button.tsx';

interface AddButtonProps {
  readonly text: string;
  readonly onPress: () => void;
}

export function AddButton({ text, onPress }: AddButtonProps): ReactNode {
  return (
    <ForAdmins>
      <Button kind="main" icon={Plus} onPress={onPress}>
        {text}
      </Button>
    </ForAdmins>
  );
}

interface AddWithProps {
  readonly text: string;
  /** The form that the button opens. */
  readonly form: (close: () => void) => ReactNode;
}

export function AddWith({ text, form }: AddWithProps): ReactNode {
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <AddButton text={text} onPress={() => setAdding(true)} />
      {isAdding && form(() => setAdding(false))}
    </>
  );
}
