/** Asks for the passphrase of a backup with secrets. */
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { TextField } from '../../../ui/controls/fields.tsx';
import { Bar } from '../../../ui/display/page.tsx';

interface RestorePassphraseProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Whether it has opened the backup. */
  readonly isCompared: boolean;
  readonly isPending: boolean;
  readonly onCompare: () => void;
}

/** The field, and a button until the backup is compared. */
export function RestorePassphrase({
  value,
  onChange,
  isCompared,
  isPending,
  onCompare,
}: RestorePassphraseProps): ReactNode {
  const { say } = useText();
  return (
    <>
      <TextField
        label={say('restore.passphrase')}
        help={say('restore.passphrase.help')}
        value={value}
        onChange={onChange}
        type="password"
        autoComplete="off"
        isRequired
      />
      {!isCompared && (
        <Bar>
          <Button kind="main" isDisabled={value === ''} isPending={isPending} onPress={onCompare}>
            {say('restore.compare')}
          </Button>
        </Bar>
      )}
    </>
  );
}
