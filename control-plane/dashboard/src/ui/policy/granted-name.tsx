/** The name or service that a grant is about. */
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useText } from '../../i18n/text.ts';
import { DomainName } from '../display/values.tsx';

/**
 * Shows the service, the name, or "Everything". If subdomains are not included, the name is followed by a text about
 * this.
 */
export function GrantedName({ grant }: { readonly grant: AnswerOf<'GET /grants'>[number] }): ReactNode {
  const { say } = useText();
  const { domain, subdomains, service_id: serviceId, service_name: serviceName } = grant;
  if (serviceId !== null) return say('grants.service', { name: serviceName ?? serviceId });
  if (domain === null) return say('grants.everything');
  return (
    <>
      <DomainName name={domain} />
      {!subdomains && <span className="quiet"> {say('grants.nameOnly')}</span>}
    </>
  );
}
