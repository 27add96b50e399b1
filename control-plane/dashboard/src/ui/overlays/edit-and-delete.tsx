/** Edit and Delete buttons of a page or drawer; only administrators see them. */
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Confirm } from './confirm.tsx';

interface EditAndDeleteProps {
  readonly name: string;
  readonly form: (close: () => void) => ReactNode;
  readonly onDelete: () => Promise<unknown>;
  readonly isPending: boolean;
  /** Consequences of the deletion. */
  readonly children: ReactNode;
}

/** The buttons with the form and the confirmation that they open. */
export function EditAndDelete({ name, form, onDelete, isPending, children }: EditAndDeleteProps): ReactNode {
  const { say } = useText();
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null);
  const stop = (): void => setDoing(null);
  return (
    <ForAdmins>
      <Button icon={Pencil} onPress={() => setDoing('edit')}>
        {say('action.edit')}
      </Button>
      <Button kind="danger" icon={Trash2} onPress={() => setDoing('delete')}>
        {say('action.delete')}
      </Button>
      {doing === 'edit' && form(stop)}
      {doing === 'delete' && (
        <Confirm
          title={say('action.deleteOf', { name })}
          isPending={isPending}
          onClose={stop}
          onConfirm={() => void onDelete().then(stop)}
        >
          {children}
        </Confirm>
      )}
    </ForAdmins>
  );
}
