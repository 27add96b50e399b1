import { expect, test } from '@jest/globals';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { landingPage } from './landing-page.ts';

test('landingPage() shows who may query, without the networks themselves', () => {
  const render = (toml: string): string =>
    landingPage(
      {
        version: '1.2.3',
        nodeName: 'attic',
        configuration: { current: () => testConfig(toml) },
        dnsPort: 5300,
      },
      'http://attic:8080',
      { kind: 'building' },
    ).html;
  expect(render('')).toContain('DNS queries are answered on port 5300, for private and connected networks:');
  const listed = render('dns.allowed_clients = ["private", "203.0.113.0/24"]\n');
  expect(listed).toContain('for private networks and networks of the configuration:');
  expect(listed).not.toContain('203.0.113');
  expect(render('dns.allowed_clients = ["any"]\n')).toContain('for anyone:');
});
