/**
 * Icons of services. They may be hostile, and SVG can contain scripts. Therefore, only drawings with the elements and
 * attributes below are accepted, and they are sent as `data:` URLs for `<img>`, which does not run scripts.
 */

/** Maximum length of an icon, in UTF-16 units. */
const MAX_LENGTH = 16_384;

const ELEMENTS: ReadonlySet<string> = new Set(
  'svg g path circle ellipse rect line polygon polyline title desc'.split(' '),
);
const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    'clip-rule cx cy d fill fill-opacity fill-rule height opacity points preserveAspectRatio r role rx ry stroke ' +
    'stroke-dasharray stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width transform ' +
    'version viewBox width x x1 x2 xmlns y y1 y2'
  ).split(' '),
);
const NAMESPACE = 'http://www.w3.org/2000/svg';

/**
 * One tag, which is matched at the end of the previous one. The values of its attributes contain no quotes, `<`, `&` or
 * `>`.
 */
const TAG = /<(\/?)([A-Za-z]{1,20})((?:\s+[A-Za-z][A-Za-z0-9-]{0,30}="[^"<>&]*")*)\s*(\/?)>/y;
const TEXT = /[^<&]*/y;
const ATTRIBUTE = /([A-Za-z][A-Za-z0-9-]*)="([^"]*)"/g;
/** Allowed values: numbers, names, colours and geometric functions, but neither a URL scheme nor `url(`. */
const VALUE = /^[\w\s.,#%()+-]*$/;

/** An icon as a `data:` URL; null if the text is not a plain drawing within the size limit. */
export function iconUrl(svg: string | null): string | null {
  const text = svg?.trim() ?? '';
  if (text.length === 0 || text.length > MAX_LENGTH || !isDrawing(text)) return null;
  return dataUrl(text);
}

/** A drawing that is known to be harmless, as a `data:` URL. */
export function dataUrl(svg: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

function isDrawing(text: string): boolean {
  const open: string[] = [];
  let at = 0;
  do {
    TAG.lastIndex = at;
    const tag = TAG.exec(text);
    if (tag === null) return false;
    const [, slash, name = '', attributes = '', closed] = tag;
    if (slash !== '') {
      if (closed !== '' || attributes !== '' || open.pop() !== name) return false;
    } else {
      if (!ELEMENTS.has(name) || !areHarmless(attributes)) return false;
      if ((name === 'svg') !== (open.length === 0)) return false;
      if (name === 'svg' && !attributes.includes(` xmlns="${NAMESPACE}"`)) return false;
      if (closed === '') open.push(name);
    }
    TEXT.lastIndex = TAG.lastIndex;
    TEXT.exec(text);
    at = open.length === 0 ? TAG.lastIndex : TEXT.lastIndex;
  } while (open.length > 0);
  return at === text.length;
}

function areHarmless(attributes: string): boolean {
  for (const [, name = '', value = ''] of attributes.matchAll(ATTRIBUTE)) {
    if (!ATTRIBUTES.has(name)) return false;
    if (name === 'xmlns' ? value !== NAMESPACE : !VALUE.test(value) || /url\s*\(/i.test(value)) return false;
  }
  return true;
}
