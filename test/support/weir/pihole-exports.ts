/** Exports of a sample Pi-hole: version 6, version 5, and the live database. */
import { gzipSync } from 'node:zlib';
import { sqliteOf, tarOf, zipOf } from '../parts/made-archives.ts';

/** URLs of the lists in the exports; their texts are below. */
export const ADS_URL = 'https://lists.example.org/ads.txt';
export const KIDS_URL = 'https://lists.example.org/kids.txt';
export const FINE_URL = 'https://lists.example.org/fine.txt';
export const LIST_TEXTS = {
  [ADS_URL]: '0.0.0.0 ads.example\n0.0.0.0 fine.ads.example\n',
  [KIDS_URL]: 'games.example\n',
  [FINE_URL]: 'fine.ads.example\n',
};

/** The tables as in the live database; Teleporter's copy has no keys and no `info`. */
const TABLES = `
CREATE TABLE "group" (id INTEGER, enabled BOOLEAN, name TEXT, date_added INTEGER, date_modified INTEGER, description TEXT);
CREATE TABLE adlist (id INTEGER, address TEXT, enabled BOOLEAN, date_added INTEGER, comment TEXT, type INTEGER);
CREATE TABLE adlist_by_group (adlist_id INTEGER, group_id INTEGER);
CREATE TABLE domainlist (id INTEGER, type INTEGER, domain TEXT, enabled BOOLEAN, comment TEXT);
CREATE TABLE domainlist_by_group (domainlist_id INTEGER, group_id INTEGER);
CREATE TABLE client (id INTEGER, ip TEXT, comment TEXT);
CREATE TABLE client_by_group (client_id INTEGER, group_id INTEGER);
INSERT INTO "group" VALUES (0, 1, 'Default', 0, 0, 'The default group'), (1, 1, 'Kids', 0, 0, 'tablets'),
  (2, 1, 'Guests', 0, 0, NULL), (3, 0, 'Old', 0, 0, NULL);
INSERT INTO adlist VALUES (1, '${ADS_URL}', 1, 0, 'all ads', 0), (2, '${KIDS_URL}', 1, 0, NULL, 0),
  (3, '${FINE_URL}', 1, 0, NULL, 1), (4, '${FINE_URL}', 0, 0, NULL, 0),
  (5, 'https://lists.example.org/orphan.txt', 1, 0, NULL, 0),
  (6, 'https://me:hunter2@lists.example.org/private.txt', 1, 0, NULL, 0);
INSERT INTO adlist_by_group VALUES (1, 0), (1, 1), (2, 1), (3, 0), (4, 0), (6, 0);
INSERT INTO domainlist VALUES (1, 0, 'allowed.ads.example', 1, 'shop'), (2, 1, 'denied.example', 1, NULL),
  (3, 1, 'off.example', 0, NULL), (4, 3, '(\\.|^)wild\\.example$', 1, NULL), (5, 3, '^ad[0-9]{,3}[.]', 1, NULL),
  (6, 3, 'aaaa\\.example$;querytype=AAAA', 1, NULL), (7, 3, 'gone\\.example$;reply=NXDOMAIN', 1, NULL),
  (8, 3, 'inverted\\.example$;invert', 1, NULL), (9, 3, '(a)\\1', 1, NULL), (10, 3, 'to\\.example$;reply=192.0.2.99', 1, NULL),
  (11, 3, 'no\\.example$;reply=NONE', 1, NULL), (12, 1, 'guest.example', 1, NULL), (13, 1, 'nowhere.example', 1, NULL),
  (14, 3, 'x{~2}y', 1, NULL), (15, 3, '\\<word', 1, NULL), (16, 3, 'c\\.example$;reply=CNAME,d.example', 1, NULL),
  (17, 3, 'nodata\\.example$;reply=NODATA;querytype=!A', 1, NULL);
INSERT INTO domainlist_by_group SELECT id, 0 FROM domainlist WHERE id NOT IN (12, 13);
INSERT INTO domainlist_by_group VALUES (12, 2), (2, 1), (2, 3);
INSERT INTO client VALUES (1, '192.0.2.10', 'tablet'), (2, '192.0.2.64/26', NULL), (3, '02:00:5e:00:00:03', 'tv'),
  (4, 'laptop.lan', NULL), (5, ':eth0', NULL), (6, '192.0.2.20', 'nothing blocked'), (7, '192.0.2.30', 'both'),
  (8, '192.0.2.40', 'in the old group'), (9, 'unknown.lan', NULL);
INSERT INTO client_by_group VALUES (1, 1), (2, 2), (3, 1), (4, 1), (5, 1), (7, 1), (7, 2), (8, 3), (9, 1);
`;

