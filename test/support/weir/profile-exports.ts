/** Sample profiles of users of NextDNS and Control D, and the answers of those services. */
import type { ExpectedStatus } from '../parts/import-suite.ts';

/** A profile in the format of NextDNS's API. Browser extensions write `parentalcontrol` instead. */
export const NEXTDNS = JSON.stringify({
  data: {
    id: 'abc123',
    name: 'Home',
    security: { threatIntelligenceFeeds: true, dnsRebinding: false, tlds: [{ id: 'zip' }, { id: 'mov' }] },
    privacy: {
      blocklists: [{ id: 'oisd' }, { id: 'unknown' }],
      natives: [{ id: 'apple' }],
      disguisedTrackers: true,
    },
    parentalcontrol: {
      services: [
        { id: 'tiktok', active: true, recreation: true },
        { id: 'facebook', active: false },
        { id: 'no-such-service', active: true },
      ],
      categories: [{ id: 'gambling', active: true }],
      safeSearch: true,
      youtubeRestrictedMode: false,
    },
    denylist: [
      { id: 'denied.example', active: true },
      { id: '*.wild.example', active: true },
      { id: 'off.example', active: false },
    ],
    allowlist: [{ id: 'fine.denied.example', active: true }],
    rewrites: [
      { id: 'x1', name: 'nas.example', type: 'A', content: '192.0.2.5' },
      { id: 'x3', name: '*.wild.nas.example', type: 'A', content: '192.0.2.6' },
      { id: 'x2', name: 'alias.example', type: 'CNAME', content: 'nas.example' },
    ],
    settings: {
      logs: { enabled: true, retention: 7_776_000, location: 'ch', drop: { ip: true, domain: false } },
      blockPage: { enabled: true },
      performance: { ecs: true, cacheBoost: true },
      web3: true,
    },
  },
});

export const NEXTDNS_ANSWERS: readonly ExpectedStatus[] = [
  ['192.0.2.1', 'denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.1', 'www.denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.1', 'www.fine.denied.example', 1, 'FORWARDED'],
  ['192.0.2.1', 'a.wild.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.1', 'off.example', 1, 'FORWARDED'],
  ['192.0.2.1', 'any.zip', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.1', 'nas.example', 1, 'LOCAL'],
  ['192.0.2.1', 'deep.nas.example', 1, 'LOCAL'],
  ['192.0.2.1', 'alias.example', 1, 'LOCAL'],
  ['192.0.2.1', 'a.wild.nas.example', 28, 'LOCAL'],
  ['192.0.2.1', 'www.tiktok.com', 1, 'BLOCKED_SERVICE'],
  ['192.0.2.1', 'facebook.com', 1, 'FORWARDED'],
];

export const NEXTDNS_NOT_MAPPED = [
  'unknown',
  'no-such-service',
  'category gambling',
  'security.threatIntelligenceFeeds',
  'privacy.disguisedTrackers',
  'privacy.natives apple',
  'settings.blockPage',
  'settings.web3',
];

/** A folder whose rules block by default. */
export const CONTROLD = JSON.stringify({
  group: { group: 'Ads', action: { do: 0, status: 1 } },
  rules: [
    { PK: 'denied.example', order: 1 },
    { PK: '*.wild.example', action: { do: 0, status: 1 } },
    { PK: 'fine.wild.example', action: { do: 1, status: 1 } },
    { PK: 'off.example', action: { do: 0, status: 0 } },
    { PK: 'nas.example', action: { do: 2, via: '2001:db8::5', status: 1 } },
    { PK: 'proxied.example', action: { do: 3, via: 'AMS', status: 1 } },
    { PK: 'odd.example', action: { do: 9 } },
  ],
});

export const CONTROLD_ANSWERS: readonly ExpectedStatus[] = [
  ['192.0.2.1', 'denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.1', 'www.wild.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.1', 'fine.wild.example', 1, 'FORWARDED'],
  ['192.0.2.1', 'off.example', 1, 'FORWARDED'],
  ['192.0.2.1', 'nas.example', 28, 'LOCAL'],
];
