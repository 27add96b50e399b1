/** The user's own account: password and second factor. */
import type { ReactNode } from 'react';
import { KeyRound, ShieldCheck, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import { Answered, Callout, FormFault } from '../../../ui/display/states.tsx';
import { CodesDialog, NewRecoveryCodes } from './recovery-codes.tsx';
import { useChange } from '../../../api/use-change.ts';
import { Dialog } from '../../../ui/overlays/dialog.tsx';
import { useMe } from '../../../api/session.tsx';
import { isSettable, NO_PASSWORD } from '../../../ui/controls/new-password.ts';
import { NewPasswordFields } from '../../../ui/controls/new-password-fields.tsx';
import styles from './account.module.css';
import { SubmitForm } from '../../../ui/controls/submit-form.tsx';
import { OwnPassword, PasswordStep } from './password-step.tsx';
import { fieldProblem } from '../../../api/problem-text.ts';
import { CopyField } from '../../../ui/controls/copy-field.tsx';
import { TextField } from '../../../ui/controls/fields.tsx';
import { QrCode } from '../../../ui/display/qr-code.tsx';

export default function AccountPart(): ReactNode {
  return (
    <>
      <PasswordCard />
      <FactorCard />
    </>
  );
}

type Doing = 'on' | 'off' | 'codes';

/** Number of recovery codes below which the page shows a warning. */
const FEW_CODES = 3;

/** Card about the user's second factor. */
function FactorCard(): ReactNode {
  const { say } = useText();
  const state = useAsk('GET /auth/second-factor', {});
  const [doing, setDoing] = useState<Doing | null>(null);
  const stop = (): void => setDoing(null);
  return (
    <Card title={say('account.factor')}>
      <Answered of={state}>{(factor) => <FactorState factor={factor} onDo={setDoing} />}</Answered>
      {doing === 'on' && <FactorSetup onClose={stop} />}
      {doing === 'off' && <FactorOff onClose={stop} />}
      {doing === 'codes' && <NewRecoveryCodes onClose={stop} />}
    </Card>
  );
}

interface FactorStateProps {
  readonly factor: AnswerOf<'GET /auth/second-factor'>;
  readonly onDo: (doing: Doing) => void;
}

function FactorState({ factor, onDo }: FactorStateProps): ReactNode {
  const { say } = useText();
  const { enabled, recovery_codes_left: left } = factor;
  if (!enabled)
    return (
      <>
        <p>{say('account.factor.off')}</p>
        <Bar>
          <Button kind="main" icon={ShieldCheck} onPress={() => onDo('on')}>
            {say('account.factor.turnOn')}
          </Button>
        </Bar>
      </>
    );
  return (
    <>
      <Callout tone={left < FEW_CODES ? 'warning' : 'good'}>{say('account.factor.on', { left })}</Callout>
      <Bar>
        <Button icon={KeyRound} onPress={() => onDo('codes')}>
          {say('account.codes.renew')}
        </Button>
        <Button kind="danger" icon={ShieldOff} onPress={() => onDo('off')}>
          {say('account.factor.turnOff')}
        </Button>
      </Bar>
    </>
  );
}

/** Requests the password, then disables the second factor. */
function FactorOff({ onClose }: { readonly onClose: () => void }): ReactNode {
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

/** Card for changing the user's password. */
function PasswordCard(): ReactNode {
  const { say } = useText();
  const { username } = useMe();
  const [current, setCurrent] = useState('');
  const [typed, setTyped] = useState(NO_PASSWORD);
  const change = useChange('POST /auth/change-password', {
    done: 'account.password.changed',
    quiet: true,
    onDone: () => {
      setCurrent('');
      setTyped(NO_PASSWORD);
    },
  });
  return (
    <Card title={say('field.password')}>
      <SubmitForm
        className={styles['form'] ?? ''}
        onSubmit={() => {
          if (isSettable(typed))
            void change.run({ body: { current_password: current, new_password: typed.password } });
        }}
      >
        <Stack>
          <input type="hidden" name="username" autoComplete="username" value={username ?? ''} />
          <OwnPassword value={current} onChange={setCurrent} failure={change.failure} />
          <NewPasswordFields
            label={say('settings.user.newPassword')}
            help={say('account.password.help')}
            value={typed}
            onChange={setTyped}
          />
          <Bar>
            <Button kind="main" type="submit" isPending={change.isPending}>
              {say('account.password.change')}
            </Button>
          </Bar>
        </Stack>
      </SubmitForm>
    </Card>
  );
}

type Secret = AnswerOf<'POST /auth/second-factor'>;

/** While recovery codes are shown, only its button closes the dialog. */
function FactorSetup({ onClose }: { readonly onClose: () => void }): ReactNode {
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

/** Shows the secret for the authenticator app, and asks for a code to prove that the app has the secret. */
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
