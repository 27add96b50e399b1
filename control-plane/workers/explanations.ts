/** Questions that a resolve thread was asked to explain and has not answered yet. */
import type { Explanation } from '../../shared/explain.ts';
import type { FromWorker, ToWorker } from '../../shared/messages.ts';

type Explain = Extract<ToWorker, { type: 'explain' }>;
type Explained = Extract<FromWorker, { type: 'explained' }>;

/** What is asked. */
export type QuestionToExplain = Pick<Explain, 'qname' | 'qtype' | 'client'>;

/** No thread explained a question in time. */
export class ExplanationUnavailable extends Error {
  override readonly name = 'ExplanationUnavailable';
}

/** Longest wait for an explanation; a thread that dies with a question says nothing, milliseconds. */
const WAIT_MS = 10_000;

/** See above. */
export class Explanations {
  private readonly pending = new Map<number, (explanation: Explanation) => void>();
  private lastId = 0;

  /** Sends a question by `post`, which returns whether there is a thread to take it. */
  ask(question: QuestionToExplain, post: (message: Explain) => boolean): Promise<Explanation> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        clearTimeout(timer);
        this.pending.delete(id);
        reject(new ExplanationUnavailable(`explain question: ${reason}`));
      };
      const timer = setTimeout(() => fail(`no thread explained it within ${WAIT_MS} ms`), WAIT_MS);
      this.pending.set(id, (explanation) => {
        clearTimeout(timer);
        this.pending.delete(id);
        resolve(explanation);
      });
      if (!post({ type: 'explain', id, ...question })) fail('no DNS thread is running');
    });
  }

  /** Takes a thread's answer; one that comes too late is nobody's. */
  take({ id, explanation }: Explained): void {
    this.pending.get(id)?.(explanation);
  }
}
