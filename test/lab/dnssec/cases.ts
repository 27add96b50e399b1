/** Questions of the DNSSEC lab, and the expected result of each. */
import type { RRTypeName } from '../../../shared/dns/iana.ts';
import { SOUND_ZONES } from './zones.ts';

/** The results by which validators are compared. */
export type LabResult = 'secure' | 'insecure' | 'bogus';

/** A question of the lab. */
export interface LabCase {
  readonly name: string;
  readonly type: RRTypeName;
  readonly result: LabResult;
  /** Differing result of another validator, and why Weir differs. */
  readonly differs?: {
    readonly unbound?: LabResult;
    readonly delv?: LabResult;
    readonly because: string;
  };
}

const SHA1 = 'RFC 9905: signatures with SHA-1 prove nothing; these versions still accept them';
const ITERATIONS = 'RFC 9276 leaves the limit to vendors: Weir has 50, these versions 150';
const OPT_OUT =
  'RFC 5155 section 9.2: a denial by an opt-out span must not be marked authentic; delv does so';
const DIGESTS =
  'RFC 4509 section 3: a DS with SHA-1 is ignored beside one with SHA-256; Unbound accepts either';
const MADE_ALIAS = 'RFC 6672 section 5.3.1: a DNAME proves its alias, also if the question is for the alias';

function of(result: LabResult, questions: string, differs?: LabCase['differs']): LabCase[] {
  return questions
    .trim()
    .split('\n')
    .map((line) => {
      const [name, type] = line.trim().split(' ');
      return {
        name: name!,
        type: type as RRTypeName,
        result,
        ...(differs === undefined ? {} : { differs }),
      };
    });
}

/** Data, an alias, a wildcard, and the kinds of denial, in each sound zone. */
const inSoundZones = SOUND_ZONES.flatMap(({ name }) =>
  of(
    'secure',
    `www.${name} A
alias.${name} AAAA
x.wild.${name} A
www.${name} MX
nothing.${name} A
empty.${name} A
x.wild.${name} MX
x.wild.${name} DS
empty.${name} DS
x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.${name} A
${name} DS`,
  ),
);

/** Every question of the lab. */
export const LAB_CASES: readonly LabCase[] = [
  ...inSoundZones,
  ...of(
    'secure',
    `test SOA
. NS
nothing A
a13.test DNSKEY
a13.test NSEC
unsigned.test DS
island.test DS
to-secure.a13.test A
to-nothing.a13.test A
x.stars.a13.test A
www.sound.a13.test A
nothing.sound.a13.test A
sound.a13.test DNAME
alias.sound.a13.test ANY
www.ds-sha1.test A
www.ds-sha384.test A
www.ds-sha1-broken.test A
www.ds-extra.test A
www.ds-extra-unknown.test A
www.shouting.test A
www.raised-ttl.test A
www.extra-signature.test A
www.optout.test A
www.signed.optout.test A
nothing.signed.optout.test A
www.child.a13.test A
nothing.child.a13.test A
www.child.a13-nsec3.test A
www.two.labels.a13.test A
labels.a13.test A
plain.a13.test DS
www.bad-signature.test AAAA
www.no-nsec.test A
www.bad-nsec.test A`,
  ),
  ...of(
    'insecure',
    `www.unsigned.test A
nothing.unsigned.test A
www.unsigned.test MX
to-secure.unsigned.test A
www.island.test A
nothing.island.test A
www.unknown-algorithm.test A
nothing.unknown-algorithm.test A
www.unknown-digest.test A
www.private-algorithm.test A
to-unsigned.a13.test A
to-unsigned-nothing.a13.test A
www.open.a13.test A
www.plain.a13.test A
www.child.plain.a13.test A
www.unsigned.optout.test A
x.wild.optout.test A
nothing.iterations-2500.test A
www.iterations-2500.test MX
x.wild.iterations-2500.test A`,
  ),
  ...of(
    'insecure',
    `www.a5.test A
nothing.a5.test A
www.a7.test A
nothing.a7.test A`,
    { unbound: 'secure', delv: 'secure', because: SHA1 },
  ),
  ...of(
    'insecure',
    `nothing.iterations-60.test A
www.iterations-60.test MX
x.wild.iterations-60.test A
nothing.iterations-150.test A`,
    { unbound: 'secure', delv: 'secure', because: ITERATIONS },
  ),
  ...of('insecure', 'nothing.optout.test A\nunsigned.optout.test DS', { delv: 'secure', because: OPT_OUT }),
  ...of('bogus', 'www.ds-sha256-broken.test A', { unbound: 'secure', because: DIGESTS }),
  ...of('secure', 'www.sound.a13.test CNAME', { unbound: 'bogus', because: MADE_ALIAS }),
  ...of('secure', 'www.iterations-60.test A\nwww.iterations-2500.test A'),
  ...of(
    'bogus',
    `www.bad-signature.test A
alias.bad-signature.test A
www.other-data.test A
www.more-data.test A
www.no-signature.test A
www.no-signatures.test A
nothing.no-signatures.test A
www.no-keys.test A
www.unsigned-keys.test A
nothing.no-nsec.test A
x.wild.no-nsec.test A
nothing.unsigned-nsec.test A
nothing.no-nsec3.test A
www.expired.test A
nothing.expired.test A
www.not-yet.test A
www.expired-nsec3.test A
www.stripped.test A
nothing.stripped.test A
www.stripped.test MX
www.ds-wrong-digest.test A
www.ds-wrong-tag.test A
www.ds-wrong-algorithm.test A
www.changed-key.test A
www.wrong-signer.test A
www.wrong-labels.test A
www.wrong-ttl.test A
www.wrong-tag.test A
www.bad-keys.test A
nothing.bad-nsec.test A
www.bad-nsec.test MX
x.wild.bad-nsec.test A
nothing.bad-soa.test A
www.below.stripped.test A
to-bogus.a13.test A
www.broken.a13.test A`,
  ),
];
