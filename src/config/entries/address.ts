/** `host:port` of a listener. */

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const WRITTEN = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})$/;

export function addressOf(text: string): Address | undefined {
  const match = WRITTEN.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** Reachable from this machine only. A name other than localhost may lead anywhere, so it is not. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
