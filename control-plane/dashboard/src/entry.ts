/**
 * Entry point of the dashboard. This file is small, so that the first requests are sent while the rest of the code
 * loads.
 */
import { PAGE_BASE } from './api/place.ts';
import { askAtStart } from './frame/first-questions.ts';
import { askForMessages } from './i18n/message-files.ts';

const path = location.pathname.slice(PAGE_BASE.length);
askAtStart(path);
askForMessages(path);
// Not awaited: `start.tsx` imports modules that are built into this file, so each would wait for the other.
import('./start.tsx').catch((error: unknown) => {
  // `public/start.js` shows a message and reloads the page.
  dispatchEvent(new Event('weir:not-loaded'));
  throw error;
});
