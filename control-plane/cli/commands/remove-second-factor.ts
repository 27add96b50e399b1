/** `weir remove-second-factor`: for users who have lost their authenticator app and recovery codes. */
import { printable } from '../output/printable.ts';
import { Misuse } from '../remote/api-connection.ts';
import type { CommandRun } from './command-run.ts';

/** Removes the second factor of a user, by default that of the administrator. */
export async function removeSecondFactor({ client, screen, ...run }: CommandRun): Promise<0> {
  const [name] = run.arguments;
  const users = await client.call('GET /users');
  const user = users.find(({ username, source }) =>
    name === undefined ? source === 'config' : username.toLowerCase() === name.toLowerCase(),
  );
  if (user === undefined) throw new Misuse(`user "${name}" does not exist`);
  await client.call('DELETE /users/{id}/second-factor', { params: { id: user.id } });
  if (!run.isJson) screen.out(`${printable(user.username)} can now log in with only the password`);
  return 0;
}
