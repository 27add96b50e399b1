/** A tab in the background: no browser without a screen has one, so the page is made to believe it. */
import type { Page } from 'playwright-core';

/** Hides the page for the rest of its life. */
export async function hide(page: Page): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { get: () => true });
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  `);
}
