/** Asks for confirmation before an action that is hard to undo. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Text of the button; "Delete" by default. */
  readonly action?: string;
  readonly isOpen?: boolean;
  readonly isPending?: boolean;
  /** Called when the user confirms; null = there is nothing to confirm, and no button is shown. */
  readonly onConfirm: (() => void) | null;
  readonly onClose: () => void;
}

/** A question with a button that names the action. */
export function Confirm(props: ConfirmProps): ReactNode {
  const { title, children, action, isOpen = true, isPending = false, onConfirm, onClose } = props;
  const { say } = useText();
  return (
    <Dialog
      role="alertdialog"
      title={title}
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose} autoFocus>
            {say('action.cancel')}
          </Button>
          {onConfirm !== null && (
            <Button kind="danger" onPress={onConfirm} isPending={isPending}>
              {action ?? say('action.delete')}
            </Button>
          )}
        </>
      }
    >
      {children}
    </Dialog>
  );
}
