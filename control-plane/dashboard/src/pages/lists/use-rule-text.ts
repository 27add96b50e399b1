/** The text of custom rules in a form: read once, judged while it is typed, and saved unless someone else has changed it. */
import { useEffect, useState } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import type { TextVerdict } from '../../../../../shared/api/policy/custom-text-api.ts';
import { send } from '../../api/ask.ts';
import { operationsOf } from './list-rows.ts';

/** From the last key to the question what would become of the text. */
const PAUSE_MS = 300;
const NO_VERDICT: TextVerdict = { rules: 0, refused: [] };

/** A text in a form. */
export interface RuleText {
  /** Null until it is read. */
  readonly text: string | null;
  readonly setText: (text: string) => void;
  /** Of the text, or of one that was typed shortly before. */
  readonly verdict: TextVerdict;
  /** Of the text as it was read. */
  readonly etag: string;
  /** Why it could not be read. */
  readonly failure: Error | null;
}

/** Reads and judges the text of a source. */
export function useRuleText(kind: SourceKind, id: number): RuleText {
  const operations = operationsOf(kind);
  const [text, setText] = useState<string | null>(null);
  const [etag, setEtag] = useState('*');
  const [failure, setFailure] = useState<Error | null>(null);
  const [verdict, setVerdict] = useState(NO_VERDICT);

  useEffect(() => {
    const left = new AbortController();
    const read = async (): Promise<void> => {
      const { answer, headers } = await send(operations.text, { params: { id }, signal: left.signal });
      const stored = await answer.text();
      setEtag(headers.get('ETag') ?? '*');
      setText(stored);
    };
    read().catch((error: unknown) => {
      if (!left.signal.aborted) setFailure(error instanceof Error ? error : new Error(String(error)));
    });
    return () => left.abort();
  }, [operations.text, id]);

  useEffect(() => {
    if (text === null) return undefined;
    const outdated = new AbortController();
    const judge = async (): Promise<void> => {
      const call = { params: { id }, query: { dry_run: true }, body: text, signal: outdated.signal } as const;
      const { answer } = await send(operations.writeText, call);
      if (!outdated.signal.aborted) setVerdict(answer);
    };
    // Marks are a help: without an answer the text can still be saved, and saving says what is wrong.
    const timer = setTimeout(() => void judge().catch(() => undefined), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      outdated.abort();
    };
  }, [operations.writeText, id, text]);

  return { text, setText, verdict, etag, failure };
}
