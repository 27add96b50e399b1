/** A certificate that Weir signs itself. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Bar, Card } from '../../../ui/display/page.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';

interface OwnCertificateProps {
  /** There is a good one, which would go. */
  readonly isReplacing: boolean;
}

/** The card. */
export function OwnCertificate({ isReplacing }: OwnCertificateProps): ReactNode {
  const { say } = useText();
  const [isAsked, setAsked] = useState(false);
  const make = useChange('POST /tls/generate', { done: 'tls.replaced', onDone: () => setAsked(false) });
  return (
    <Card title={say('tls.own')}>
      <p>{say('tls.own.text')}</p>
      <Bar>
        <Button
          isPending={make.isPending}
          onPress={() => {
            if (isReplacing) setAsked(true);
            else void make.run({});
          }}
        >
          {say('tls.own.make')}
        </Button>
      </Bar>
      <Confirm
        title={say('tls.own.title')}
        action={say('tls.own.make')}
        isOpen={isAsked}
        isPending={make.isPending}
        onConfirm={() => void make.run({ query: { force: 'true' } })}
        onClose={() => setAsked(false)}
      >
        <p>{say('tls.own.gone')}</p>
      </Confirm>
    </Card>
  );
}
