/** The certificate of the web port and encrypted DNS: its state, and forms to replace it. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ForAdmins } from '../../../api/session.tsx';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import { Answered, Callout, FormFault } from '../../../ui/display/states.tsx';
import { Facts } from '../../../ui/display/values.tsx';
import { AcmeCard } from './acme-card.tsx';
import { certificateStatus } from './certificate-status.ts';
import type { TlsStatus } from './certificate-status.ts';
import { useState } from 'react';
import { fieldProblem } from '../../../api/problem-text.ts';
import { useChange } from '../../../api/use-change.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { FileField } from '../../../ui/controls/file-field.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';

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
      <AcmeCard />
      <ForAdmins>
        <CertificateForm />
        <OwnCertificate isReplacing={status.data?.valid === true} />
      </ForAdmins>
    </>
  );
}

function Certificate({ found }: { readonly found: TlsStatus }): ReactNode {
  const { say, format } = useText();
  const { tone, text } = certificateStatus(found, Date.now());
  const { names, key_type: key, issuer, not_before: begins, expiration: ends } = found;
  const facts: (readonly [string, ReactNode])[] = [];
  if (ends !== null) facts.push([say('tls.expires'), exactly(ends)]);
  if (names.length > 0) facts.push([say('field.names'), <bdi key="names">{names.join(', ')}</bdi>]);
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
      <Callout tone={tone}>
        {say(text, { span: ends === null ? '' : format.ago(ends), reason: found.fault ?? '' })}
      </Callout>
      {!found.enabled && (
        <Callout
          tone="info"
          actions={
            <Link to="/settings?part=server&search=web_tls" className="button-link">
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

const FIELDS = ['cert', 'key'] as const;
type Field = (typeof FIELDS)[number];
const TYPES = ['.pem', '.crt', '.cer', '.key'];

/** Form for a certificate and its key. */
function CertificateForm(): ReactNode {
  const { say } = useText();
  const [files, setFiles] = useState<Readonly<Partial<Record<Field, File>>>>({});
  const { cert, key } = files;
  const upload = useChange('POST /tls/upload', {
    done: 'tls.replaced',
    quiet: true,
    onDone: () => setFiles({}),
  });
  const send = (): void => {
    const body = new FormData();
    for (const field of FIELDS) if (files[field] !== undefined) body.set(field, files[field]);
    void upload.run({ body });
  };
  return (
    <Card title={say('tls.upload')}>
      <Stack>
        <FormFault failure={upload.failure} fields={FIELDS} />
        {FIELDS.map((field) => (
          <FileField
            key={field}
            label={say(`tls.upload.${field}`)}
            help={say(`tls.upload.${field}.help`)}
            types={TYPES}
            file={files[field] ?? null}
            error={fieldProblem(upload.failure, field)}
            onFile={(file) => {
              upload.reset();
              setFiles((before) => ({ ...before, [field]: file }));
            }}
          />
        ))}
        <Bar>
          <Button
            kind="main"
            isPending={upload.isPending}
            isDisabled={cert === undefined || key === undefined}
            onPress={send}
          >
            {say('tls.upload.action')}
          </Button>
        </Bar>
      </Stack>
    </Card>
  );
}

interface OwnCertificateProps {
  /** Whether a valid certificate would be replaced. */
  readonly isReplacing: boolean;
}

/** Creates a self-signed certificate. */
function OwnCertificate({ isReplacing }: OwnCertificateProps): ReactNode {
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
