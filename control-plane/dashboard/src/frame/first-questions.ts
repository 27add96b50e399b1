/** First requests of the pages that are opened most: they run while the code of the page is loaded. */
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

/** Asks once what the frame will, and the page of a path unless its address chooses something else. */
export function askFirstQuestions(path: string): void {
  // Later an answer might wait here until after a change, and show what was before it.
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
