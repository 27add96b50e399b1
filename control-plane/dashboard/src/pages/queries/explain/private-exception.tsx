/** Offers to allow private addresses in answers for a name. The code is loaded only for answers with such addresses. */
import type { ReactNode } from 'react';
import { ForAdmins } from '../../../api/session.tsx';
import { useAsk } from '../../../api/use-ask.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { exemptDomain, withDomain } from './private-answers.ts';

/** The value if it is a list of strings, which the schema of the API does not guarantee; empty for other values. */
function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

/** Offers an exception; renders nothing if the domain already has one. */
export default function PrivateException({ name }: { readonly name: string }): ReactNode {
  const { say } = useText();
  const config = useAsk('GET /config', {});
  const change = useChange('PATCH /config', { done: 'queries.private.allowed' });
  if (config.data === undefined) return null;
  const domain = exemptDomain(name);
  const next = withDomain(textsOf(config.data.dns['rebinding_allowlist']), domain);
  if (next === null) return null;
  const body = { dns: { rebinding_allowlist: [...next] } };
  return (
    <ForAdmins>
      <Callout
        tone="info"
        actions={
          <Button isPending={change.isPending} onPress={() => void change.run({ query: {}, body })}>
            {say('queries.private.allow', { domain })}
          </Button>
        }
      >
        {say(domain === 'ts.net' ? 'queries.private.tailscale' : 'queries.private.why')}
      </Callout>
    </ForAdmins>
  );
}
