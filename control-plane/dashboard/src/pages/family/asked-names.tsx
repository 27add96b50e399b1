/** Requests of the user's devices to unblock a name, each with buttons to allow or dismiss it. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Bar } from '../../ui/display/page.tsx';
import { Callout } from '../../ui/display/states.tsx';
import { DomainName } from '../../ui/display/values.tsx';
import { AllowDialog } from './allow-dialog.tsx';

const REFRESH_MS = 10_000;

/** Renders the requests; renders nothing if there are none. */
export function AskedNames(): ReactNode {
  const { data: requests = [] } = useAsk('GET /unblock-requests', {}, { everyMs: REFRESH_MS });
  return requests.map((request) => <AskedName key={request.id} request={request} />);
}

function AskedName({ request }: { readonly request: AnswerOf<'GET /unblock-requests'>[number] }): ReactNode {
  const { say } = useText();
  const { id, domain, client_id: clientId, client_name: name } = request;
  const [isAllowing, setAllowing] = useState(false);
  const dismiss = useChange('DELETE /unblock-requests/{id}', { done: 'requests.dismissed' });
  const answered = useChange('DELETE /unblock-requests/{id}', { quiet: true });
  const close = (): void => setAllowing(false);
  return (
    <>
      <Callout
        tone="info"
        actions={
          <Bar>
            <Button onPress={() => setAllowing(true)}>{say('family.unblock')}</Button>
            <Button
              isPending={dismiss.isPending}
              aria-label={say('requests.dismissOf', { name })}
              onPress={() => void dismiss.run({ params: { id } })}
            >
              {say('requests.dismiss')}
            </Button>
          </Bar>
        }
      >
        {say('requests.of', { name })} <DomainName name={domain} />
      </Callout>
      {isAllowing && (
        <AllowDialog
          clientId={clientId}
          name={name}
          domain={domain}
          onDone={() => void answered.run({ params: { id } })}
          onClose={close}
        />
      )}
    </>
  );
}
