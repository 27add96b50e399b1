/**
 * The upstream of `npm run attack`, as a program with a channel for messages: it replies to each with its port and the
 * number of connections so far, and runs until it is ended. It has a process of its own, so that it answers in time
 * while the attackers keep theirs busy.
 */
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import { answerUnderAttack } from './network-attacks.ts';

const upstream = await ScriptedUpstream.start();
upstream.tcpScript = answerUnderAttack;
process.on('message', () => process.send!({ port: upstream.port, connections: upstream.tcpConnections }));
process.on('disconnect', () => process.exit());
