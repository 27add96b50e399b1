/** Searches services. */

interface Searchable {
  readonly id: string;
  readonly name: string;
  readonly domains: readonly string[];
}

/** Services whose name, id or domains contain a text; matches in the name come first. */
export function matching<One extends Searchable>(services: readonly One[], text: string): readonly One[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return services;
  const byName = services.filter(
    ({ id, name }) => name.toLowerCase().includes(wanted) || id.includes(wanted),
  );
  const others = services.filter(
    (one) => !byName.includes(one) && one.domains.some((domain) => domain.includes(wanted)),
  );
  return [...byName, ...others];
}
