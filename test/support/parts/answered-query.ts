/** A query for the root from 192.0.2.1, in the state in which it is logged. */
import { Query } from '../../../dns-worker/query/query.ts';
import { addressFromText } from '../../../shared/net/ip.ts';

const message = new Uint8Array(512);
const client = addressFromText('192.0.2.1')!;

/** Creates a query; `groupId` distinguishes queries from each other. */
export function answeredQuery(groupId = 1): Query {
  const query = new Query();
  query.begin(message, 0, message.length, message.length);
  query.clientBytes = client;
  query.clientAt = 0;
  query.qnameLength = 1;
  query.groupId = groupId;
  return query;
}