const DEVICES = `
CREATE TABLE network (id INTEGER, hwaddr TEXT, interface TEXT);
CREATE TABLE network_addresses (network_id INTEGER, ip TEXT, lastSeen INTEGER, name TEXT);
INSERT INTO network VALUES (1, '02:00:5e:00:00:04', 'eth0'), (2, 'ip-192.0.2.50', 'eth0'), (3, '02:00:5e:00:00:03', 'eth0');
INSERT INTO network_addresses VALUES (1, '192.0.2.14', 0, 'laptop.lan'), (2, '192.0.2.50', 0, 'unknown.lan'),
  (3, '192.0.2.70', 0, 'tv.lan');
`;

const TOML = `
[dns]
  upstreams = ["192.0.2.53#5353", "127.0.0.1#5335", "2001:db8::53"]
  hosts = ["192.0.2.5 nas nas.lan", "2001:db8::5 nas.lan"]
  cnameRecords = ["files.lan,nas.lan,600", "loop.lan,loop.lan"]
  revServers = ["true,192.0.2.0/23,192.0.2.1#53,fritz.box"]
  domainNeeded = true
  bogusPriv = true
  dnssec = true
  blockTTL = 2
  [dns.domain]
    name = "lan"
  [dns.blocking]
    active = true
    mode = "NX"
  [dns.rateLimit]
    count = 1000
    interval = 60
  [dns.specialDomains]
    mozillaCanary = true
[dhcp]
  active = true
  hosts = ["02:00:5e:00:00:03,192.0.2.70,tv"]
[webserver.api]
  pwhash = "$BALLOON-SHA256$v=1$s=1024,t=32$c2VjcmV0$c2VjcmV0"
  totp_secret = "JBSWY3DPEHPK3PXP"
[files]
  gravity = "/etc/pihole/gravity.db"
  database = "/etc/pihole/pihole-FTL.db"
`;

/** `gravity.db` of a running Pi-hole; `adlist` has no type before version 17. */
export function liveGravity(): Buffer {
  return sqliteOf(`${TABLES} CREATE TABLE info (property TEXT PRIMARY KEY, value TEXT);
    INSERT INTO info VALUES ('version', 20); CREATE TABLE gravity (domain TEXT, adlist_id INTEGER);
    CREATE VIEW vw_gravity AS SELECT domain FROM gravity;`);
}

/** Teleporter's zip of version 6. */
export function version6(toml = TOML): Buffer {
  return zipOf({
    'etc/pihole/pihole.toml': toml,
    'etc/pihole/gravity.db': sqliteOf(TABLES),
    'etc/pihole/pihole-FTL.db': sqliteOf(DEVICES),
    'etc/pihole/dhcp.leases': '1700000000 02:00:5e:00:00:09 192.0.2.90 printer *\n',
    'etc/hosts': '127.0.0.1 localhost\n127.0.1.1 pihole\n::1 ip6-localhost\n',
  });
}

/** Teleporter's archive of version 5, in which numbers are strings, as in files of some versions. */
export function version5(): Buffer {
  const rows = (...list: object[]): string => JSON.stringify(list);
  return gzipSync(
    tarOf({
      'group.json': rows({ id: '0', enabled: '1', name: 'Default' }, { id: '1', enabled: '1', name: 'Kids' }),
      'adlist.json': rows({ id: '1', address: ADS_URL, enabled: '1', comment: null }),
      'adlist_by_group.json': rows({ adlist_id: '1', group_id: '0' }),
      'whitelist.exact.json': rows({ id: '1', domain: 'allowed.ads.example', enabled: '1', comment: '' }),
      'blacklist.exact.json': rows({ id: '2', domain: 'denied.example', enabled: '1', comment: '' }),
      'blacklist.regex.json': rows({ id: '3', domain: '(\\.|^)wild\\.example$', enabled: '1', comment: '' }),
      'domainlist_by_group.json': rows(
        ...['1', '2', '3'].map((id) => ({ domainlist_id: id, group_id: '0' })),
      ),
      'client.json': rows({ id: '1', ip: '192.0.2.10', comment: 'tablet' }),
      'client_by_group.json': rows({ client_id: '1', group_id: '1' }),
      'custom.list': '192.0.2.5 nas.lan\n',
      'setupVars.conf':
        'WEBPASSWORD=5e884898da28047151d0e56f8dc62927\nPIHOLE_DNS_1=192.0.2.53#53\nDNS_FQDN_REQUIRED=true\n' +
        'REV_SERVER=true\nREV_SERVER_CIDR=192.0.2.0/24\nREV_SERVER_TARGET=192.0.2.1\nREV_SERVER_DOMAIN=fritz.box\n',
      'pihole-FTL.conf': 'BLOCKINGMODE=NULL\nRATE_LIMIT=1000/60\n',
      'dnsmasq.d/05-pihole-custom-cname.conf': 'cname=files.lan,nas.lan\n',
      'dnsmasq.d/04-pihole-static-dhcp.conf': 'dhcp-host=02:00:5E:00:00:03,192.0.2.70,tv\n',
    }),
  );
}
