/** Text fields in the query string of a URL. */

/** Values by name. */
export type SearchFields = Readonly<Record<string, string>>;

/** Reads the fields from the URL, with defaults for missing fields. */
export function fieldsOf<Fields extends SearchFields>(params: URLSearchParams, defaults: Fields): Fields {
  const entries = Object.entries(defaults).map(([name, text]) => [name, params.get(name) ?? text]);
  return Object.fromEntries(entries) as Fields;
}

/** Query string with these fields. Fields with their default value are left out; other parameters are kept. */
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
