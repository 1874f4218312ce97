/** Asks the system for the addresses of the listeners before anything is written: a start that cannot listen leaves nothing behind. */
import { createServer } from 'node:net';
import type { Config } from '../config/config.ts';
import type { OtlpAddresses } from '../web/first-page.ts';

/** How far the listeners have come. */
export interface ListenState {
  ready: boolean;
  stopping: boolean;
  /** Where OTLP is taken, once it is. */
  otlp: OtlpAddresses | undefined;
}

/** Why requests are better sent elsewhere; `fullFolder` has no room on its disk. */
export function notReady({ stopping, ready }: Readonly<ListenState>, fullFolder: string | undefined): string | undefined {
  if (stopping) return 'The service is stopping.';
  if (!ready) return 'The service is starting.';
  return fullFolder === undefined ? undefined : `The disk is full: no room in ${fullFolder}.`;
}

/** Rejects with the system's error for the first address that is taken or not of this machine. */
export async function freeAddresses({ otlpHttp, otlpGrpc, console: page }: Config['listen']): Promise<void> {
  for (const { host, port } of [otlpHttp, otlpGrpc, page]) if (port !== 0) await claimed(host, port);
}

function claimed(host: string, port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}
