/** The certificate of the web port and of encrypted DNS: how it stands, and another one in its place. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ForAdmins } from '../../../api/session.tsx';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Card } from '../../../ui/display/page.tsx';
import { Answered, Callout } from '../../../ui/display/states.tsx';
import { Facts } from '../../../ui/display/values.tsx';
import { CertificateForm } from './certificate-form.tsx';
import { standingOfCertificate } from './certificate-standing.ts';
import type { TlsStatus } from './certificate-standing.ts';
import { OwnCertificate } from './own-certificate.tsx';

/** The part. */
export default function TlsPart(): ReactNode {
  const { say } = useText();
  const status = useAsk('GET /tls/status', {});
  return (
    <>
      <Card title={say('settings.part.tls')}>
        <Answered of={status} lines={5}>
          {(found) => <Certificate found={found} />}
        </Answered>
      </Card>
      <ForAdmins>
        <CertificateForm />
        <OwnCertificate isReplacing={status.data?.valid === true} />
      </ForAdmins>
    </>
  );
}

function Certificate({ found }: { readonly found: TlsStatus }): ReactNode {
  const { say, format } = useText();
  const { tone, text } = standingOfCertificate(found, Date.now());
  const { names, key_type: key, issuer, not_before: begins, expiration: ends } = found;
  const facts: (readonly [string, ReactNode])[] = [];
  if (ends !== null) facts.push([say('tls.expires'), exactly(ends)]);
  if (names.length > 0) facts.push([say('tls.names'), <bdi key="names">{names.join(', ')}</bdi>]);
  if (issuer !== null)
    facts.push([
      say('tls.issuer'),
      found.self_signed === true ? say('tls.itself') : <bdi key="issuer">{issuer}</bdi>,
    ]);
  if (key !== null) facts.push([say('tls.key'), key]);
  if (begins !== null) facts.push([say('tls.begins'), exactly(begins)]);

  function exactly(at: string): string {
    return say('tls.moment', { ago: format.ago(at), moment: format.moment(at) });
  }

  return (
    <>
      <Callout tone={tone}>{say(text, { span: ends === null ? '' : format.ago(ends) })}</Callout>
      {!found.enabled && (
        <Callout
          tone="info"
          actions={
            <Link to="/settings?part=server&search=web_tls" className="standing">
              {say('tls.switch')}
            </Link>
          }
        >
          {say('tls.off')}
        </Callout>
      )}
      {facts.length > 0 && <Facts facts={facts} />}
    </>
  );
}
