/** Checks a page with axe-core against the rules of WCAG 2.2 AA and its best practices. */
import { expect } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from './watched-page.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Fails if elements break a rule, and lists them. `within` is a selector; the default is the whole page. */
export async function expectAccessible(page: Page, within = ':root'): Promise<void> {
  // Injects axe-core through the browser's protocol, because the page's content security policy would block a script
  // element. The script has half a megabyte and is injected only once per page.
  const hasAxe = await page.evaluate<boolean>('globalThis.axe !== undefined');
  if (!hasAxe) await page.evaluate(`(() => { ${axe.source} })()`);
  // An announcement stays in the live region for seconds, even if its button no longer exists.
  const parts = { include: [within], exclude: ['[data-live-announcer]'] };
  const run = `axe.run(${JSON.stringify(parts)}, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] })`;
  const { violations } = await page.evaluate<AxeResult>(run);
  const faults = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  expect(faults).toEqual([]);
}
