/**
 * Reasons in the user's language, for components. The texts are in the files of this directory, which only pages with
 * reasons load.
 */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { messages } from '../language.ts';
import { useText } from '../text.ts';
import { failureWithReasons, lineReasonText } from './reason-text.ts';
import type { LineTexts } from './reason-text.ts';

/** Texts by language; the server's texts are in English. */
const files = import.meta.glob<{ default: NonNullable<LineTexts> }>('./line-reasons.*.json');

/** Translates a reason why a line or a regex cannot be used; English until the texts are loaded. */
export function useLineReason(): (reason: string) => string {
  const texts = useLineTexts();
  return (reason) => lineReasonText(reason, texts);
}

/** The failure of a request, with the reasons in its messages in the user's language. */
export function useFailureWithReasons(failure: Error | null): Error | null {
  const texts = useLineTexts();
  return useMemo(() => (failure === null ? null : failureWithReasons(failure, texts)), [failure, texts]);
}

/** Like `useFailureWithReasons`, for a failure that a notice shows. */
export function useFailureTranslation(): (failure: Error) => Error {
  const texts = useLineTexts();
  return (failure) => failureWithReasons(failure, texts);
}

/** Texts of the reasons of lines; English until they are loaded. */
export function useLineTexts(): LineTexts {
  useText();
  const language = messages.locale;
  const { data } = useQuery({
    queryKey: ['line-reasons', language],
    queryFn: async () => (await files[`./line-reasons.${language}.json`]?.())?.default ?? null,
    staleTime: Infinity,
  });
  return data ?? null;
}
