/** Offers to let a domain answer with private addresses, for a name that rebinding protection has blocked. */
import type { ReactNode } from 'react';
import { ForAdmins } from '../../../api/session.tsx';
import { useAsk } from '../../../api/use-ask.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { exemptDomain, withDomain } from './private-answers.ts';

/** A list of texts; the answer of the configuration names no types. */
function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

/** The offer; nothing once the domain is exempt. */
export function PrivateException({ name }: { readonly name: string }): ReactNode {
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
          <Button isPending={change.isPending} onPress={() => void change.run({ body })}>
            {say('queries.private.allow', { domain })}
          </Button>
        }
      >
        {say(domain === 'ts.net' ? 'queries.private.tailscale' : 'queries.private.why')}
      </Callout>
    </ForAdmins>
  );
}
