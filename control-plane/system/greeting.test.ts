import { expect, test } from '@jest/globals';
import { greeting } from './greeting.ts';

const facts = {
  version: '1.2.3',
  configFile: undefined,
  dataDir: '/var/lib/weir',
  bindAddresses: ['::'],
  dnsPort: { port: 53, notice: null },
  webPort: 8080,
  webTrouble: null,
  isSecure: false,
  access: { status: 'ok', detail: 'private and connected networks may ask' },
  command: 'weir',
} as const;

test('greeting() names the command as it is called here, and the port where it is not the usual one', () => {
  expect(greeting(facts)).toMatch(/ weir set-password$/m);
  expect(greeting(facts)).not.toMatch(/npm|instead of/);
  const inClone = {
    ...facts,
    command: 'npm run weir --',
    dnsPort: { port: 5300, notice: 'port 53 is taken' },
  };
  expect(greeting(inClone)).toMatch(/ npm run weir -- set-password$/m);
  expect(greeting(inClone)).toMatch(/^Port 5300 instead of 53: port 53 is taken$/m);
  expect(greeting(inClone)).toMatch(/ dig @\S+ -p 5300 /);
});

test('greeting() warns if the web server does not listen, and says why', () => {
  expect(greeting({ ...facts, webTrouble: 'port 8080 is taken' })).toMatch(
    /^Warning: the web server does not listen: port 8080 is taken\.$/m,
  );
});

test('greeting() reports who may ask, and warns if something is wrong with that', () => {
  expect(greeting(facts)).toMatch(/^ {2}Clients {4}private and connected networks may ask$/m);
  expect(greeting(facts)).not.toContain('Warning');
  const open = { ...facts, access: { status: 'degraded', detail: 'anyone may ask' } } as const;
  expect(greeting(open)).toMatch(/^Warning: anyone may ask\.$/m);
});
