/** Tasks in the settings other than keys: account, certificate, backups, and imports from other programs. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOfStep, stepAt } from '../../control-plane/web/auth/second-factor/totp.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import type { Page } from '../support/browser/watched-page.ts';
import { makeTempDir } from '../support/weir/data-dir.ts';
import type { TempDir } from '../support/weir/data-dir.ts';
import { version6 } from '../support/weir/pihole-exports.ts';

const [FIRST, SECOND] = ['the first password', 'the second password'];

let fixture: DashboardFixture;
let certificates: TempDir;

beforeAll(async () => {
  certificates = makeTempDir();
  const paths = ['cert', 'key'].map(
    (name) => `tls_${name}_path = "${join(certificates.path, `${name}.pem`)}"`,
  );
  fixture = await DashboardFixture.open({ toml: ['[server.web_tls]', ...paths].join('\n') });
});
afterAll(async () => {
  await fixture.close();
  certificates.remove();
});

/** Bytes of a text in Base32. */
function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
}

async function press(page: Page, name: string, within = 'body'): Promise<void> {
  await page.locator(within).getByRole('button', { name, exact: true }).click();
}

/** Enters the password into a dialog and confirms. */
async function prove(page: Page, password: string, action: string): Promise<void> {
  await page.getByRole('dialog').getByLabel('Current password').fill(password);
  await press(page, action, '[role=dialog]');
}

/** Selects a file as a user does, but without the file dialog of the system. */
async function choose(page: Page, name: string, buffer: Buffer): Promise<void> {
  await page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
}

