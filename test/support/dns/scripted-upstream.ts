/** A DNS server that follows a test's script, over UDP and TCP on one loopback port. */
import { createSocket } from 'node:dgram';
import type { Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';

/** A received query, and how to reply to it. */
export interface ReceivedQuery {
  readonly bytes: Uint8Array;
  /** Source port of the client. */
  readonly port: number;
  /** Sends a message to the client. */
  readonly reply: (message: Uint8Array) => void;
  /** The TCP connection; null over UDP. */
  readonly connection: Socket | null;
}

/** Handler of a query. */
export type Script = (query: ReceivedQuery, index: number) => void;

/** A running scripted server. */
export class ScriptedUpstream {
  readonly port: number;
  readonly ip: string;
  /** All received queries, in order. */
  readonly udpQueries: ReceivedQuery[] = [];
  readonly tcpQueries: ReceivedQuery[] = [];
  tcpConnections = 0;
  isClosed = false;
  udpScript: Script = () => undefined;
  tcpScript: Script = () => undefined;
  /** Called for each TCP connection before anything is read from it. */
  onConnection: (connection: Socket) => void = () => undefined;

  private readonly udp: UdpSocket;
  private readonly tcp: Server;
  private readonly connections = new Set<Socket>();

  private constructor(udp: UdpSocket, tcp: Server) {
    this.udp = udp;
    this.tcp = tcp;
    this.port = udp.address().port;
    this.ip = udp.address().address;
    udp.on('message', (bytes, from) => {
      const reply = (message: Uint8Array): void =>
        udp.send(message, from.port, from.address, () => undefined);
      const query = { bytes, port: from.port, reply, connection: null };
      this.udpQueries.push(query);
      this.udpScript(query, this.udpQueries.length - 1);
    });
    tcp.on('connection', (connection) => this.accept(connection));
  }

  /** Listens on this port; 0 = a port that the system chooses. */
  static async start(ip = '127.0.0.1', wanted = 0): Promise<ScriptedUpstream> {
    for (;;) {
      const tcp = createServer({ noDelay: true });
      tcp.listen(wanted, ip);
      await once(tcp, 'listening');
      const { port } = tcp.address() as AddressInfo;
      const udp = createSocket(ip.includes(':') ? 'udp6' : 'udp4');
      try {
        udp.bind(port, ip);
        await once(udp, 'listening');
        return new ScriptedUpstream(udp, tcp);
      } catch {
        // Another program uses the UDP port with the same number.
        udp.close();
        tcp.close();
      }
    }
  }

  /** Distinct queries over UDP: Weir retransmits a datagram if this process answers slowly. */
  get udpQuestions(): ReceivedQuery[] {
    const seen = new Set<string>();
    return this.udpQueries.filter(({ bytes, port }) => {
      const before = seen.size;
      return seen.add(`${String(port)} ${Buffer.from(bytes).toString('latin1')}`).size > before;
    });
  }

  /** Sends a datagram from the server's own address. */
  sendUdp(message: Uint8Array, port: number): void {
    this.udp.send(message, port, this.ip, () => undefined);
  }

  /** Stops the server and closes its connections. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const connection of this.connections) connection.destroy();
    const closed = [once(this.udp, 'close'), once(this.tcp, 'close')];
    this.udp.close();
    this.tcp.close();
    await Promise.all(closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isClosed) await this.close();
  }

  private accept(connection: Socket): void {
    this.tcpConnections++;
    this.connections.add(connection);
    connection.on('close', () => this.connections.delete(connection));
    connection.on('error', () => undefined);
    const frames = new FrameReader((message) => {
      const reply = (bytes: Uint8Array): void => void connection.write(frame(bytes));
      const query = { bytes: message.slice(), port: connection.remotePort ?? 0, reply, connection };
      this.tcpQueries.push(query);
      this.tcpScript(query, this.tcpQueries.length - 1);
      return true;
    });
    connection.on('data', (chunk: Buffer) => frames.push(chunk));
    this.onConnection(connection);
  }
}
