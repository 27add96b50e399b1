/** A form in a window: what it changes is saved by its button or by Enter, and dropped by Cancel. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Stack } from '../display/page.tsx';
import { SubmitForm } from '../controls/submit-form.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  readonly title: string;
  /** Text of the button that saves; "Save" by default. */
  readonly saveText?: string;
  /** Whether it can be sent. */
  readonly isReady?: boolean;
  readonly isPending?: boolean;
  readonly onSave: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The window, open. */
export function FormDialog(props: FormDialogProps): ReactNode {
  const { title, saveText, isReady = true, isPending = false, onSave, onClose, children } = props;
  const { say } = useText();
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="main" isDisabled={!isReady} isPending={isPending} onPress={onSave}>
            {saveText ?? say('action.save')}
          </Button>
        </>
      }
    >
      <SubmitForm
        onSubmit={() => {
          if (isReady && !isPending) onSave();
        }}
      >
        <Stack>
          {children}
          <button type="submit" hidden />
        </Stack>
      </SubmitForm>
    </Dialog>
  );
}
