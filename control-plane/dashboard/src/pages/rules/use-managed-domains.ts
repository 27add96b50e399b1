/** All rules for names, which the API answers in pages. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { ask } from '../../api/ask.ts';
import type { ManagedDomain } from './rule-rows.ts';

const PAGE = 1_000;

/** All of them: filters of the page hold over every rule, not over one page of them. */
export function useManagedDomains(): UseQueryResult<ManagedDomain[]> {
  return useQuery({
    queryKey: ['GET /managed-domains', 'all'],
    queryFn: async ({ signal }) => {
      const rules: ManagedDomain[] = [];
      for (;;) {
        const { data, total } = await ask('GET /managed-domains', {
          query: { limit: PAGE, offset: rules.length },
          signal,
        });
        rules.push(...data);
        if (data.length === 0 || rules.length >= total) return rules;
      }
    },
    placeholderData: keepPreviousData,
  });
}
