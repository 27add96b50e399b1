/** Sets up a phone with its client key: names and codes to enter, and whether queries with the key arrive. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { PAGE_BASE } from '../../api/place.ts';
import { originForOthers } from '../../api/router-state.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { CopyField } from '../../ui/controls/copy-field.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { QrCode } from '../../ui/display/qr-code.tsx';
import { Answered, Callout } from '../../ui/display/states.tsx';
import { NewKeyButton } from './new-key-button.tsx';

type Setup = AnswerOf<'GET /clients/{id}/phone-setup'>;

/** Polling intervals before and after the first query has arrived. */
const [UNSEEN_MS, SEEN_MS] = [3000, 60_000];

/** Parts of the settings in which a problem can be solved. */
const FIXED_IN: Partial<Record<Setup['problems'][number], string>> = {
  encrypted_dns_disabled: '/settings?part=server&search=encrypted_dns',
  no_certificate: '/settings?part=tls',
  certificate_expired: '/settings?part=tls',
  self_signed: '/settings?part=tls',
  no_host_name: '/settings?part=tls',
  no_wildcard_name: '/settings?part=tls',
};

/** The set-up of a device that has a client key. */
export default function PhoneSetup({ id }: { readonly id: number }): ReactNode {
  const { say } = useText();
  const setup = useAsk(
    'GET /clients/{id}/phone-setup',
    { params: { id } },
    { everyMs: (last) => ((last?.last_seen ?? null) === null ? UNSEEN_MS : SEEN_MS) },
  );
  return (
    <Answered of={setup} lines={4}>
      {(found) => (
        <Stack>
          {(isPossible(found) || found.last_seen !== null) && <Arrival setup={found} />}
          {found.problems.map((problem) => (
            <Callout
              key={problem}
              tone="warning"
              actions={
                problem === 'key_not_random' ? (
                  <NewKeyButton id={id} />
                ) : (
                  <SettingsLink to={FIXED_IN[problem]} />
                )
              }
            >
              {say(`phone.problem.${problem}`)}
            </Callout>
          ))}
          <Ways setup={found} />
        </Stack>
      )}
    </Answered>
  );
}

/** Link for administrators; null without a path. */
function SettingsLink({ to }: { readonly to: string | undefined }): ReactNode {
  const { say } = useText();
  if (to === undefined) return null;
  return (
    <ForAdmins>
      <Link to={to}>{say('page.settings')}</Link>
    </ForAdmins>
  );
}

/** Whether a device can be set up. */
function isPossible({ private_dns_name: name, doh_url: url, profile }: Setup): boolean {
  return name !== null || url !== null || profile !== null;
}

/** Shows whether queries with the key arrive. */
function Arrival({ setup }: { readonly setup: Setup }): ReactNode {
  const { say, format } = useText();
  const { first_seen: first, last_seen: last } = setup;
  return (
    <div role="status">
      {first === null || last === null ? (
        <Callout tone="info">{say('phone.unseen')}</Callout>
      ) : (
        <Callout tone="good">
          {say('phone.works', { since: format.moment(first), ago: format.ago(last) })}
        </Callout>
      )}
    </div>
  );
}

/** Instructions for the kinds of devices that accept the certificate. */
function Ways({ setup }: { readonly setup: Setup }): ReactNode {
  const { say } = useText();
  const { private_dns_name: name, doh_url: url, profile } = setup;
  const ways = [
    ...(name === null ? [] : (['android'] as const)),
    ...(profile === null ? [] : (['apple'] as const)),
    ...(url === null ? [] : (['other'] as const)),
  ];
  const [chosen, setChosen] = useState<(typeof ways)[number] | null>(null);
  const way = chosen !== null && ways.includes(chosen) ? chosen : ways[0];
  if (way === undefined) return null;
  return (
    <>
      <Segments
        label={say('phone.device')}
        value={way}
        choices={ways.map((one) => ({ id: one, text: say(`phone.${one}`) }))}
        onChange={setChosen}
      />
      <p>{say(`phone.${way}.help`)}</p>
      {way === 'android' && name !== null && (
        <CodeAndText text={name} label={say('phone.android.name')} code={say('phone.code', { text: name })} />
      )}
      {way === 'apple' && profile !== null && <AppleProfile profile={profile} />}
      {way === 'other' && url !== null && (
        <CodeAndText text={url} label={say('phone.other.url')} code={say('phone.code', { text: url })} />
      )}
    </>
  );
}

interface CodeAndTextProps {
  readonly text: string;
  readonly label: string;
  /** Description of the QR code for screen readers. */
  readonly code: string;
}

function CodeAndText({ text, label, code }: CodeAndTextProps): ReactNode {
  return (
    <>
      <QrCode text={text} label={code} />
      <CopyField label={label} text={text} />
    </>
  );
}

function AppleProfile({ profile }: { readonly profile: NonNullable<Setup['profile']> }): ReactNode {
  const { say, format } = useText();
  const reach = useAsk('GET /system/reachability', {}, { staleMs: SEEN_MS });
  const origin = reach.data === undefined ? null : originForOthers(reach.data, location);
  const link = origin === null ? null : `${origin}${PAGE_BASE}${profile.path}`;
  return (
    <>
      {link !== null && (
        <>
          <QrCode text={link} label={say('phone.apple.code')} />
          <p className="quiet">{say('phone.apple.link', { end: format.moment(profile.expires_at) })}</p>
        </>
      )}
      {reach.data !== undefined && link === null && <Callout tone="info">{say('phone.apple.local')}</Callout>}
      {!profile.is_signed && <Callout tone="info">{say('phone.apple.unsigned')}</Callout>}
      {profile.protocols.map((protocol) => (
        <a
          key={protocol}
          className="button-link"
          href={`${PAGE_BASE}${profile.path}?protocol=${protocol}`}
          download="weir.mobileconfig"
        >
          {say(`phone.apple.${protocol}`)}
        </a>
      ))}
    </>
  );
}
