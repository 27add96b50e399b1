/** Errors of forms, in the language of the dashboard. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import type { Page } from '../support/browser/watched-page.ts';

let fixture: DashboardFixture;

beforeAll(async () => {
  fixture = await DashboardFixture.open();
  await fixture.api.expect(201, 'POST', '/groups', { name: 'Kinder' });
});
afterAll(() => fixture.close());

/** Opens the dashboard in a language and passes the page to `steps`; returns the requested files with fault texts. */
async function inLanguage(language: string, steps: (page: Page) => Promise<void>): Promise<string[]> {
  const files: string[] = [];
  const expected = [/^40[09] POST \/api\//, /status of 40[09]/];
  await fixture.withPage({ expected }, async (page) => {
    await page.addInitScript(`localStorage.setItem('weir.language', '${language}')`);
    page.on('request', (request) => {
      const file = /fault-texts\.\w+/.exec(request.url())?.[0];
      if (file !== undefined) files.push(file);
    });
    await steps(page);
  });
  return files;
}

test('a form in German shows API errors in German, and loads their texts with the first error', async () => {
  const files = await inLanguage('de', async (page) => {
    await page.goto('./groups');
    await page.getByRole('button', { name: 'Gruppe hinzufügen' }).first().click();
    const form = page.getByRole('dialog');
    const name = form.getByLabel('Name', { exact: true });
    await name.fill('x'.repeat(500));
    await name.press('Enter');
    await form.getByText(/^Zu lang: höchstens \d+ Zeichen$/).waitFor();
    await name.fill('Kinder');
    await name.press('Enter');
    await form.getByText('Eine Gruppe namens „Kinder“ gibt es schon').waitFor();
  });
  expect(files).toEqual(['fault-texts.de']);
});

test.each([
  ['es', 'Añadir entrada', 'Se espera: un tipo, porque el valor no es una dirección'],
  ['fr', 'Ajouter une entrée', 'Valeur attendue : un type, car la valeur n’est pas une adresse'],
  ['nl', 'Record toevoegen', 'Verwacht: een type, omdat de waarde geen adres is'],
])('a form in %s shows an API error in this language', async (language, add, message) => {
  await inLanguage(language, async (page) => {
    await page.goto('./names');
    await page.getByRole('button', { name: add }).first().click();
    const form = page.getByRole('dialog');
    await form.getByRole('textbox').first().fill('nas.home.arpa');
    const value = form.getByRole('textbox').nth(1);
    await value.fill('-');
    await value.press('Enter');
    await form.getByText(message).waitFor();
  });
});

test('a form in English shows the text of the server, and loads no error texts', async () => {
  const files = await inLanguage('en', async (page) => {
    await page.goto('./groups');
    await page.getByRole('button', { name: 'Add group' }).first().click();
    const form = page.getByRole('dialog');
    const name = form.getByLabel('Name', { exact: true });
    await name.fill('Kinder');
    await name.press('Enter');
    await form.getByText('a group named "Kinder" already exists').waitFor();
  });
  expect(files).toEqual([]);
});
