/** Explanations of the API. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';

/** An explanation. */
export type Explained = AnswerOf<'GET /explain'>;
