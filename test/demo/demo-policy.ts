/**
 * Settings of the demo's household, created through the API as users would, so that they have a history and can be
 * undone.
 */
import type { BlocklistSource } from '../../shared/api/policy/sources-api.ts';
import type { Client } from '../../shared/api/policy/clients-api.ts';
import type { CustomService } from '../../shared/api/policy/services-api.ts';
import type { ScheduleProfile } from '../../shared/api/policy/schedules-api.ts';
import { timeOfDay } from '../../shared/policy/time-of-day.ts';
import type { ApiClient } from '../support/weir/api-client.ts';
import { BEDTIME, CHATTER, PRIZES, TELEMETRY } from './demo-rules.ts';
import type { DemoInternet } from './demo-internet.ts';
import { groupIdOf, HOUSEHOLD } from './household.ts';
import { LISTS } from './sites.ts';

const EVERY_DAY = 127;
const NAS = '192.0.2.2';
const PRINTER = '192.0.2.3';
const CHILDREN = groupIdOf('Children');

/** Creates all settings. */
export async function makePolicy(api: ApiClient, internet: DemoInternet): Promise<void> {
  await makeNetworks(api);
  for (const list of LISTS) await api.addSource({ name: list, url: internet.listUrl(list) });
  await makeRules(api);
  await makeBedtime(api);
  await makeNames(api);
  await makePeople(api);
  await holdLastList(api, internet);
}

async function makeNetworks(api: ApiClient): Promise<void> {
  const guests = { subnet_cidr: '192.0.2.128/25', group_id: groupIdOf('Guests'), comment: 'Guest Wi-Fi' };
  await api.expect(201, 'POST', '/client-subnets', guests);
}

async function makeRules(api: ApiClient): Promise<void> {
  const rules = [
    { domain: `*.${PRIZES.domain}`, name: PRIZES.name, group_id: CHILDREN, comment: 'Asked for by Anna' },
    { domain: 'www.town-hall.example', action: 'allow', comment: 'Its forms load a tracker' },
    { domain: 'old-intranet.office.example', enabled: false, comment: 'Gone since the move' },
  ];
  for (const rule of rules) await api.expect(201, 'POST', '/managed-domains', rule);
  await api.expect(201, 'POST', '/regex-filters', { name: TELEMETRY.name, pattern: TELEMETRY.pattern });
  const service = { name: CHATTER.name, category: 'social_media', domains: CHATTER.domains };
  const { service_id: id } = await api.expect<CustomService>(201, 'POST', '/custom-services', service);
  await api.expect(201, 'POST', '/services', { service_id: id, group_id: CHILDREN });
  await api.expect(200, 'POST', `/safe-search/configs/${String(CHILDREN)}`, { enabled: true });
}

async function makeBedtime(api: ApiClient): Promise<void> {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const profile = await api.expect<ScheduleProfile>(201, 'POST', '/schedule-profiles', {
    name: BEDTIME.name,
    timezone: timeZone,
  });
  await api.expect(201, 'POST', `/schedule-profiles/${String(profile.id)}/slots`, {
    days: EVERY_DAY,
    start_time: timeOfDay(BEDTIME.fromMinute),
    end_time: timeOfDay(BEDTIME.toMinute),
    action: 'block_all',
  });
  await api.expect(200, 'PUT', `/groups/${String(CHILDREN)}/schedule`, { profile_id: profile.id });
}

async function makeNames(api: ApiClient): Promise<void> {
  const records = [
    { fqdn: 'nas.home.arpa', value: NAS, comment: 'Films and backups' },
    { fqdn: 'printer.home.arpa', value: PRINTER },
    { fqdn: 'backup.home.arpa', record_type: 'CNAME', value: 'nas.home.arpa' },
    ...HOUSEHOLD.slice(0, 4).map(({ hostname, address }) => ({
      fqdn: `${hostname}.home.arpa`,
      value: address,
    })),
  ];
  for (const record of records) await api.expect(201, 'POST', '/local-records', record);
  const zone = { zone: 'branch.office.example', servers: ['192.0.2.53'], comment: 'Over the VPN' };
  await api.expect(201, 'POST', '/forward-zones', zone);
}

async function makePeople(api: ApiClient): Promise<void> {
  const vera = { username: 'vera', password: 'a viewer of the demo', display_name: 'Vera', role: 'viewer' };
  await api.expect(201, 'POST', '/users', vera);
  await api.expect(201, 'POST', '/api-tokens', { name: 'Grafana', role: 'viewer' });
  const { data } = await api.expect<{ data: Client[] }>(
    200,
    'GET',
    `/clients?search=${HOUSEHOLD[7]!.address}`,
  );
  const grant = { domain: CHATTER.domains[0], client_id: data[0]!.id, secs: 3600 };
  await api.expect(201, 'POST', '/grants', grant);
}

/** Makes the next version of the last list so short that it needs approval. */
async function holdLastList(api: ApiClient, internet: DemoInternet): Promise<void> {
  const sources = await api.expect<BlocklistSource[]>(200, 'GET', '/blocklist-sources');
  const { id } = sources.find(({ name }) => name === LISTS.at(-1))!;
  internet.shortenLastList();
  await api.expect(202, 'POST', `/blocklist-sources/${String(id)}/refresh`);
  await api.settledSource(id);
}
