/** Form dialog: the button or Enter saves the changes, Cancel discards them. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Stack } from '../display/page.tsx';
import { SubmitForm } from '../controls/submit-form.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  readonly title: string;
  /** Text of the submit button; "Save" by default. */
  readonly saveText?: string;
  /** Whether the form can be submitted. */
  readonly isReady?: boolean;
  readonly isPending?: boolean;
  readonly onSave: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

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
