/** Doors and connections that are closed after each test. */
import type { ClientHttp2Session } from 'node:http2';
import { onTestFinished } from 'vitest';
import { openGrpcDoor, type Door, type DoorOptions } from '../door.ts';
import { rawSession } from '../grpc-client.ts';

export async function opened(options?: DoorOptions): Promise<Door> {
  const door = await openGrpcDoor(options);
  onTestFinished(() => door.receiver.stop());
  return door;
}

export async function connected(door: Door): Promise<ClientHttp2Session> {
  const session = rawSession(door.port);
  onTestFinished(() => session.destroy());
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return session;
}

export function closed(session: ClientHttp2Session): Promise<unknown> {
  return new Promise((resolve) => session.once('close', resolve));
}

/** Resolves when the counter has been raised. */
export async function counted(door: Door, key: string): Promise<number> {
  for (let attempt = 0; attempt < 1500; attempt++) {
    const count = door.counts.get(key);
    if (count !== undefined) return count;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`never counted: ${key}; ${[...door.counts.keys()].join(', ')}`);
}

export const connectionEnd = (reason: string): string => `tracejury.receiver.connections_ended grpc ${reason}`;
