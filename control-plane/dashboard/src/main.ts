/** Entry point of the dashboard. It is small, so that the first requests are sent while the rest of the code loads. */
import { PAGE_BASE } from './api/place.ts';
import { askAtStart } from './frame/first-questions.ts';

askAtStart(location.pathname.slice(PAGE_BASE.length));
// Not awaited: that code imports modules of this file, and would wait for its end.
import('./start.tsx').catch((error: unknown) => {
  // `public/start.js` shows a message and reloads the page.
  dispatchEvent(new Event('weir:not-loaded'));
  throw error;
});
