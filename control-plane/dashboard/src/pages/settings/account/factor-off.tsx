/** Switches the second factor off, after the password. */
import type { ReactNode } from 'react';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Dialog } from '../../../ui/overlays/dialog.tsx';
import { PasswordStep } from './password-step.tsx';

/** The dialog. */
export function FactorOff({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const disable = useChange('POST /auth/second-factor/disable', {
    done: 'account.factor.turnedOff',
    quiet: true,
    onDone: onClose,
  });
  return (
    <Dialog title={say('account.factor.turnOff')} isOpen onClose={onClose}>
      <PasswordStep
        text={say('account.factor.turnOff.text')}
        action={say('account.factor.turnOff')}
        kind="danger"
        failure={disable.failure}
        isPending={disable.isPending}
        onPassword={(password) => void disable.run({ body: { password } })}
      />
    </Dialog>
  );
}
