/** Stand-in for the Internet in the demo, on loopback: resolvers that know the sample names, and a server of lists. */
import { nameToText } from '../../shared/dns/name.ts';
import { idOf, questionOf, response } from '../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../support/dns/scripted-upstream.ts';
import { startListServer } from '../support/weir/list-server.ts';
import { answerOf, LISTS, listText } from './sites.ts';
import type { ListName } from './sites.ts';

/** Entries of each list; the last list shrinks at a later fetch, so that its update is put on hold. */
const ENTRIES: Readonly<Record<ListName, number>> = {
  'Ads and trackers': 24_000,
  'Phishing and malware': 9_000,
  'Chatty devices': 3_000,
};
const ENTRIES_LATER = 40;
const NEAREST_MS = 4;
const FARTHER_MS = 30;
/** Header bits of a response: QR, RD and RA. */
const RESPONSE = 0x8180;

/** The whole stand-in. */
export interface DemoInternet {
  /** Addresses of the resolvers, `IP:PORT`. */
  readonly resolvers: readonly string[];
  /** URL of a list. */
  listUrl(list: ListName): string;
  /** Makes the last list much shorter. */
  shortenLastList(): void;
  close(): Promise<void>;
}

/** Starts the stand-in, with lists on this port. */
export async function startDemoInternet(listPort: number): Promise<DemoInternet> {
  const resolvers = [await startResolver('127.0.0.1'), await startResolver('127.0.0.3')];
  const server = await startListServer(listPort);
  const pathOf = (list: ListName): string => `/${list.toLowerCase().replaceAll(' ', '-')}.txt`;
  for (const list of LISTS) server.serve(pathOf(list), listText(list, ENTRIES[list]));
  const last = LISTS.at(-1)!;
  return {
    resolvers: resolvers.map(({ ip, port }) => `${ip}:${String(port)}`),
    listUrl: (list) => server.url(pathOf(list)),
    shortenLastList: () => server.serve(pathOf(last), listText(last, ENTRIES_LATER)),
    close: async () => {
      await Promise.all([server.close(), ...resolvers.map((resolver) => resolver.close())]);
    },
  };
}

/** A resolver that is as slow as one on the Internet. */
async function startResolver(ip: string): Promise<ScriptedUpstream> {
  const resolver = await ScriptedUpstream.start(ip);
  resolver.udpScript = (query) => {
    const answer = answerTo(query);
    setTimeout(
      () => {
        if (!resolver.isClosed) query.reply(answer);
      },
      NEAREST_MS + FARTHER_MS * Math.random() ** 3,
    );
    // The stand-in runs for days, and the recorded queries are not needed.
    for (const asked of [resolver.udpQueries, resolver.tcpQueries]) asked.length = 0;
  };
  resolver.tcpScript = resolver.udpScript;
  return resolver;
}

function answerTo({ bytes }: ReceivedQuery): Uint8Array {
  const asked = questionOf(bytes);
  const { rcode, ...sections } = answerOf(nameToText(asked.qname).toLowerCase(), asked.qtype);
  return response(asked, { id: idOf(bytes), flags: RESPONSE | rcode, ...sections });
}
