/**
 * Reasons from the server, in the language of the user: why a line, a custom rule, a regex or a setting of another
 * program cannot be used.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../shared/api/policy/sources-api.ts';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { startListServer } from '../support/weir/list-server.ts';
import type { ListServer } from '../support/weir/list-server.ts';

const LINES = 'ads.example\n||ads.example^$redirect=a\n||*.example^$client=1.2.3.4/99\n';
const GERMAN = { locale: 'de-DE' } as const;

let fixture: DashboardFixture;
let lists: ListServer;

beforeAll(async () => {
  [fixture, lists] = await Promise.all([DashboardFixture.open(), startListServer()]);
});
afterAll(async () => {
  await lists.close();
  await fixture.close();
});

describe('in German, the reason is shown', () => {
  test('why the preview of a list has no rule for a line', async () => {
    lists.serve('/lines.txt', LINES);
    await fixture.withPage(GERMAN, async (page) => {
      await page.goto('./lists?add=list');
      const form = page.getByRole('dialog');
      await form.getByRole('textbox', { name: 'Adresse' }).fill(lists.url('/lines.txt'));
      await form.getByRole('button', { name: 'Vorschau' }).click();
      await form.getByText('Zeilen ohne Regel').click();
      await form.getByText('Zeile 2: der Modifikator wird nicht unterstützt: $redirect').waitFor();
      await expectAccessible(page);
    });
  });

  test('why a line of custom rules is not a rule', async () => {
    const json = { name: 'Eigene', text: LINES };
    const { id } = await fixture.api.expect<BlocklistSource>(201, 'POST', '/blocklist-sources', json);
    await fixture.withPage(GERMAN, async (page) => {
      await page.goto(`./lists?open=${id}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Regeln bearbeiten' }).click();
      const lines = page.getByRole('dialog').getByRole('list', { name: 'Ungültige Zeilen' });
      await lines.getByText('Zeile 2: der Modifikator wird nicht unterstützt: $redirect').waitFor();
      await lines.getByText('Zeile 3: $client mit einem Wert, der weder Adresse noch Netz ist').waitFor();
    });
  });

  test('why the form of a regex rule rejects the regex, before and after it is saved', async () => {
    await fixture.withPage({ ...GERMAN, expected: [/ 400 |^400 /] }, async (page) => {
      await page.goto('./rules?tab=expression');
      await page.getByRole('button', { name: 'Regex-Regel hinzufügen' }).first().click();
      const form = page.getByRole('dialog');
      await form.getByRole('textbox').first().fill('(ads');
      await form.getByRole('textbox', { name: 'Einen Namen ausprobieren' }).fill('ads.example.org');
      await form.getByText('Die Regex ist ungültig: schließende ) fehlt: `(?i)(ads`').waitFor();
      await form.getByRole('button', { name: 'Speichern', exact: true }).click();
      await form.getByText('keine Regex, die in linearer Zeit prüfbar ist: schließende ) fehlt').waitFor();
      await form.getByRole('textbox').first().fill('^');
      await form.getByRole('button', { name: 'Speichern', exact: true }).click();
      await form.getByText('passt auf jeden Namen; wenn das gewollt ist, schreibe .*').waitFor();
      expect(await fixture.api.expect(200, 'GET', '/regex-filters')).toEqual([]);
    });
  });

  test('why the preview of an import does not import an option', async () => {
    const buffer = Buffer.from(
      'server=192.0.2.53\nconf-script=/etc/script\ndhcp-range=192.0.2.100,192.0.2.200\n',
    );
    await fixture.withPage(GERMAN, async (page) => {
      await page.goto('./settings?part=import');
      const file = { name: 'dnsmasq.conf', mimeType: 'application/octet-stream', buffer };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByText('dnsmasq führt keines, Weir schon: siehe database.log_queries').first().waitFor();
      await page.getByText('Warum 4 Einträge nicht importiert werden').click();
      await page.getByText('Weir ist kein DHCP-Server').waitFor();
      await page.getByText('Weir führt keine Skripte aus').waitFor();
      await expectAccessible(page);
    });
  });
});
