/**
 * The script of the page `/check`. It creates several probes, lets the browser look up their names one after another,
 * and shows which of them reached this node, over IPv4 and over IPv6. Several probes are needed because a device with a
 * second DNS server sends a part of the queries to that server. If the page has the form for requesting that a name be
 * unblocked, the script also sends it. Texts are set as text, never as HTML.
 */

import { CHECK_LANGUAGES } from './check-texts/languages.ts';

/** Number of names that a check looks up. */
export const CHECK_NAMES = 6;
/** Interval at which the script polls the probes, and number of polls: a device may first query another server. */
const POLL_MS = 500;
const MAX_POLLS = 16;
/** Pause between two names, which gives a resolver the time to alternate between servers. */
const GAP_MS = 150;

/** Applies the choices made in the dashboard: the theme before the first paint, and the language. */
export const CHOICES_SCRIPT = `
'use strict';
(() => {
  const kept = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const root = document.documentElement;
  const theme = kept('weir.theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const language = kept('weir.language');
  const isOther = language !== root.lang && ${JSON.stringify(CHECK_LANGUAGES)}.includes(language);
  // One that the address names is shown: no circles.
  if (!isOther || new URLSearchParams(location.search).has('lang')) return;
  root.dataset.leaving = '';
  location.replace('check?lang=' + language);
})();
`;

export const CHECK_SCRIPT = `
'use strict';
const main = document.getElementById('check');
const texts = JSON.parse(main.dataset.texts);
const own = main.dataset.address;
const node = main.dataset.node;
const count = ${CHECK_NAMES};
const TRANSPORTS = { udp: 'UDP', tcp: 'TCP', dot: 'TLS', doh: 'HTTPS' };
const fill = (text, values) => text.replace(/\\{(\\w+)\\}/g, (whole, key) => values[key] ?? whole);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const put = (id, text) => { const place = document.getElementById(id); place.textContent = text; place.hidden = text === ''; };
const deviceText = () => {
  const agent = navigator.userAgent;
  if (/\\bTV\\b|SMART-TV|SmartTV|Tizen|Web0S|\\bAFT|PlayStation|Xbox|Nintendo/.test(agent)) return texts.device;
  if (/iPad|Tablet/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1)) return texts.tablet;
  if (/iPhone|Mobile/.test(agent)) return texts.phone;
  if (/Android/.test(agent)) return texts.tablet;
  return /Windows|Macintosh|Linux|CrOS|X11/.test(agent) ? texts.computer : texts.device;
};
const ask = async (method, path, body) => {
  const json = body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  const answer = await fetch('check/' + path, { method, credentials: 'omit', ...json });
  if (!answer.ok) throw Object.assign(new Error(answer.status), { isTooMany: answer.status === 429 });
  return answer.json();
};
const familyOf = ({ client }) => (client.includes(':') ? 'IPv6' : 'IPv4');
const showFamily = (family, probes) => {
  const seen = probes.filter(({ askers }) => askers.some((asker) => familyOf(asker) === family)).length;
  const askers = probes.flatMap(({ askers }) => askers).filter((asker) => familyOf(asker) === family);
  const clients = [...new Set(askers.map(({ client, protocol }) => client + ' (' + TRANSPORTS[protocol] + ')'))];
  put(family, seen === 0 ? texts.familyNotSeen : fill(texts.familySeen, { seen, count, clients: clients.join(', ') }));
  return { seen, addresses: [...new Set(askers.map(({ client }) => client))] };
};
const familyNote = (verdict, four, six) => {
  if (verdict === 'none' || (four > 0) === (six > 0)) return '';
  const [used, other] = four > 0 ? ['IPv4', 'IPv6'] : ['IPv6', 'IPv4'];
  return fill(verdict === 'all' ? texts.oneFamilyAll : texts.oneFamilySome, { used, other });
};
const senderNote = (verdict, addresses) => {
  if (verdict === 'none') return '';
  if (addresses.includes(own)) return '';
  // A device has several addresses of IPv6, one of IPv4.
  const client = addresses.find((address) => !address.includes(':'));
  if (own === '' || own.includes(':') || client === undefined) return texts.maybeForwarded;
  return fill(texts.forwarded, { client, address: own });
};
const show = (probes) => {
  const seen = probes.filter(({ asked }) => asked).length;
  const verdict = seen === count ? 'all' : seen === 0 ? 'none' : 'some';
  main.dataset.verdict = verdict;
  const values = { device: deviceText(), node, seen, count };
  put('result', fill(texts[verdict], values));
  put('detail', fill(texts[verdict + 'Detail'], values));
  const four = showFamily('IPv4', probes);
  const six = showFamily('IPv6', probes);
  put('familyNote', familyNote(verdict, four.seen, six.seen));
  put('senderNote', senderNote(verdict, [...four.addresses, ...six.addresses]));
  put('limits', verdict === 'all' ? texts.limits : '');
  document.getElementById('families').hidden = false;
  document.getElementById('more').hidden = verdict === 'all';
};
const check = async () => {
  const ids = [];
  for (let i = 0; i < count; i++) {
    const { id, name } = await ask('POST', 'probes');
    ids.push(id);
    fetch(location.protocol + '//' + name + '/', { mode: 'no-cors', cache: 'no-store' }).catch(() => undefined);
    await pause(${GAP_MS});
  }
  const look = () => Promise.all(ids.map((id) => ask('GET', 'probes/' + encodeURIComponent(id))));
  for (let looks = 1; ; looks++) {
    await pause(${POLL_MS});
    const probes = await look();
    const isWhole = probes.every(({ asked }) => asked);
    if (!isWhole && looks < ${MAX_POLLS}) continue;
    // A question over the other family may be a moment behind.
    if (isWhole) await pause(${POLL_MS});
    return show(isWhole ? await look() : probes);
  }
};
const nameIn = (text) => {
  const url = text.includes('://') ? text : 'http://' + text;
  return URL.canParse(url) ? new URL(url).hostname : text;
};
const FAULTS = { 400: texts.askInvalid, 403: texts.askRefused, 429: texts.askTooMany };
const startAsking = (section) => {
  const [input, button, state] = ['input', 'button', '#askState'].map((part) => section.querySelector(part));
  section.hidden = false;
  section.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    state.textContent = '';
    ask('POST', 'unblock-requests', { domain: nameIn(input.value.trim()) })
      .then(({ outcome }) => texts.askOutcomes[outcome])
      .catch((error) => FAULTS[error.message] ?? fill(texts.failedDetail, { reason: error.message }))
      .then((text) => { state.textContent = text; button.disabled = false; });
  });
};
const asking = document.getElementById('ask');
if (asking !== null) startAsking(asking);
if (!('leaving' in document.documentElement.dataset)) check().catch((error) => {
  main.dataset.verdict = 'failed';
  put('result', texts.failed);
  put('detail', error.isTooMany ? texts.tooMany : fill(texts.failedDetail, { reason: error.message }));
});
`;
