/** Rules that AdGuard Home accepts but never matches, while Weir applies them as intended. Pure. */

const HINT = 'matches nothing in AdGuard Home; Weir applies the rule as written';

/** Description of the difference; null for other rules. `names` are the clients known to AdGuard Home. */
export function oddityOf(line: string, names: Iterable<string>): string | null {
  const body = line.replace(/^@@/, '');
  const isExpression = body.startsWith('/');
  const [place = '', options = ''] = isExpression ? [body] : body.split(/\$(.*)/);
  if (isExpression) return /\\(?:S|x[0-9a-f]{2})/.test(body) ? `an expression with \\S or \\x ${HINT}` : null;
  if (/^\|?https?:\/\//.test(place)) return `a rule with a scheme ${HINT}`;
  if (/\.[\^|]$/.test(place)) return `a name with a trailing dot ${HINT}`;
  if (/^[\w.: -]+$/.test(place) && (/[A-Z]/.test(place) || /[a-z]\.(?: |$)/.test(place)))
    return `a plain name with capital letters or a trailing dot ${HINT}`;
  if (/^[\d.:]+ +\*/.test(place)) return `a line of a hosts file with * ${HINT}`;
  if (/(?:^|,)badfilter(?:,|$)/.test(options) && /[A-Z]/.test(place))
    return `$badfilter with capital letters ${HINT}`;
  if (/dnsrewrite=(?:refused|nxdomain|servfail|noerror)(?:,|$)/.test(options))
    return 'AdGuard Home treats a lower-case response code as a name; Weir treats it as the code';
  if (/dnsrewrite=[^,]*;(?:HTTPS|SVCB);.*\bech=[^ ,]*=/i.test(options))
    return 'AdGuard Home omits an ech value that ends with =; Weir sends it';
  return isOtherCase(options, names) ? `$client with a name in different letter case ${HINT}` : null;
}

/** Whether `$client` has the name of a client in a different letter case, which Weir ignores. */
function isOtherCase(options: string, names: Iterable<string>): boolean {
  const [, value] = /(?:^|,)client=([^,]*)/.exec(options) ?? [];
  if (value === undefined) return false;
  const known = new Set(names);
  const folded = new Set([...known].map((name) => name.toLowerCase()));
  const given = value.split('|').map((name) => name.replaceAll(/^~|['"\\]/g, ''));
  return given.some((name) => !known.has(name) && folded.has(name.toLowerCase()));
}
