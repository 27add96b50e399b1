/** The validators of the lab: Weir, Unbound and delv. */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { ValidatingResolver } from '../../../dns-worker/dnssec/validating-resolver.ts';
import { encodeQuery } from '../../../dns-worker/resolve/response/question.ts';
import { Resolver, type Resolution } from '../../../dns-worker/resolve/resolver.ts';
import { systemClock } from '../../../shared/clock.ts';
import { Rcode, type RRTypeName } from '../../../shared/dns/iana.ts';
import { readTrustAnchors } from '../../../shared/dns/trust-anchors.ts';
import { FlagsLow, Header } from '../../../shared/dns/wire.ts';
import { DnssecStatus } from '../../../shared/query-log.ts';
import type { RunningServer } from '../../support/dns/authority.ts';
import { question } from '../../support/dns/built-messages.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { within } from '../../support/parts/until.ts';
import type { LabResult } from './cases.ts';
import { requireProgram } from '../../support/parts/programs.ts';

/** A validating resolver, which returns whether the answer to a question is secure, insecure or bogus. */
export interface LabValidator {
  validate(name: string, type: RRTypeName): Promise<string>;
  close(): Promise<void>;
}

/** Weir's resolver and validation, with `server` as upstream. */
export function openWeir(
  server: RunningServer,
  rootKeys: string,
): LabValidator & {
  resolve(name: string, type: RRTypeName): Promise<Resolution>;
} {
  const upstream = { address: 'udp', transport: 'udp', host: server.ip, port: server.port } as const;
  const healthCheck = {
    enabled: false,
    intervalSecs: 30,
    timeoutMs: 2000,
    failureThreshold: 3,
    successThreshold: 2,
  };
  const pools = [{ name: 'lab', strategy: 'Parallel', priority: 1, servers: [upstream] }] as const;
  const logger = new MemoryLogger();
  const timeoutMs = 5000;
  const behind = new Resolver(
    { pools, queryTimeoutMs: timeoutMs, bootstrap: [], healthCheck },
    systemClock,
    logger,
  );
  const points = { anchors: readTrustAnchors(rootKeys), negativeAnchors: [] };
  const resolver = new ValidatingResolver(behind, points, { clock: systemClock, timeoutMs }, logger);
  const resolve = (name: string, type: RRTypeName): Promise<Resolution> =>
    within(`${name} to be resolved`, new Promise((done) => resolver.resolve(question(name, type), done)));
  return {
    resolve,
    async validate(name, type) {
      const resolution = await resolve(name, type);
      const errors = logger.lines.filter(({ level }) => level === 'error');
      if (errors.length > 0) return JSON.stringify(errors);
      if (resolution.kind === 'failed' && resolution.reason !== 'bogus') return resolution.reason;
      return Object.keys(DnssecStatus)[resolution.dnssec ?? DnssecStatus.unchecked]!;
    },
    close: () => behind.close(),
  };
}

/** A validating server: SERVFAIL is bogus, AD is secure. */
export async function openServer(server: RunningServer): Promise<LabValidator> {
  const socket = createSocket('udp4');
  socket.connect(server.port, server.ip);
  await once(socket, 'connect');
  return {
    async validate(name, type) {
      const query = encodeQuery(question(name, type, { dnssecOk: true }), 1, {
        edns: true,
        marks: null,
        padTo: 0,
      });
      const replied = once(socket, 'message') as Promise<[Buffer]>;
      socket.send(query);
      const [reply] = await within(`the reply about ${name}`, replied);
      const low = reply[Header.FLAGS_LOW]!;
      if ((low & FlagsLow.RCODE) === Rcode.SERVFAIL) return 'bogus';
      return ((low & FlagsLow.AD) === 0 ? 'insecure' : 'secure') satisfies LabResult;
    },
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** delv with `server` as resolver; `anchors` is a file of `trust-anchors` in BIND's format. */
export function openDelv(server: RunningServer, anchors: string): LabValidator {
  return {
    validate(name, type) {
      const args = [`@${server.ip}`, '-p', String(server.port), '-a', anchors, '+root=.', name, type];
      return new Promise((resolve) => {
        execFile(requireProgram('delv'), args, { timeout: 20_000 }, (error, stdout, stderr) => {
          const said = stdout + stderr;
          // A negative answer whose trust is "pending" could not be validated.
          const isBogus = /resolution failed: (?!ncache)|pending validation/.test(said);
          if (isBogus) resolve('bogus');
          else if (said.includes('unsigned answer')) resolve('insecure');
          else if (said.includes('fully validated')) resolve('secure');
          else resolve(`${said}${error?.message ?? ''}`);
        });
      });
    },
    close: () => Promise.resolve(),
  };
}
