/** Scripted servers on loopback as upstreams of a resolver, and their answers. */
import type { Clock } from '../../../shared/clock.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import type { HealthThresholds } from '../../../dns-worker/resolve/health/health.ts';
import { Capabilities } from '../../../dns-worker/resolve/capability/capabilities.ts';
import { PUBLIC_NAME } from '../../../dns-worker/resolve/probe.ts';
import { DEFAULT_HARDENING, type HardeningSettings } from '../../../shared/policy/hardening-settings.ts';
import { Bootstrap } from '../../../dns-worker/resolve/bootstrap/bootstrap.ts';
import { Upstream } from '../../../dns-worker/resolve/upstream.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';
import { a, idOf, questionOf, response, type TestResponse } from './built-messages.ts';
import type { Script, ScriptedUpstream } from './scripted-upstream.ts';

/** Answers with the address 192.0.2.`lastOctet`. */
export function answers(lastOctet: number): Script {
  return (query) => {
    const record = a(Uint8Array.of(0xc0, 12), `192.0.2.${String(lastOctet)}`);
    query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers: [record] }));
  };
}

/** Answers every question with these parts. */
export function answersWith(parts: TestResponse): Script {
  return (query) => query.reply(response(questionOf(query.bytes), { ...parts, id: idOf(query.bytes) }));
}

/** Answers with this response code and nothing else. */
export function fails(rcode: number): Script {
  return (query) =>
    query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags: 0x8180 | rcode }));
}

/** How an upstream of a test differs from the default one, which uses UDP and has no thresholds. */
export interface UpstreamOptions {
  readonly index?: number;
  readonly settings?: Partial<UpstreamSettings>;
  readonly thresholds?: HealthThresholds;
  readonly clock?: Clock;
  readonly logger?: MemoryLogger;
  readonly bootstrap?: Bootstrap;
  readonly hardening?: HardeningSettings;
  readonly records?: Capabilities;
}

/** The upstream of a scripted server. */
export function upstreamOf(server: ScriptedUpstream, options: UpstreamOptions = {}): Upstream {
  const { index = 0, clock = systemClock } = options;
  return new Upstream(
    { index, poolName: 'pool', strategy: 'Failover' },
    {
      address: `udp://${server.ip}:${String(server.port)}`,
      transport: 'udp',
      host: server.ip,
      port: server.port,
      ...options.settings,
    },
    {
      bootstrap: options.bootstrap ?? new Bootstrap([], clock),
      clock,
      logger: options.logger ?? new MemoryLogger(),
      thresholds: options.thresholds ?? { enabled: true, failureThreshold: 1, successThreshold: 1 },
      extraCa: [],
      capabilities: {
        records: options.records ?? new Capabilities(clock),
        hardening: options.hardening ?? DEFAULT_HARDENING,
        probe: PUBLIC_NAME,
        isZone: false,
      },
    },
  );
}
