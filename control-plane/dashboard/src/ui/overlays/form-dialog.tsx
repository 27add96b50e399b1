/** A form in a window: what it changes is saved by its button or by Enter, and dropped by Cancel. */
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Stack } from '../display/page.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  readonly title: string;
  /** On the button that saves. */
  readonly saveText: string;
  readonly isPending: boolean;
  readonly onSave: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The window, open. */
export function FormDialog({
  title,
  saveText,
  isPending,
  onSave,
  onClose,
  children,
}: FormDialogProps): ReactNode {
  const { say } = useText();
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="main" isPending={isPending} onPress={onSave}>
            {saveText}
          </Button>
        </>
      }
    >
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          onSave();
        }}
      >
        <Stack>
          {children}
          <button type="submit" hidden />
        </Stack>
      </Form>
    </Dialog>
  );
}
