/** State that belongs into the address: filters, what is open. It can be shared, reloaded and gone back to. */
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';
import { fieldsOf, searchOf } from './search-fields.ts';
import type { SearchFields } from './search-fields.ts';

/** Changes some fields; `replace` leaves no step in the history of the browser, as for typing. */
export type SetFields<Fields extends SearchFields> = (
  changed: Partial<Fields>,
  how?: { readonly replace?: boolean },
) => void;

/** The fields of the address, each a text; a missing one has its default. Pass the same object each time. */
export function useUrlState<Fields extends SearchFields>(defaults: Fields): [Fields, SetFields<Fields>] {
  const [params, setParams] = useSearchParams();
  const fields = fieldsOf(params, defaults);
  const setFields: SetFields<Fields> = useCallback(
    (changed, how) => {
      setParams((before) => searchOf(before, { ...fieldsOf(before, defaults), ...changed }, defaults), {
        replace: how?.replace === true,
      });
    },
    [setParams, defaults],
  );
  return [fields, setFields];
}
