/**
 * Texts of changes in the user's language and with the terms of the dashboard, from files of this directory, which only
 * this page loads. The texts of the server use the terms of the API.
 */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ENGLISH_CHANGES } from '../../../../../../shared/policy/changes/change-codes.ts';
import type { ChangeTexts } from '../../../../../../shared/policy/changes/change-codes.ts';
import { messages } from '../../../i18n/language.ts';
import { useText } from '../../../i18n/text.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { nameOf } from '../../../ui/policy/client-name.ts';
import type { NamedTexts } from './change-texts.ts';

/** Texts by language; languages without a file use the server's texts. */
const files = import.meta.glob<{ default: ChangeTexts }>('./change-texts.*.json');

/** Maximum number of devices that a request returns. */
const MAX_CLIENTS = 1_000;

/** Texts in the current language, until they are loaded the texts of the server; and the names of objects. */
export function useChangeTexts(): NamedTexts {
  useText();
  const language = messages.locale;
  const { data } = useQuery({
    queryKey: ['change-texts', language],
    queryFn: async () => (await files[`./change-texts.${language}.json`]?.())?.default ?? null,
    staleTime: Infinity,
  });
  const { data: groups } = useAsk('GET /groups', {});
  const { data: schedules } = useAsk('GET /schedule-profiles', {});
  const { data: clients } = useAsk('GET /clients', { query: { limit: MAX_CLIENTS } });
  return useMemo(() => {
    const byId = (rows: readonly { id: number; name: string }[] = []): ReadonlyMap<number, string> =>
      new Map(rows.map(({ id, name }) => [id, name]));
    const devices = clients?.data.map((client) => ({ id: client.id, name: nameOf(client) }));
    const names = { groups: byId(groups), schedules: byId(schedules), clients: byId(devices) };
    return { ...(data ?? ENGLISH_CHANGES), names };
  }, [data, groups, schedules, clients]);
}
