/**
 * HTTP routes that set up encrypted DNS on a phone by its client key. The route of the profile is outside the API,
 * below `/check`, because a phone that scans the link has no session.
 */
import type { Config } from '../../../config/schema.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  PhoneProfileParams,
  PhoneProfileQuery,
  PhoneSetup,
} from '../../../shared/api/phones/phone-setup-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { conflict, notFound } from '../../api/api-error.ts';
import { clientAddress } from '../../api/client-address.ts';
import { RequestLimit } from '../../api/request-limit.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { readKeySighting } from '../../clients/keys/key-sighting-store.ts';
import type { ClusterSecret } from '../../storage/cluster/cluster-secret.ts';
import type { Database } from '../../storage/db/database.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import { appleProfile } from './apple-profile.ts';
import type { ProfileTarget } from './apple-profile.ts';
import { phoneNames } from './phone-names.ts';
import type { PhoneNames } from './phone-names.ts';
import { clientOfToken, profileToken, tokenEnd } from './profile-token.ts';
import { canSign, signMessage } from './signed-message.ts';

const PROFILE_TYPE = 'application/x-apple-aspen-config';

interface PhoneContext {
  readonly clients: Pick<ClientDirectory, 'get' | 'partsOf'>;
  readonly configuration: { current(): Config };
  /** Certificate of encrypted DNS; null = there is none. */
  readonly dnsCertificate: { current(): CertificatePair | null } | null;
  readonly secret: Pick<ClusterSecret, 'current'>;
  readonly database: Database;
  readonly clock: Clock;
}

/** Maximum number of times per minute that one network may read profiles. */
const READS_PER_MINUTE = 60;

/** The route of the API. */
export function phoneSetupRoutes(context: PhoneContext): Route[] {
  return [readPhoneSetup(context)];
}

/** The route below the page `/check`. */
export function publicPhoneRoutes(context: PhoneContext): Route[] {
  return [readPhoneProfile(context)];
}

function readPhoneSetup(context: PhoneContext): Route {
  const { clock, clients, database, secret } = context;
  return route({
    method: 'GET',
    path: '/clients/{id}/phone-setup',
    access: 'admin',
    tag: 'Clients',
    summary:
      'Data to set up a phone that uses this server from any network, identified by the key of the ' +
      'client: names, URL and profile',
    params: IdParams,
    answer: PhoneSetup,
    errors: { 409: 'the client has no key' },
    handle: async ({ params: { id }, response }) => {
      const record = clients.get(id);
      if (record === undefined) throw notFound(`client ${id}`);
      if (record.key === null) throw conflict(`client ${id} has no key; set client_key first`);
      const names = namesOf(context, record.key);
      const seen = await readKeySighting(database, id, record.key);
      const endMs = tokenEnd(clock.nowMs());
      response.set('Cache-Control', 'no-store');
      return {
        client_key: record.key,
        ...names,
        profile: profileOf(context, names, {
          path: `/check/phone-profiles/${profileToken(secret.current(), id, record.key, endMs)}`,
          expires_at: new Date(endMs).toISOString(),
        }),
        first_seen: seen === null ? null : new Date(seen.firstMs).toISOString(),
        last_seen: seen === null ? null : new Date(seen.lastMs).toISOString(),
      };
    },
  });
}

function profileOf(
  { dnsCertificate }: PhoneContext,
  names: PhoneNames,
  link: { readonly path: string; readonly expires_at: string },
): PhoneSetup['profile'] {
  const protocols = targetsOf(names).map(({ protocol }) => protocol);
  if (protocols.length === 0) return null;
  const pair = dnsCertificate?.current() ?? null;
  return { ...link, protocols, is_signed: pair !== null && canSign(pair.facts.keyType) };
}

function readPhoneProfile(context: PhoneContext): Route {
  const { clock, clients, secret, dnsCertificate } = context;
  const limit = new RequestLimit(clock, { perSecond: READS_PER_MINUTE / 60, burst: READS_PER_MINUTE });
  return route({
    method: 'GET',
    path: '/phone-profiles/{token}',
    access: 'public',
    tag: 'Clients',
    summary: 'Configuration profile for Apple devices (.mobileconfig); the link is valid for an hour',
    params: PhoneProfileParams,
    query: PhoneProfileQuery,
    media: [PROFILE_TYPE],
    errors: { 404: 'the link has expired, or the profile does not exist' },
    handle: ({ http, params, query, response }) => {
      limit.spend(clientAddress(http));
      const keyOf = (id: number): string | null => clients.get(id)?.key ?? null;
      const id = clientOfToken(secret.current(), params.token, keyOf, clock.nowMs());
      const targets = id === null ? [] : targetsOf(namesOf(context, keyOf(id)!));
      const target = targets.find(({ protocol }) => protocol === (query.protocol ?? protocol));
      if (id === null || target === undefined)
        throw notFound('this profile; open the device again for a new link');
      const profile = Buffer.from(appleProfile(target, nameOf(clients, id)));
      const pair = dnsCertificate?.current() ?? null;
      const isSigned = pair !== null && canSign(pair.facts.keyType);
      response.set({
        'Content-Type': PROFILE_TYPE,
        'Content-Disposition': 'attachment; filename="weir.mobileconfig"',
        'Cache-Control': 'no-store',
      });
      response.end(isSigned ? signMessage(profile, pair, clock.nowMs()) : profile);
    },
  });
}

function namesOf({ configuration, dnsCertificate, clock }: PhoneContext, key: string): PhoneNames {
  const facts = dnsCertificate?.current()?.facts ?? null;
  return phoneNames(key, facts, configuration.current(), clock.nowMs());
}

/** Settings that a profile can have, the preferred protocol first. */
function targetsOf({ doh_url: url, private_dns_name: name }: PhoneNames): ProfileTarget[] {
  const https = url === null ? [] : [{ protocol: 'https' as const, url }];
  const tls = name === null ? [] : [{ protocol: 'tls' as const, name }];
  return [...https, ...tls];
}

function nameOf(clients: PhoneContext['clients'], id: number): string {
  const record = clients.get(id)!;
  const [main] = clients.partsOf(record);
  return main?.name ?? record.hostname ?? record.key ?? '';
}
