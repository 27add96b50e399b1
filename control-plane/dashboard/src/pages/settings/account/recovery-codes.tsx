/** Shows recovery codes once, so that the user can copy or print them, and can replace the codes. */
import { Printer } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useMe } from '../../../api/session.tsx';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { CopyField } from '../../../ui/controls/copy-field.tsx';
import { Bar } from '../../../ui/display/page.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { Dialog } from '../../../ui/overlays/dialog.tsx';
import styles from './account.module.css';
import { PasswordStep } from './password-step.tsx';

/** When the user prints, the page prints only the codes. */
function RecoveryCodes({ codes }: { readonly codes: readonly string[] }): ReactNode {
  const { say } = useText();
  const { username } = useMe();
  return (
    <div className={styles['codes']}>
      <Callout tone="warning">{say('account.codes.once')}</Callout>
      <CopyField label={say('account.codes.of', { username: username ?? '' })} text={codes.join('\n')} />
      <Bar>
        <Button icon={Printer} onPress={() => print()}>
          {say('account.codes.print')}
        </Button>
      </Bar>
    </div>
  );
}

interface CodesDialogProps {
  readonly title: string;
  /** Title of the dialog while the codes are shown. */
  readonly doneTitle: string;
  readonly codes: readonly string[] | null;
  readonly onClose: () => void;
  /** Steps before the codes are shown. */
  readonly children: ReactNode;
}

/**
 * Dialog with steps that end with recovery codes. While the codes are shown, only the button in the dialog closes it.
 */
export function CodesDialog({ title, doneTitle, codes, onClose, children }: CodesDialogProps): ReactNode {
  const { say } = useText();
  if (codes === null)
    return (
      <Dialog title={title} isOpen onClose={onClose}>
        {children}
      </Dialog>
    );
  return (
    <Dialog
      title={doneTitle}
      isOpen
      isKept
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          {say('account.codes.kept')}
        </Button>
      }
    >
      <RecoveryCodes codes={codes} />
    </Dialog>
  );
}

/** Button that replaces the recovery codes. */
export function NewRecoveryCodes({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renew = useChange('POST /auth/second-factor/recovery-codes', {
    quiet: true,
    onDone: ({ recovery_codes: made }) => setCodes(made),
  });
  return (
    <CodesDialog
      title={say('account.codes.renew')}
      doneTitle={say('account.codes')}
      codes={codes}
      onClose={onClose}
    >
      <PasswordStep
        text={say('account.codes.renew.text')}
        action={say('account.codes.renew')}
        failure={renew.failure}
        isPending={renew.isPending}
        onPassword={(password) => void renew.run({ body: { password } })}
      />
    </CodesDialog>
  );
}