describe('the settings of the dashboard', () => {
  test('let a user change the password, and enable and disable a second factor', async () => {
    await fixture.api.expect(201, 'POST', '/users', { username: 'vera', password: FIRST, role: 'viewer' });
    // The page still sends requests of the user who was logged in, until it notices that the cookie is missing.
    const expected = [/^401 POST \/api\/auth/, /^401 GET \/api\//, /status of 401/];
    await fixture.withPage({ session: '', expected }, async (page) => {
      await page.goto('./settings?part=account');
      await page.getByLabel('User name').fill('vera');
      await page.getByLabel('Password').fill(FIRST);
      await press(page, 'Log in');
      await page.getByLabel('Current password').fill('not it');
      await page.getByLabel('New password').fill(SECOND);
      await page.getByLabel('Repeat password').fill(SECOND);
      await press(page, 'Change the password');
      await page.getByText('Wrong password.').waitFor();
      await page.getByLabel('Current password').fill(FIRST);
      await press(page, 'Change the password');
      await page.getByText('Password changed').waitFor();

      await press(page, 'Enable the second factor');
      await prove(page, SECOND, 'Continue');
      const secret = await page.getByRole('dialog').locator('pre').textContent();
      await page.getByLabel('Code from the app').fill(codeOfStep(fromBase32(secret!), stepAt(Date.now())));
      await press(page, 'Enable the second factor', '[role=dialog]');
      await page.getByText('shown only once').waitFor();
      const codes = await page.getByRole('dialog').locator('pre').textContent();
      expect(codes!.split('\n')).toHaveLength(10);
      await press(page, 'I have saved them');
      await page.getByText('10 recovery codes left').waitFor();

      await page.context().clearCookies();
      await page.goto('./settings?part=account');
      await page.getByLabel('User name').fill('vera');
      await page.getByLabel('Password').fill(SECOND);
      await press(page, 'Log in');
      const code = page.getByLabel('Second factor code');
      await code.waitFor();
      expect(await code.getAttribute('inputmode')).toBe('numeric');
      await press(page, 'Use a recovery code');
      expect(await code.getAttribute('inputmode')).toBe('text');
      await code.fill(codes!.split('\n')[0]!);
      await press(page, 'Log in');
      await page.getByText('9 recovery codes left').waitFor();

      await press(page, 'Disable the second factor');
      await prove(page, SECOND, 'Disable the second factor');
      await page.getByText('With a second factor, logging in').waitFor();
    });
  });

  test('show errors of a certificate at its field, and create a new certificate', async () => {
    const expected = [/^400 POST \/api\/tls\/upload/, /status of 400/];
    await fixture.withPage({ expected }, async (page) => {
      await page.goto('./settings?part=tls');
      const files = page.locator('input[type=file]');
      const nothing = { name: 'a.pem', mimeType: 'text/plain', buffer: Buffer.from('nothing') };
      await files.nth(0).setInputFiles(nothing);
      await files.nth(1).setInputFiles(nothing);
      await press(page, 'Use this certificate');
      const field = page.getByRole('group', { name: 'Certificate' });
      expect(await field.getByRole('alert').textContent()).toContain('BEGIN CERTIFICATE');
      await press(page, 'Create certificate');
      await page.getByText('EC P-256').waitFor();
      await press(page, 'Create certificate');
      const question = page.getByRole('alertdialog', { name: 'Replace the certificate?' });
      await question.getByRole('button', { name: 'Create certificate' }).click();
      await question.waitFor({ state: 'hidden' });
    });
  });

  test('compare a backup with the current settings before it is restored', async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./settings?part=backup');
      const started = page.waitForEvent('download');
      await press(page, 'Download the backup');
      const download = await started;
      expect(download.suggestedFilename()).toMatch(/^weir-backup-[\d-]+\.json$/);
      const backup = readFileSync(await download.path());
      await fixture.api.expect(201, 'POST', '/managed-domains', { domain: 'later.example' });
      const device = { mac_address: '00:00:5e:00:53:17', name: 'Hall printer' };
      await fixture.api.expect(201, 'POST', '/clients', device);
      await choose(page, 'backup.json', backup);
      await page.getByText('This would remove 2, change 0 and add 0 entries.').waitFor();
      await page.getByText(device.name).waitFor();
      await press(page, 'Restore');
      await page.getByText('Backup restored').waitFor();
      const { total } = await fixture.api.expect<{ total: number }>(200, 'GET', '/managed-domains');
      expect(total).toBe(1);
    });
  });

  test('create a backup with secrets under a passphrase, which is required to restore it', async () => {
    const expected = [/^400 POST \/api\/restore$/, /status of 400/];
    await fixture.withPage({ expected }, async (page) => {
      await page.goto('./settings?part=backup');
      await page.getByText('Include secrets').click();
      await page.getByLabel('Passphrase', { exact: true }).fill('correct horse battery');
      await page.getByLabel('Repeat passphrase').fill('correct horse battery');
      const started = page.waitForEvent('download');
      await press(page, 'Download the backup');
      const backup = readFileSync(await (await started).path());
      expect(JSON.parse(backup.toString())).toMatchObject({ has_secrets: true, secrets: {} });
      await choose(page, 'backup.json', backup);
      await page.getByLabel('Passphrase of the backup').fill('incorrect horse battery');
      await press(page, 'Compare');
      await page.getByText('wrong passphrase').waitFor();
      await page.getByLabel('Passphrase of the backup').fill('correct horse battery');
      await press(page, 'Compare');
      await page.getByText('The backup matches the current settings').waitFor();
    });
  });

  test("preview the import of another program's settings before applying it", async () => {
    await fixture.withPage({}, async (page) => {
      await page.goto('./settings?part=import');
      await choose(page, 'pi-hole_teleporter.zip', version6());
      await page.getByText('Settings of Pi-hole. Nothing has changed yet.').waitFor();
      await page.getByText('entries are not imported').click();
      await page.getByText('Weir does not identify clients by interface').waitFor();
      await page.getByRole('heading', { name: 'Answers that change' }).waitFor();
      await page.locator('code', { hasText: 'blocking.ttl_secs = 2' }).click();
      await press(page, 'Import');
      await page.getByText('The settings of Pi-hole have been imported.').waitFor();
      const config = await fixture.api.expect<Record<string, Record<string, unknown>>>(200, 'GET', '/config');
      // The first change is no longer selected; the second, an upstream that does not answer, was never selected.
      expect(config['blocking']!).toMatchObject({ mode: 'nxdomain', ttl_secs: 10 });
      expect(JSON.stringify(config['dns']!['pools'])).not.toContain('2001:db8::53');
      const groups = await fixture.api.expect<{ name: string }[]>(200, 'GET', '/groups');
      expect(groups.map(({ name }) => name)).toContain('Kids');
    });
  });
});
