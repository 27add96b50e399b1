/**
 * The page at `/check`: whether the device that opens it uses this node. Public, as whoever wants to know may have no
 * account. Its script makes a probe (`probes/`), lets the browser look the name up, and reads what came of it.
 */
import { PROBE_ZONE } from '../../shared/dns/probe-zone.ts';
import { hashOf, page, write } from './page.ts';
import type { Page } from './page.ts';

/** What the page tells of the node. */
export interface CheckParts {
  readonly nodeName: string;
}

/** Looks at the probe this often, and so many times: a device may ask another server first. */
const LOOK_MS = 500;
const LOOKS = 16;

/** The script. Texts are set as text, never as HTML. */
const SCRIPT = `
'use strict';
const result = document.getElementById('result');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ask = async (method, path) => {
  const answer = await fetch('/check' + path, { method, credentials: 'omit' });
  if (!answer.ok) throw new Error(answer.status === 429 ? 'too many checks, try again in a minute' : 'status ' + answer.status);
  return answer.json();
};
const show = (probe) => {
  const how = { udp: 'over UDP', tcp: 'over TCP', dot: 'over TLS', doh: 'over HTTPS' }[probe.protocol];
  result.textContent = 'Yes. ' + probe.node + ' was asked by ' + probe.client + ' ' + how + ' at ' +
    new Date(probe.asked_at).toLocaleTimeString() + '. If that is not the address of this device, ' +
    'a router or another server asks on its behalf, and Weir cannot tell its clients apart.';
};
const check = async () => {
  const { id, name } = await ask('POST', '/probes');
  fetch(location.protocol + '//' + name + '/', { mode: 'no-cors', cache: 'no-store' }).catch(() => undefined);
  for (let look = 0; look < ${LOOKS}; look++) {
    await pause(${LOOK_MS});
    const probe = await ask('GET', '/probes/' + encodeURIComponent(id));
    if (probe.asked) return show(probe);
  }
  result.textContent = 'No, as far as this check can tell.';
  document.getElementById('more').hidden = false;
};
check().catch((error) => { result.textContent = 'The check did not work: ' + error.message; });
`;

/** Renders the page. */
export function checkPage({ nodeName }: CheckParts): Page {
  const body = write`
<h1>Does this device use Weir?</h1>
<p id="result" role="status">Finding out. This takes a few seconds, and needs a browser that runs scripts.</p>
<div id="more" hidden>
<p>This page asked for a name that only this Weir, <strong>${nodeName}</strong>, knows, and Weir has not seen the
question. Usual reasons:</p>
<ul>
<li>The device, or the router that gives it its settings, has another DNS server. Enter the address of Weir there, as
the only one, and connect the device again.</li>
<li>The browser uses DNS of its own ("secure DNS", DNS over HTTPS). Switch that off.</li>
<li>A VPN, or a private relay of the system, carries the questions elsewhere.</li>
<li>There are several nodes of Weir, and another one was asked.</li>
</ul>
</div>
<p><a href="/check">Check again</a> · <a href="/">Weir</a></p>
${{ markup: `<script>${SCRIPT}</script>` }}`;
  // The browser may speak to this server, and try to reach the names of probes, where no server listens.
  return page('Does this device use Weir?', body, {
    'script-src': [hashOf(SCRIPT)],
    'connect-src': ["'self'", `http://*.${PROBE_ZONE}`, `https://*.${PROBE_ZONE}`],
  });
}
