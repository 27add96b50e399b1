/** Applies decisions about rows. */
import { useQueryClient } from '@tanstack/react-query';
import { ask } from '../../../api/ask.ts';
import { notify } from '../../../api/notices.ts';
import { problemText } from '../../../api/problem-text.ts';
import { refreshAll } from '../../../api/store.ts';
import { useChange } from '../../../api/use-change.ts';
import type { Say } from '../../../i18n/say.ts';
import { useText } from '../../../i18n/text.ts';
import { grantOf, madeBy, ruleDomainOf } from './verdicts.ts';
import type { Grant, Verdict, VerdictTarget } from './verdicts.ts';

/** Applies a decision to a row. */
export interface VerdictActor {
  readonly apply: (verdict: Verdict, target: VerdictTarget) => void;
  readonly endGrant: (id: number) => void;
  readonly isPending: boolean;
}

/** Each notice has a button that ends the grant or undoes the rule. `onDone` runs after the decision. */
export function useVerdict(onDone?: () => void): VerdictActor {
  const { say, format } = useText();
  const store = useQueryClient();
  const end = useChange('DELETE /grants/{id}', { done: 'grants.ended' });
  const grant = useChange('POST /grants', {
    onDone: ({ id, ...made }: Grant) => {
      notify({
        tone: 'good',
        text: grantText(made, say, format.time),
        action: { text: say('queries.grant.end'), run: () => void end.run({ params: { id } }) },
      });
      onDone?.();
    },
  });
  const ruled = { onDone: () => onDone?.() };
  const allowRule = useChange('POST /managed-domains', { done: 'queries.rule.allowed', ...ruled });
  const blockRule = useChange('POST /managed-domains', { done: 'queries.rule.blocked', ...ruled });

  async function apply(verdict: Verdict, target: VerdictTarget): Promise<void> {
    const { action, scope } = verdict;
    const { domain, groupId, status } = target;
    if (madeBy(verdict, status) === 'rule') {
      const body = {
        domain: ruleDomainOf(verdict, domain),
        group_id: scope === 'group' ? groupId : null,
        comment: say('queries.rule.comment'),
      };
      if (action === 'allow') await allowRule.run({ body: { ...body, action: 'allow' } });
      else await blockRule.run({ body: { ...body, action: 'deny' } });
      return;
    }
    const holder = scope === 'client' ? { client_id: await clientIdOf(target) } : {};
    const group = scope === 'group' ? { group_id: groupId } : {};
    await grant.run({ body: grantOf(verdict, domain, { ...holder, ...group }, new Date()) });
  }

  return {
    apply: (verdict, target) =>
      void apply(verdict, target).catch((error: unknown) => {
        notify({ tone: 'fault', text: problemText(error) });
        void refreshAll(store);
      }),
    endGrant: (id) => void end.run({ params: { id } }),
    isPending: grant.isPending || allowRule.isPending || blockRule.isPending,
  };
}

/** Text about the effect and the end of a grant. */
export function grantText(
  { action, domain, subdomains, until }: Pick<Grant, 'action' | 'domain' | 'subdomains' | 'until'>,
  say: Say,
  momentText: (moment: string) => string,
): string {
  const everything = domain ?? say('queries.grant.everything');
  const name = subdomains ? everything : say('queries.grant.nameOnly', { name: everything });
  if (until === null)
    return say(action === 'allow' ? 'queries.grant.allowedOpen' : 'queries.grant.blockedOpen', { name });
  return say(action === 'allow' ? 'queries.grant.allowed' : 'queries.grant.blocked', {
    name,
    until: momentText(until),
  });
}

/** Id of the client with this address; null if there is none. */
export async function knownClientId(address: string): Promise<number | null> {
  const { data: found } = await ask('GET /clients', { query: { search: address, limit: 1_000 } });
  return found.find(({ ip_address: known }) => known === address)?.id ?? null;
}

/** Id of the row's client; creates the client if it does not exist yet. */
async function clientIdOf({ client, clientId }: VerdictTarget): Promise<number> {
  if (clientId !== null) return clientId;
  if (client === null) throw new Error('a decision without a client is for a group or everyone');
  const known = await knownClientId(client);
  if (known !== null) return known;
  const created = await ask('POST /clients', { body: { ip_address: client } });
  return created.id;
}
