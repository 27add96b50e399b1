/** The own second factor: whether it is on, and what can be done about it. */
import { KeyRound, ShieldCheck, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Bar, Card } from '../../../ui/display/page.tsx';
import { Answered, Callout } from '../../../ui/display/states.tsx';
import { FactorOff } from './factor-off.tsx';
import { FactorSetup } from './factor-setup.tsx';
import { NewRecoveryCodes } from './recovery-codes.tsx';

type Doing = 'on' | 'off' | 'codes';

/** With fewer, a lost phone is soon a lost account. */
const FEW_CODES = 3;

/** The card. */
export function FactorCard(): ReactNode {
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
