/** Judges a page by axe-core, with the rules of WCAG 2.2 AA and the good habits beside them. */
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

/** Fails with each element that breaks a rule; `within` is a selector, the whole page unless given. */
export async function expectAccessible(page: Page, within = ':root'): Promise<void> {
  // Over the protocol of the browser, which the content policy of the page does not bind; half a megabyte, so once.
  const hasAxe = await page.evaluate<boolean>('globalThis.axe !== undefined');
  if (!hasAxe) await page.evaluate(`(() => { ${axe.source} })()`);
  // An announcement stays in the live region for seconds, even if it names a button that is gone.
  const parts = { include: [within], exclude: ['[data-live-announcer]'] };
  const run = `axe.run(${JSON.stringify(parts)}, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] })`;
  const { violations } = await page.evaluate<AxeResult>(run);
  const faults = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  expect(faults).toEqual([]);
}
