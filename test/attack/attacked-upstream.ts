/**
 * The upstream of `npm run attack`, as a program with a message channel: it replies to each message with its port and
 * the number of connections so far, and runs until it is ended. It is a separate process, so that it answers in time
 * even while the process of the attackers is busy.
 */
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import { answerUnderAttack } from './network-attacks.ts';

const upstream = await ScriptedUpstream.start();
upstream.tcpScript = answerUnderAttack;
process.on('message', () => process.send!({ port: upstream.port, connections: upstream.tcpConnections }));
process.on('disconnect', () => process.exit());
