/** First requests of the frame and of the most used pages, sent while their code is loading. */
import { keepAhead } from '../api/ahead.ts';
import { ask, askOnce } from '../api/ask.ts';
import { meOf } from '../api/me.ts';
import type { Me } from '../api/me.ts';
import type { Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import { DashboardPath } from '../../../../shared/dashboard-paths.ts';
import { FIRST_PERIOD, figuresOf } from '../pages/overview/overview-questions.ts';
import { PAGE_ROWS } from '../pages/queries/log/page-rows.ts';

const QUESTIONS: Readonly<Record<string, () => void>> = {
  [`/${DashboardPath.overview}`]: () => {
    askAhead('GET /dashboard', figuresOf(FIRST_PERIOD));
    askAhead('GET /nodes', {});
  },
  [`/${DashboardPath.queries}`]: () => {
    askAhead('GET /queries', { query: { limit: PAGE_ROWS } });
    askAhead('GET /groups', {});
  },
};

/** Key in the browser's storage that is set if the last page was shown to a logged-in user; its value is empty. */
const WAS_LOGGED_IN = 'weir.loggedIn';

/**
 * Requests the login state, the data of the frame and, unless the URL has filters, the data of the page at a path. If
 * the last page was not shown to a logged-in user, all other requests wait for the login state. Must be called only at
 * the start: later, a kept response could be older than a change.
 */
export function askAtStart(path: string): void {
  const answer = ask('GET /auth/status');
  keepAhead('GET /auth/status', {}, answer);
  const wasLoggedIn = localStorage.getItem(WAS_LOGGED_IN) !== null;
  if (wasLoggedIn) askForFrame();
  setTimeout(() => {
    // The first use of a date format is slow, and every page needs one. By now, the first requests have been sent.
    new Intl.DateTimeFormat().resolvedOptions();
    if (wasLoggedIn) askForPage(path);
  });
  answer.then(
    (state) => {
      if (wasLoggedIn || !mayAsk(meOf(state))) return;
      askForFrame();
      askForPage(path);
    },
    // If a request fails, the code that shows the dashboard sends it again.
    () => undefined,
  );
}

/** Stores whether the next page may send its requests before it knows the login state. */
export function rememberLogin(me: Me | null): void {
  if (mayAsk(me)) localStorage.setItem(WAS_LOGGED_IN, '');
  else localStorage.removeItem(WAS_LOGGED_IN);
}

/** Users of the role family have a different page, and no access to these responses. */
function mayAsk(me: Me | null): boolean {
  return me !== null && !me.isFamily;
}

function askForPage(path: string): void {
  if (location.search === '') QUESTIONS[path]?.();
}

function askForFrame(): void {
  askAhead('GET /health', {});
  askAhead('GET /blocking', {});
  askAhead('GET /blocklist-sources', {});
  askAhead('GET /clients/refused', {});
  askAhead('GET /system/reachability', {});
}

function askAhead<Name extends OperationName>(name: Name, call: Given<Name>[0] & object): void {
  keepAhead(name, call, askOnce(name, ...([call] as unknown as Given<Name>)));
}
