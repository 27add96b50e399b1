/** Carries decisions about rows out. */
import { useQueryClient } from '@tanstack/react-query';
import { ask } from '../../../api/ask.ts';
import { notify } from '../../../api/notices.ts';
import { problemText } from '../../../api/problem-text.ts';
import { refreshAll } from '../../../api/store.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { grantOf } from './verdicts.ts';
import type { Grant, Verdict, VerdictTarget } from './verdicts.ts';

/** Decides about a row. */
export interface Judge {
  readonly judge: (verdict: Verdict, target: VerdictTarget) => void;
  readonly endGrant: (id: number) => void;
  readonly isPending: boolean;
}

/** Grants tell their end, and offer to end them now; a rule for ever offers to undo it. */
export function useVerdict(): Judge {
  const { say, format } = useText();
  const store = useQueryClient();
  const end = useChange('DELETE /grants/{id}', { done: 'queries.grant.ended' });
  const grant = useChange('POST /grants', {
    onDone: ({ id, action, domain, until }: Grant) =>
      notify({
        tone: 'good',
        text: say(action === 'allow' ? 'queries.grant.allowed' : 'queries.grant.blocked', {
          name: domain ?? '',
          until: format.time(until),
        }),
        action: { text: say('queries.grant.end'), run: () => void end.run({ params: { id } }) },
      }),
  });
  const allowRule = useChange('POST /managed-domains', { done: 'queries.rule.allowed' });
  const blockRule = useChange('POST /managed-domains', { done: 'queries.rule.blocked' });

  async function judge({ action, scope, span }: Verdict, target: VerdictTarget): Promise<void> {
    const { domain, groupId } = target;
    if (span === 'ever') {
      const body = { domain, group_id: groupId, comment: say('queries.rule.comment') };
      if (action === 'allow') await allowRule.run({ body: { ...body, action: 'allow' } });
      else await blockRule.run({ body: { ...body, action: 'deny' } });
      return;
    }
    const holder = scope === 'group' ? { group_id: groupId } : { client_id: await clientIdOf(target) };
    await grant.run({ body: grantOf({ action, span }, domain, holder, new Date()) });
  }

  return {
    judge: (verdict, target) =>
      void judge(verdict, target).catch((error: unknown) => {
        notify({ tone: 'fault', text: problemText(error) });
        void refreshAll(store);
      }),
    endGrant: (id) => void end.run({ params: { id } }),
    isPending: grant.isPending || allowRule.isPending || blockRule.isPending,
  };
}

/** The client that has this address; null where there is none. */
export async function knownClientId(address: string): Promise<number | null> {
  const { data: found } = await ask('GET /clients', { query: { search: address, limit: 1_000 } });
  return found.find(({ ip_address: known }) => known === address)?.id ?? null;
}

/** The client of a row; one that is not known yet is created. */
async function clientIdOf({ client, clientId }: VerdictTarget): Promise<number> {
  const known = clientId ?? (await knownClientId(client));
  if (known !== null) return known;
  const created = await ask('POST /clients', { body: { ip_address: client } });
  return created.id;
}
