/** Switches the second factor on: password, secret for the app, its first code, recovery codes. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { fieldProblem } from '../../../api/problem-text.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { CopyField } from '../../../ui/controls/copy-field.tsx';
import { TextField } from '../../../ui/controls/fields.tsx';
import { FormFault } from '../../../ui/display/states.tsx';
import { Bar, Stack } from '../../../ui/display/page.tsx';
import { QrCode } from '../../../ui/display/qr-code.tsx';
import { CodesDialog } from './recovery-codes.tsx';
import { SubmitForm } from '../../../ui/controls/submit-form.tsx';
import { PasswordStep } from './password-step.tsx';

type Secret = AnswerOf<'POST /auth/second-factor'>;

/** The dialog; once there are recovery codes, only its button closes it. */
export function FactorSetup({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const [secret, setSecret] = useState<Secret | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const prepare = useChange('POST /auth/second-factor', { quiet: true, onDone: setSecret });
  return (
    <CodesDialog
      title={say('account.factor.turnOn')}
      doneTitle={say('account.factor.turnedOn')}
      codes={codes}
      onClose={onClose}
    >
      {secret === null ? (
        <PasswordStep
          text={say('account.factor.turnOn.text')}
          action={say('account.factor.next')}
          failure={prepare.failure}
          isPending={prepare.isPending}
          onPassword={(password) => void prepare.run({ body: { password } })}
        />
      ) : (
        <CodeStep secret={secret} onCodes={setCodes} />
      )}
    </CodesDialog>
  );
}

interface CodeStepProps {
  readonly secret: Secret;
  readonly onCodes: (codes: readonly string[]) => void;
}

/** The secret for the app, and a code to show that it has it. */
function CodeStep({ secret, onCodes }: CodeStepProps): ReactNode {
  const { say } = useText();
  const [code, setCode] = useState('');
  const confirm = useChange('POST /auth/second-factor/confirm', {
    quiet: true,
    onDone: ({ recovery_codes: codes }) => onCodes(codes),
  });
  return (
    <SubmitForm onSubmit={() => void confirm.run({ body: { totp_code: code.trim() } })}>
      <Stack>
        <p>{say('account.factor.scan')}</p>
        <QrCode text={secret.uri} label={say('account.factor.qr')} />
        <CopyField label={say('account.factor.secret')} text={secret.secret} />
        <FormFault failure={confirm.failure} fields={['totp_code']} />
        <TextField
          label={say('account.factor.code')}
          help={say('account.factor.code.help')}
          value={code}
          onChange={setCode}
          error={fieldProblem(confirm.failure, 'totp_code')}
          autoComplete="one-time-code"
          inputMode="numeric"
          isCode
          isRequired
        />
        <Bar>
          <Button kind="main" type="submit" isPending={confirm.isPending}>
            {say('account.factor.turnOn')}
          </Button>
        </Bar>
      </Stack>
    </SubmitForm>
  );
}
