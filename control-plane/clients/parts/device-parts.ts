/** Keeps track of clients that users have merged into one device. Pure. */

/** The fields of a client that are needed here. */
interface Part {
  readonly id: number | null;
  /** Id of the client whose name, group and exclusions apply, even if it is this client itself; null = not merged. */
  readonly deviceId: number | null;
}

/** Clients by device. */
export class DeviceParts<Client extends Part> {
  private readonly byDevice = new Map<number, Set<Client>>();

  add(client: Client): void {
    if (client.deviceId === null) return;
    const parts = this.byDevice.get(client.deviceId) ?? new Set();
    this.byDevice.set(client.deviceId, parts.add(client));
  }

  remove(client: Client): void {
    if (client.deviceId === null) return;
    const parts = this.byDevice.get(client.deviceId);
    parts?.delete(client);
    if (parts?.size === 0) this.byDevice.delete(client.deviceId);
  }

  /** The client whose settings apply to a client: the client itself, unless it is part of another client. */
  mainOf(client: Client): Client {
    if (client.deviceId === null || client.deviceId === client.id) return client;
    for (const part of this.byDevice.get(client.deviceId) ?? []) if (part.id === client.deviceId) return part;
    return client;
  }

  /** All clients of the device of this client, the main one first. */
  partsOf(client: Client): Client[] {
    if (client.deviceId === null) return [client];
    const main = this.mainOf(client);
    const others = [...(this.byDevice.get(client.deviceId) ?? [])].filter((part) => part !== main);
    return [main, ...others.sort((a, b) => (a.id ?? 0) - (b.id ?? 0))];
  }
}

/** Whether a client is part of another one and therefore not listed. */
export function isPart({ id, deviceId }: Part): boolean {
  return deviceId !== null && deviceId !== id;
}
