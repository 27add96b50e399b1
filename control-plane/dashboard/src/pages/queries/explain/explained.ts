/** Explanations of the API. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';

export type Explained = AnswerOf<'GET /explain'>;
