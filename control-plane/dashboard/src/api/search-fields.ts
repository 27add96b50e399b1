/** Texts in the search part of an address. */

/** Names with their texts. */
export type SearchFields = Readonly<Record<string, string>>;

/** The fields in the address, with defaults for missing ones. */
export function fieldsOf<Fields extends SearchFields>(params: URLSearchParams, defaults: Fields): Fields {
  const entries = Object.entries(defaults).map(([name, text]) => [name, params.get(name) ?? text]);
  return Object.fromEntries(entries) as Fields;
}

/** The address with these fields; those at their default are left out, parameters of others stay. */
export function searchOf<Fields extends SearchFields>(
  before: URLSearchParams,
  fields: Fields,
  defaults: Fields,
): URLSearchParams {
  const params = new URLSearchParams(before);
  for (const [name, text] of Object.entries(fields)) {
    if (text === defaults[name]) params.delete(name);
    else params.set(name, text);
  }
  return params;
}
