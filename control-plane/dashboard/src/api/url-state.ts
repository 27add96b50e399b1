/** State in the URL, such as filters and the open row, so that it works with links, reload and the back button. */
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';
import { fieldsOf, searchOf } from './search-fields.ts';
import type { SearchFields } from './search-fields.ts';

/** Changes some fields. With `replace`, the browser's history gets no new entry, for example while the user types. */
export type SetFields<Fields extends SearchFields> = (
  changed: Partial<Fields>,
  how?: { readonly replace?: boolean },
) => void;

/** The fields in the URL, with defaults for missing fields. Pass the same `defaults` object on every render. */
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
