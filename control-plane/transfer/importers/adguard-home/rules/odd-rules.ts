/** Rules that AdGuard Home accepts but never matches, while Weir applies them as intended. Pure. */
import { type ImportReason, importReason } from '../../../../../shared/policy/reasons/import-reasons.ts';

/** Description of the difference; null for other rules. `names` are the clients known to AdGuard Home. */
export function oddityOf(line: string, names: Iterable<string>): ImportReason | null {
  const body = line.replace(/^@@/, '');
  const isExpression = body.startsWith('/');
  const [place = '', options = ''] = isExpression ? [body] : body.split(/\$(.*)/);
  if (isExpression) return /\\(?:S|x[0-9a-f]{2})/.test(body) ? importReason('adguard_odd_escape') : null;
  if (/^\|?https?:\/\//.test(place)) return importReason('adguard_odd_scheme');
  if (/\.[\^|]$/.test(place)) return importReason('adguard_odd_dot');
  if (/^[\w.: -]+$/.test(place) && (/[A-Z]/.test(place) || /[a-z]\.(?: |$)/.test(place)))
    return importReason('adguard_odd_capitals');
  if (/^[\d.:]+ +\*/.test(place)) return importReason('adguard_odd_hosts');
  if (/(?:^|,)badfilter(?:,|$)/.test(options) && /[A-Z]/.test(place))
    return importReason('adguard_odd_badfilter');
  if (/dnsrewrite=(?:refused|nxdomain|servfail|noerror)(?:,|$)/.test(options))
    return importReason('adguard_odd_code');
  if (/dnsrewrite=[^,]*;(?:HTTPS|SVCB);.*\bech=[^ ,]*=/i.test(options))
    return importReason('adguard_odd_ech');
  return isOtherCase(options, names) ? importReason('adguard_odd_client') : null;
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
