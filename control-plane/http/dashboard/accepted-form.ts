/** Chooses the form of a file by Accept-Encoding (RFC 9110 section 12.5.3). */
import type { Form } from '../../built-dashboard/build-manifest.ts';

/** Best first. */
const FORMS: readonly Form[] = ['br', 'gzip', 'identity'];
/** Members of the field that are looked at; browsers send five. */
const MOST_MEMBERS = 32;

/** The best form of those in `available` that the field accepts; identity where it accepts none. */
export function acceptedForm(
  field: string | undefined,
  available: Readonly<Partial<Record<Form, unknown>>>,
): Form {
  if (field === undefined) return 'identity';
  const accepted = new Map(field.split(',', MOST_MEMBERS).map(readMember));
  const accepts = (form: Form): boolean =>
    accepted.get(form) ??
    (form === 'gzip' ? accepted.get('x-gzip') : undefined) ??
    accepted.get('*') ??
    false;
  return FORMS.find((form) => available[form] !== undefined && accepts(form)) ?? 'identity';
}

/** The coding, and whether its weight is more than 0. */
function readMember(member: string): [string, boolean] {
  const [coding = '', ...parameters] = member.split(';', 4).map((part) => part.trim().toLowerCase());
  return [coding, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))];
}
