/** A running Weir server whose configuration tests change, and the servers that it uses, for suites of live keys. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import type { Server } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { treeOf } from '../../../config/layers.ts';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { TestAuthority } from '../../support/dns/certificates.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { QueryOptions, Reply, TypeSpec } from '../../support/dns/dns-message.ts';
import { answerTo, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { answers, fails } from '../../support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';
import type { WeirOptions } from '../../support/weir/weir-process.ts';

/** Values by key. */
export type KeyValues = Readonly<Record<string, unknown>>;

/** A key and its effect, which is observed before the change and immediately after its response. */
export interface LiveKey {
  readonly key: string;
  /** A value, or a function that derives it from a `LiveFixture`. */
  readonly to: unknown;
  /** Other keys to set first. */
  readonly alongside?: KeyValues | ((fixture: LiveFixture) => KeyValues);
  readonly observe: (fixture: LiveFixture) => Promise<unknown>;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Weir with three upstreams: one answers every name with 192.0.2.77, one answers with 192.0.2.2, and tests script the
 * third.
 */
export class LiveFixture {
  readonly tempDir = makeTempDir();
  weir!: Weir;
  api!: ApiClient;
  udp!: UdpClient;
  first!: ScriptedUpstream;
  second!: ScriptedUpstream;
  scripted!: ScriptedUpstream;
  lists!: ListServer;
  authority!: TestAuthority;
  /** Port of a DNS server over TLS for `dns.example.org`, with a certificate from the test authority. */
  tlsPort = 0;
  /** Port of Weir's own DNS over TLS. */
  dotPort = 0;
  private tls!: Server;
  private names = 0;
  private clients = 0;

  static async open(): Promise<LiveFixture> {
    const fixture = new LiveFixture();
    fixture.first = await startEchoingUpstream();
    fixture.second = await ScriptedUpstream.start();
    fixture.second.udpScript = answers(2);
    fixture.scripted = await ScriptedUpstream.start();
    fixture.lists = await startListServer();
    fixture.authority = new TestAuthority();
    await fixture.listenWithTls();
    fixture.dotPort = await freePort(['127.0.0.1']);
    await prepareDataDir(fixture.tempDir.dataDir);
    await fixture.start();
    fixture.api = await fixture.weir.api();
    return fixture;
  }

  /** Restarts Weir with its original options, except the given ones. */
  async restart(options: Pick<WeirOptions, 'database' | 'toml'>): Promise<void> {
    this.udp.close();
    await this.weir.stop();
    await this.start(options);
  }

  private async start(options: Pick<WeirOptions, 'database' | 'toml'> = {}): Promise<void> {
    this.weir = await Weir.start({
      tempDir: this.tempDir,
      pools: `[dns]\n${pools(this.first)}\n[dns.health_check]\nenabled = false\n`,
      env: {
        WEIR_SERVER_SITE: 'home',
        WEIR_SERVER_ENCRYPTED_DNS_DOT_ENABLED: 'true',
        WEIR_SERVER_ENCRYPTED_DNS_DOT_PORT: String(this.dotPort),
      },
      ...options,
    });
    this.udp = await UdpClient.open(this.weir.dnsPort);
  }

  async close(): Promise<void> {
    this.udp.close();
    await this.weir.stop();
    this.tls.close();
    for (const upstream of [this.first, this.second, this.scripted]) await upstream.close();
    await this.lists.close();
    this.authority.close();
    this.tempDir.remove();
  }

  /** Pools of one server each. */
  pools(...upstreams: readonly ScriptedUpstream[]): unknown {
    const servers = upstreams.map(({ port }) => `127.0.0.1:${String(port)}`);
    return [{ name: 'live', strategy: 'Failover', servers }];
  }

  /** Changes keys; the request must succeed. Pools are accepted even if their servers do not answer yet. */
  set(values: KeyValues): Promise<{ success: boolean; restart_required: string[] }> {
    return this.api.expect(200, 'PATCH', '/config?force=true', treeOf(values));
  }

  /** Stored values of keys. */
  async values(names: readonly string[]): Promise<KeyValues> {
    const config = await this.api.expect<Record<string, unknown>>(200, 'GET', '/config');
    return Object.fromEntries(
      names.map((name) => [
        name,
        name.split('.').reduce<unknown>((tree, step) => (tree as Record<string, unknown>)[step], config),
      ]),
    );
  }

  /** A name that was never queried. */
  newName(suffix = 'example.com'): string {
    return `n${String(++this.names)}.${suffix}`;
  }

  /** A new client address, so that its bucket is full. */
  newAddress(): string {
    return `127.0.7.${String(++this.clients)}`;
  }

  ask(name = this.newName(), type: TypeSpec = 'A', options: QueryOptions = {}): Promise<Reply> {
    return this.udp.ask(name, type, options);
  }

  /** Data of the answers, or the response code if there are none. */
  async answerTo(name?: string, type?: TypeSpec, options?: QueryOptions): Promise<unknown> {
    const { data, rcode } = await this.ask(name, type, options);
    return data.length === 0 ? rcode : data;
  }

  /** Sends queries one after another from an address; returns how many are refused. */
  async refusals(count: number, address = this.newAddress(), name?: string): Promise<number> {
    using udp = await UdpClient.open(this.weir.dnsPort, '127.0.0.1', address);
    let refused = 0;
    for (let i = 0; i < count; i++)
      if ((await udp.ask(name ?? this.newName(), 'A')).rcode === Rcode.REFUSED) refused++;
    return refused;
  }

  /** Makes the scripted upstream answer with only a response code. */
  scriptedFails(rcode: number): void {
    this.scripted.udpScript = fails(rcode);
  }

  /** Writes a file that Weir can read. */
  write(name: string, text: string): string {
    const folder = join(this.tempDir.path, 'files');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  }

  /** Edits `database.audit_days` in the file, a key on which no test depends. */
  editAuditDays(days: number): void {
    const file = join(this.tempDir.path, 'weir.toml');
    const toml = readFileSync(file, 'utf8').replace(/^audit_days = .*\n/m, '');
    const table = toml.includes('[database]\n') ? toml : `${toml}\n[database]\n`;
    writeFileSync(file, table.replace('[database]\n', `[database]\naudit_days = ${String(days)}\n`));
  }

  private async listenWithTls(): Promise<void> {
    const { cert, key } = this.authority.issue('DNS:dns.example.org,IP:127.0.0.1');
    this.tls = createServer({ cert, key }, (socket) => {
      socket.on('error', () => undefined);
      const frames = new FrameReader((message) => {
        socket.write(frame(answerTo(message.slice())));
        return true;
      });
      socket.on('data', (chunk: Buffer) => frames.push(chunk));
    });
    this.tls.on('tlsClientError', () => undefined);
    await once(this.tls.listen(0, '127.0.0.1'), 'listening');
    this.tlsPort = (this.tls.address() as AddressInfo).port;
  }
}

function pools({ port }: ScriptedUpstream): string {
  return `pools = [{ name = "live", strategy = "Failover", servers = ["127.0.0.1:${String(port)}"] }]`;
}
