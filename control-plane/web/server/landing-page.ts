/**
 * The page that is shown in place of the dashboard while there is none: why there is none, that Weir is running, and
 * what to do next.
 */
import { apiPrefix } from '../../api/api-prefix.ts';
import type { Config } from '../../../config/schema.ts';
import { whoMayAskInPublic } from '../../clients/access/allowed-in-words.ts';
import type { WithoutBuild } from '../built-dashboard/dashboard-state.ts';
import { page, write } from './page.ts';
import type { Page } from './page.ts';

/** Information about the node on the page. */
export interface LandingParts {
  readonly version: string;
  readonly nodeName: string;
  readonly configuration: { current(): Config };
  /** The port of DNS; differs from the configuration if the configured port was not available. */
  readonly dnsPort: number;
}

/**
 * Renders the page; `origin` is the origin that the browser requested. The page is public, so it reveals nothing that
 * the network cannot find out.
 */
export function landingPage(parts: LandingParts, origin: string, state: WithoutBuild): Page {
  const { server, dns } = parts.configuration.current();
  const api = apiPrefix(server.alt_compat);
  const body = write`
<h1>Weir is running</h1>
<p>This is the DNS filter on <strong>${parts.nodeName}</strong>, version ${parts.version}.</p>
${
  state.kind === 'building'
    ? write`<p>Its dashboard is being built, which takes less than a minute on most machines. Then reload this page.
DNS and the API already answer.</p>`
    : write`<p>The dashboard is not available: ${state.reason}</p>`
}
<h2>1. Set a password</h2>
<p>On the machine itself:</p>
<pre>weir set-password</pre>
<p>or over HTTP, until a password is set. From another machine, also send <code>"setup_code"</code>,
which Weir printed at the start and keeps in the file <code>setup-code</code> of its data directory:</p>
<pre>curl -X POST -H 'Content-Type: application/json' \\
  -d '{"password":"at least eight characters"}' ${origin}${api}/auth/setup</pre>
<h2>2. Point your clients at it</h2>
${
  parts.dnsPort === 53
    ? write`<p>Give this machine's address as the DNS server in your router's DHCP settings, or on one client to try it.</p>`
    : write`<p>Do not change your router yet: devices and routers use port 53. When Weir starts, it shows how to free the port.</p>`
}
<p>DNS queries are answered on port ${parts.dnsPort}, for ${whoMayAskInPublic(dns.allowed_clients)}:</p>
<pre>dig @${parts.nodeName} -p ${parts.dnsPort} example.com</pre>
<h2>More</h2>
<p><a href="./check">Does this device use Weir?</a> · <a href="./docs">API reference</a> · <a href=".${api}/health">health</a></p>`;
  return page('Weir', body);
}
