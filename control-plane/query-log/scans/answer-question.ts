/** Answers questions over the stored log. Which file reads what is known here; how it runs is not. */
import { summarizeClients } from '../../clients/client-stats-store.ts';
import { readDashboard } from '../../stats/dashboard-store.ts';
import {
  readCacheUse,
  readListHits,
  readSummary,
  readTopClients,
  readTopDomains,
} from '../../stats/stats-store.ts';
import { readSlotCounts } from '../../stats/slot-counts.ts';
import { readTimeline } from '../../stats/timeline-store.ts';
import { readQuestions } from '../distinct/read-questions.ts';
import { readClientSlots } from '../reading/client-slots.ts';
import type { LogSource } from '../reading/log-source.ts';
import { readLoggedRow } from '../reading/logged-row.ts';
import { readMostAsked } from '../reading/most-asked-store.ts';
import { readQueryLog } from '../reading/query-log-store.ts';
import type { Answers, Question, QuestionKind } from './scan-messages.ts';

/** A question that has one answer; rows are read with `exportQueries()`. */
export type WholeQuestion = Exclude<Question, { readonly kind: 'rows' }>;

/** The answer, of the kind of its question. */
export function answerQuestion(log: LogSource, question: WholeQuestion): Promise<Answers[QuestionKind]> {
  switch (question.kind) {
    case 'page':
      return readQueryLog(log, question.request);
    case 'summary':
      return readSummary(log, question.span);
    case 'cache-use':
      return readCacheUse(log, question.span);
    case 'list-hits':
      return readListHits(log, question.span);
    case 'timeline':
      return log.read((tx) => readTimeline(tx, question.request, log.onDamaged));
    case 'slot-counts':
      return log.read((tx) => readSlotCounts(tx, question.request));
    case 'client-slots':
      return log.read((tx) => readClientSlots(tx, question.request, log.onDamaged));
    case 'dashboard':
      return readDashboard(log, question.request);
    case 'top-domains':
      return readTopDomains(log, question.request, question.which);
    case 'top-clients':
      return readTopClients(log, question.request);
    case 'address-counts':
      return summarizeClients(log, question.span);
    case 'row':
      return readLoggedRow(log, question.id);
    case 'distinct-questions':
      return readQuestions(log, question.request);
    case 'most-asked':
      return readMostAsked(log, question.request);
  }
}
