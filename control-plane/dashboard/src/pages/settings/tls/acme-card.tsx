/** A certificate from an ACME server: a button that orders the certificate, the progress, and the next renewal. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { ForAdmins } from '../../../api/session.tsx';
import { refreshAll } from '../../../api/store.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { useFaultText } from '../../../api/faults/use-fault-text.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import { Answered, Callout } from '../../../ui/display/states.tsx';
import { Facts } from '../../../ui/display/values.tsx';

type Acme = AnswerOf<'GET /tls/acme'>;

/** Polling intervals while an order is in progress, and while none is. */
const [BUSY_MS, IDLE_MS] = [1000, 30_000];

/** The card. */
export function AcmeCard(): ReactNode {
  const { say } = useText();
  const status = useAsk(
    'GET /tls/acme',
    {},
    { everyMs: (last) => ((last?.step ?? null) === null ? IDLE_MS : BUSY_MS) },
  );
  return (
    <Card title={say('acme.title')}>
      <Answered of={status} lines={3}>
        {(acme) => (acme.names.length === 0 ? <NotSetUp /> : <SetUp acme={acme} />)}
      </Answered>
    </Card>
  );
}

function NotSetUp(): ReactNode {
  const { say } = useText();
  return (
    <>
      <p>{say('acme.text')}</p>
      <ForAdmins>
        <SettingsLink />
      </ForAdmins>
    </>
  );
}

function SettingsLink(): ReactNode {
  const { say } = useText();
  return (
    <Link to="/settings?part=server&search=acme" className="button-link">
      {say('acme.settings')}
    </Link>
  );
}

function SetUp({ acme }: { readonly acme: Acme }): ReactNode {
  const { say, format } = useText();
  const { names, directory_url: server, challenge, step, error, ended_at: ended, next_order_at: next } = acme;
  const order = useChange('POST /tls/acme');
  const translate = useFaultText();
  useFreshCertificate(ended);
  const facts: (readonly [string, ReactNode])[] = [
    [say('field.names'), <bdi key="names">{names.join(', ')}</bdi>],
    [say('acme.server'), <bdi key="server">{new URL(server).host}</bdi>],
    [say('acme.challenge'), challenge],
  ];
  if (next !== null) facts.push([say('acme.next'), format.moment(next)]);
  return (
    <Stack>
      <Facts facts={facts} />
      <div role="status">
        {step !== null && <Callout tone="info">{say(`acme.step.${step}`)}</Callout>}
        {step === null && error !== null && (
          <Callout tone="fault">{say('acme.failed', { reason: translate(error) })}</Callout>
        )}
        {step === null && error === null && ended !== null && (
          <Callout tone="good">{say('acme.done', { ago: format.ago(ended) })}</Callout>
        )}
      </div>
      <ForAdmins>
        <Bar>
          <Button isPending={order.isPending || step !== null} onPress={() => void order.run({})}>
            {say('acme.order')}
          </Button>
          <SettingsLink />
        </Bar>
      </ForAdmins>
    </Stack>
  );
}

/** Reads the certificate again after each order. */
function useFreshCertificate(ended: string | null): void {
  const store = useQueryClient();
  useEffect(() => {
    if (ended !== null) void refreshAll(store);
  }, [ended, store]);
}
