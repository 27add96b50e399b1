/** Messages of the server outside of failed requests, such as the result of an order, in the user's language. */
import { useQuery } from '@tanstack/react-query';
import { messages } from '../../i18n/language.ts';
import { faultText, loadFaultTexts } from './fault-texts.ts';

/** Translates a message of the server; it is returned unchanged until the texts are loaded. */
export function useFaultText(): (message: string) => string {
  const language = messages.locale;
  useQuery({
    queryKey: ['fault-texts', language],
    queryFn: async () => {
      await loadFaultTexts();
      return language;
    },
    staleTime: Infinity,
  });
  return faultText;
}
