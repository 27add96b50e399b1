/** First requests of the frame and of the most used pages, sent while their code is loading. */
import { keepAhead } from '../api/ahead.ts';
import { ask } from '../api/ask.ts';
import { meOf } from '../api/me.ts';
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

/**
 * Requests the login state and, if the user is logged in, what the frame shows, and what the page at a path shows unless
 * the URL selects something else. Called once, at the start: a kept answer could otherwise be older than a change that
 * was made since.
 */
export function askAtStart(path: string): void {
  const answer = ask('GET /auth/status');
  keepAhead('GET /auth/status', {}, answer);
  // The first use of a date format is slow, and every page needs one. There is time for it until the answer arrives.
  setTimeout(() => new Intl.DateTimeFormat().resolvedOptions());
  answer.then(
    (state) => {
      const me = meOf(state);
      if (me === null || me.isFamily) return;
      if (location.search === '') QUESTIONS[path]?.();
      askAhead('GET /health', {});
      askAhead('GET /blocking', {});
      askAhead('GET /blocklist-sources', {});
      askAhead('GET /clients/refused', {});
      askAhead('GET /system/reachability', {});
    },
    // The code that shows the dashboard sends the request again.
    () => undefined,
  );
}

function askAhead<Name extends OperationName>(name: Name, call: Given<Name>[0] & object): void {
  keepAhead(name, call, ask(name, ...([call] as unknown as Given<Name>)));
}
