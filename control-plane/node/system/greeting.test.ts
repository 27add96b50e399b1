import { expect, test } from '@jest/globals';
import type { DnsReach } from '../../../shared/api/system-api.ts';
import { greeting, setupNotice } from './greeting.ts';

const ON_53: DnsReach = { dns_port: 53, is_chosen: false, port_53: 'weir', holder: null, command: null };
const facts = {
  version: '1.2.3',
  configFile: undefined,
  dataDir: '/var/lib/weir',
  bindAddresses: ['::'],
  addresses: [
    { address: '192.0.2.5', kind: 'ipv4', interface: 'eth0' },
    { address: 'fd00::5', kind: 'ula', interface: 'eth0' },
    { address: 'fe80::5', kind: 'link_local', interface: 'eth0' },
  ],
  dns: ON_53,
  webPort: 8080,
  webTrouble: null,
  isSecure: false,
  access: { status: 'ok', detail: 'private and connected networks may use this server' },
} as const;

test('greeting() shows the addresses of the local network with the port, and asks for no password', () => {
  const text = greeting(facts);
  expect(text).toMatch(/^ {2}Web {8}http:\/\/192\.0\.2\.5:8080\/$/m);
  expect(text).toMatch(/^ {2}DNS {8}192\.0\.2\.5 port 53 .*\n {13}fd00::5\n {13}fe80::5%eth0$/m);
  expect(text).not.toMatch(/password|127\.0\.0\.1|Devices cannot/);
});

test.each<[string, Partial<DnsReach>, RegExp]>([
  [
    'taken',
    {
      port_53: 'taken',
      holder: { program: 'dnsmasq', pid: 7 },
      command: 'sudo systemctl disable --now dnsmasq',
    },
    /in use by dnsmasq \(process 7\)\.\nRun this, then start Weir again:\n\n {2}sudo systemctl disable --now dnsmasq$/m,
  ],
  [
    'taken',
    { port_53: 'taken', holder: { program: null, pid: null } },
    /sudo ss -lnup 'sport = :53'\. Stop that program\. Then start Weir again\.$/m,
  ],
  [
    'not permitted',
    { port_53: 'not_permitted', command: 'sudo sysctl x' },
    /permission.*\n.*\n\n {2}sudo sysctl x$/m,
  ],
  ['free', { port_53: 'free' }, /^Port 53 is free now\. Then start Weir again\.$/m],
  [
    'chosen in the configuration',
    { port_53: 'free', is_chosen: true },
    /^The setting server\.dns_port chooses this port\.$/m,
  ],
])(
  'greeting() explains that devices cannot use a port other than 53, and what to do: %s',
  (_what, dns, pattern) => {
    const text = greeting({ ...facts, dns: { ...ON_53, dns_port: 5300, ...dns } });
    expect(text).toContain('Devices cannot use Weir on port 5300');
    expect(text).toMatch(/^Test it: {2}dig @::1 -p 5300 example\.com$/m);
    expect(text).toMatch(pattern);
  },
);

test('greeting() shows an address of this machine if Weir listens on no other address', () => {
  expect(greeting({ ...facts, bindAddresses: ['127.0.0.1'], addresses: [] })).toContain(
    'http://127.0.0.1:8080/',
  );
});

test('greeting() warns if the web server does not listen, and reports why', () => {
  expect(greeting({ ...facts, webTrouble: 'port 8080 is taken' })).toMatch(
    /^Warning: the web server is not listening: port 8080 is taken\.$/m,
  );
});

test('greeting() reports the allowed clients, and warns about problems with them', () => {
  expect(greeting(facts)).toMatch(/^ {2}Clients {4}private and connected networks may use this server$/m);
  expect(greeting(facts)).not.toContain('Warning');
  const open = { ...facts, access: { status: 'degraded', detail: 'anyone may use this server' } } as const;
  expect(greeting(open)).toMatch(/^Warning: anyone may use this server\.$/m);
});

test('setupNotice() shows the setup code, its file, and the weir command as it is run on this machine', () => {
  const text = setupNotice('K7QM-2XPT', '/var/lib/weir/setup-code', 'npm run weir --');
  expect(text).toMatch(/K7QM-2XPT {3}\(also in \/var\/lib\/weir\/setup-code until it is used\)$/m);
  expect(text).toMatch(/ npm run weir -- set-password$/m);
});
