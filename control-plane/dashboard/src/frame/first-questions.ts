/** First requests of the most used pages, sent while the code of the page is loading. */
import { keepAhead } from '../api/ahead.ts';
import { ask } from '../api/ask.ts';
import type { Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import { DashboardPath } from '../../../../shared/dashboard-paths.ts';
import { FIRST_PERIOD, figuresOf } from '../pages/overview/overview-questions.ts';
import { PAGE_ROWS } from '../pages/queries/log/page-rows.ts';

const QUESTIONS: Readonly<Record<string, () => void>> = {
  [`/${DashboardPath.overview}`]: () => {
    askAhead('GET /nodes', {});
    askAhead('GET /dashboard', figuresOf(FIRST_PERIOD));
  },
  [`/${DashboardPath.queries}`]: () => {
    askAhead('GET /queries', { query: { limit: PAGE_ROWS } });
    askAhead('GET /groups', {});
  },
};

let areAsked = false;

/**
 * Sends the requests of the frame, and those of the page at a path unless the URL selects something else. Runs once.
 */
export function askFirstQuestions(path: string): void {
  // Only at the start: a kept answer could otherwise be older than a change that was made since.
  if (areAsked) return;
  areAsked = true;
  askAhead('GET /health', {});
  askAhead('GET /blocking', {});
  askAhead('GET /blocklist-sources', {});
  askAhead('GET /clients/refused', {});
  if (location.search === '') QUESTIONS[path]?.();
}

function askAhead<Name extends OperationName>(name: Name, call: Given<Name>[0] & object): void {
  keepAhead(name, call, ask(name, ...([call] as unknown as Given<Name>)));
}
