/** Creates the connections to the addresses of one server, according to its transport. */
import type { Clock } from '../../shared/clock.ts';
import type { HardeningSettings } from '../../shared/policy/hardening-settings.ts';
import type { UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import type { Capabilities } from './capability/capabilities.ts';
import { Hardening, isEligible } from './capability/hardening.ts';
import type { Question } from './response/question.ts';
import { EdnsSupport } from './transport/edns-support.ts';
import type { ServerAddress, ServerConnections } from './transport/exchange.ts';
import { HttpsUpstream } from './transport/exchange-https.ts';
import { type StreamKind, StreamUpstream, TCP_STREAM } from './transport/exchange-tcp.ts';
import { dotStream, TlsConnector } from './transport/tls-stream.ts';
import { UdpUpstream } from './udp/udp-upstream.ts';

/** Features that servers were found to support, and the settings for their use. */
export interface CapabilityParts {
  /** Findings that all threads of the node share. */
  readonly records: Capabilities;
  readonly hardening: HardeningSettings;
  /** Question of capability probes; the servers must answer it with NOERROR. */
  readonly probe: Question;
  /** Whether the servers belong to a forward zone. */
  readonly isZone: boolean;
}

export interface ConnectorParts {
  readonly clock: Clock;
  /** PEM certificates trusted in addition to the system's. */
  readonly extraCa: readonly string[];
  readonly capabilities: CapabilityParts;
}

/** Returns a function that connects to an address of the server; all addresses share TLS sessions. */
export function serverConnector(
  settings: UpstreamSettings,
  { clock, extraCa, capabilities }: ConnectorParts,
): (server: ServerAddress) => ServerConnections {
  const { records, hardening, probe, isZone } = capabilities;
  const recordOf = (server: ServerAddress) => records.of(server, settings.transport);
  const ednsOf = (server: ServerAddress) => new EdnsSupport(recordOf(server));
  const streams = (kind: StreamKind) => (server: ServerAddress) =>
    new StreamUpstream(server, kind, clock, ednsOf(server));
  switch (settings.transport) {
    case 'udp':
      return (server) =>
        new UdpUpstream(server, {
          hardening: new Hardening(recordOf(server), hardening, isEligible(server.ip, isZone)),
          probe,
          clock,
        });
    case 'tcp':
      return streams(TCP_STREAM);
    case 'tls':
      return streams(dotStream(settings.host, extraCa));
    case 'https': {
      const tls = new TlsConnector(settings.host, ['h2'], extraCa);
      const { host, path = '/dns-query' } = settings;
      return (server) =>
        new HttpsUpstream({ host, server, path, open: (to) => tls.open(to) }, clock, ednsOf(server));
    }
  }
}
