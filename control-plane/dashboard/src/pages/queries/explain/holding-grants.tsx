/**
 * Temporary rules that are active for a name and a client, each with a button that ends it, and a link to the client.
 */
import { useQuery } from '@tanstack/react-query';
import { UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ForAdmins } from '../../../api/session.tsx';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { grantText, knownClientId } from './use-verdict.ts';
import type { VerdictActor } from './use-verdict.ts';
import { scopeOf, touches } from './verdicts.ts';
import type { VerdictTarget } from './verdicts.ts';
import styles from './explain.module.css';

/** Active grants for this name and client. */
export function HoldingGrants({
  target,
  verdicts,
}: {
  readonly target: VerdictTarget;
  readonly verdicts: VerdictActor;
}): ReactNode {
  const { say, format } = useText();
  const { domain, client, clientId, groupId } = target;
  const found = useQuery({
    queryKey: ['GET /clients', { id: client }],
    queryFn: () => (client === null ? null : knownClientId(client)),
    enabled: clientId === null && client !== null,
  });
  const known = clientId ?? found.data ?? null;
  const grants = useAsk('GET /grants', {});
  const holding = (grants.data ?? []).filter((grant) => touches(grant, domain, known, groupId));
  return (
    <>
      {holding.map((grant) => (
        <Callout
          key={grant.id}
          tone="info"
          actions={
            <ForAdmins>
              <Button onPress={() => verdicts.endGrant(grant.id)}>{say('queries.grant.end')}</Button>
            </ForAdmins>
          }
        >
          {grantText(grant, say, format.moment)} {say(`queries.grant.of.${scopeOf(grant)}`)}
        </Callout>
      ))}
      {known !== null && (
        <Link to={`/clients?open=${known}`} className={styles['link']}>
          <UserRound size={16} aria-hidden />
          {say('queries.openClient')}
        </Link>
      )}
      {known === null && found.isSuccess && (
        <ForAdmins>
          <p className="quiet">{say('queries.unknownClient')}</p>
        </ForAdmins>
      )}
    </>
  );
}
